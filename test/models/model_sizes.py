"""The networks of the model tests: test-sized builds of each, the light networks, and what onnxruntime says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import onnx
from reference_session import reference_session

import dlc
from bench.networks import (
    bert,
    gpt2,
    inception,
    light,
    lstm,
    mlp,
    mobilenet_v2,
    resnet18,
    resnet50,
    squeezenet,
    super_resolution,
    unet,
    vgg16,
    vit,
)
from bench.networks.mobilenet_v2 import Stage
from dlc.tools.commands.checks import difference

Build = Callable[..., onnx.ModelProto]
"""Takes `batch` and `dynamic_batch`."""

TOLERANCE = 1e-4
_TEXT = {"seq": 32, "layers": 2, "hidden": 128, "heads": 4, "vocab": 101}
_STAGES = (Stage(1, 16, 1, 1), Stage(6, 24, 2, 2), Stage(6, 32, 1, 2))

NETWORKS: Mapping[str, Build] = {
    "bert": partial(bert.build, **_TEXT),
    "gpt2": partial(gpt2.build, context=48, **_TEXT),
    "inception": partial(inception.build, image=48, blocks=((8, 6, 12, 2, 4, 4),), stem=16, classes=21),
    "lstm": partial(lstm.build, seq=5, inputs=12, hidden=20, unrolled=False),
    "lstm_unrolled": partial(lstm.build, seq=5, inputs=12, hidden=20),
    "mlp": partial(mlp.build, widths=(20, 33, 48, 5)),
    "mobilenet_v2": partial(mobilenet_v2.build, image=32, stages=_STAGES, stem=16, features=96, classes=21),
    "resnet18": partial(resnet18.build, image=64, blocks=(1, 1), width=16, classes=21),
    "resnet50": partial(resnet50.build, image=64, blocks=(2, 1), width=16, classes=21),
    "squeezenet": partial(squeezenet.build, image=47, stages=(((4, 8), (6, 16)),), stem=16, classes=21),
    "super_resolution": partial(super_resolution.build, image=20, width=16),
    "unet": partial(unet.build, image=32, width=8, depth=2),
    "vgg16": partial(vgg16.build, image=32, blocks=(2, 1), width=16, hidden=48, classes=21),
    "vit": partial(vit.build, image=32, patch=8, layers=2, hidden=64, heads=4, classes=21),
}
"""Every network of `bench/networks` with all its kinds of layers, few and small."""

QUICK_LIGHT = ("shufflenet", "squeezenet")
SLOW_LIGHT = tuple(name for name in light.names() if name not in QUICK_LIGHT)


def expected(model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """onnxruntime's outputs."""
    return list(reference_session(model).run(None, dict(inputs)))


def check(compiled: dlc.CompiledModel, model: onnx.ModelProto, batch: int = 1) -> None:
    """Compare with onnxruntime on random inputs; `batch` is the size of a dynamic batch."""
    inputs = dlc.random_inputs(compiled.inputs, seed=batch, sizes={"batch": batch})
    results, want = compiled(inputs), expected(model, inputs)
    assert len(results) == len(want)
    for spec, have, array in zip(compiled.outputs, results, want, strict=True):
        found = difference(have, array)
        assert found.within(TOLERANCE), f"{spec.name} {have.shape} against {array.shape}: {found}"

"""Whole networks as engines: the same results as those of the compiled model, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

import dlc
from bench.networks import bert, gpt2_decode, lstm, mobilenet_v2, resnet18, resnet18_qdq, resnet50

NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "resnet18": lambda: resnet18.build(image=64),
    "resnet18 qdq": lambda: resnet18_qdq.build(image=64),
    "resnet50": resnet50.build,
    "mobilenet_v2": lambda: mobilenet_v2.build(image=96),
    "lstm": lstm.build,
    "bert": lambda: bert.build(layers=2, vocab=1000, dynamic_batch=True),
    "gpt2 decode": gpt2_decode.build,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_networks(tmp_path: Path, name: str) -> None:
    model = dlc.compile(NETWORKS[name]())
    model.save(tmp_path / "m.dlce")
    engine = dlc.load(tmp_path / "m.dlce")
    assert (engine.inputs, engine.outputs) == (model.inputs, model.outputs)
    for seed in (0, 1):
        given = dlc.random_inputs(model.inputs, seed, sizes={"N": 2})
        for result, expected in zip(engine(given), model(given), strict=True):
            np.testing.assert_array_equal(result, expected, strict=True)

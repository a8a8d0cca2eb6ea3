"""Networks with branches, loops and sizes that depend on data give what onnxruntime gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import onnx
import pytest
from model_sizes import TOLERANCE
from reference_session import reference_session

import dlc
from bench.networks import recurrent
from bench.networks.control import decoding, detecting, recurrences, selecting, texts
from dlc.tools.commands.checks import difference

_DECODER = {"layers": 1, "hidden": 32, "heads": 2, "vocab": 50, "steps": 6}
_IMAGE = {"image": 32, "width": 8, "classes": 3, "most": 4}

MODELS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "greedy": partial(decoding.greedy, **_DECODER),
    "beam": partial(decoding.beam, beams=3, **_DECODER),
    "detector": partial(detecting.detector, **_IMAGE),
    "masks": partial(detecting.masks, **_IMAGE),
    "transducer": partial(recurrences.transducer, frames=7, inputs=12, hidden=24, vocab=11),
    "early_exit": partial(selecting.early_exit, hidden=32, classes=7),
    "masked_tokens": partial(selecting.masked_tokens, tokens=17, hidden=24, vocab=31),
    "experts": partial(selecting.experts, tokens=9, hidden=24, count=3),
    "chunks": partial(texts.chunks, sizes=(3, 1, 6, 2), width=20),
    "normaliser": partial(texts.normaliser, words=9, hidden=16, classes=5),
    "encoder": partial(recurrences.encoder, batch=3, steps=6, inputs=10, hidden=12),
    "fixed_point": partial(recurrences.fixed_point, width=24, most=40),
    "state_space": partial(recurrences.state_space, steps=9, width=12, states=4),
}
_GIVEN: Mapping[str, Mapping[str, Any]] = {
    "masked_tokens": {"mask": (np.arange(17) % 3 == 1)[None]},
    "normaliser": {"words": texts.text(9)},
    "encoder": {"lengths": np.array([6, 1, 4])},
}


def _compare(model: onnx.ModelProto, given: Mapping[str, Any], sizes: Mapping[str, int] | None = None) -> None:
    compiled = dlc.compile(model)
    inputs = {**dlc.random_inputs(compiled.inputs, seed=5, sizes=sizes), **given}
    session = reference_session(model)
    for spec, have, want in zip(compiled.outputs, compiled(inputs), session.run(None, inputs), strict=True):
        if want.dtype == object:
            assert have.tolist() == want.tolist(), spec.name
        else:
            assert difference(have, want).within(TOLERANCE), spec.name


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("name", MODELS)
def test_control_model(name: str) -> None:
    _compare(MODELS[name](), _GIVEN.get(name, {}))


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("form", ["static", "dynamic", "lengths"])
@pytest.mark.parametrize(("kind", "batch"), [("LSTM", 1), ("GRU", 8)])
def test_recurrent_layer(kind: str, batch: int, form: str) -> None:
    sizes = {"inputs": 12, "hidden": 20, "batch": batch}
    flags = {"dynamic_steps": form == "dynamic", "lengths": form == "lengths"}
    model = recurrent.build(kind, steps=7, direction="bidirectional", **sizes, **flags)
    given = {"lengths": np.arange(7, 7 - batch, -1, np.int32)} if form == "lengths" else {}
    _compare(model, given, {"steps": 7})


def test_steps_that_are_bounded_are_kept_in_place() -> None:
    text = str(dlc.lower(MODELS["fixed_point"](), to="affine"))
    assert "memref<40x24xf32>" in text
    assert "concat" not in text

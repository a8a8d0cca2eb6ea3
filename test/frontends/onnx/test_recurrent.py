"""ONNX LSTM, GRU and RNN against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_check import build_model, check, node

import dlc

_STEPS, _BATCH, _INPUTS, _HIDDEN = 5, 3, 7, 4
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_OUTPUTS = {"LSTM": ["y", "y_h", "y_c"], "GRU": ["y", "y_h"], "RNN": ["y", "y_h"]}
_GENERATOR = np.random.default_rng(3)


def _random(*shape: int) -> np.ndarray:
    return _GENERATOR.standard_normal(shape).astype(np.float32)


def _weights(op: str, directions: int) -> dict[str, np.ndarray]:
    width = _GATES[op] * _HIDDEN
    return {
        "w": _random(directions, width, _INPUTS),
        "r": _random(directions, width, _HIDDEN),
        "b": _random(directions, 2 * width),
    }


def _node(op: str, inputs: list[str], **attributes: Any) -> Any:
    return node(op, inputs, _OUTPUTS[op], hidden_size=_HIDDEN, **attributes)


@pytest.mark.parametrize("op", list(_GATES))
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_directions(op: str, direction: str) -> None:
    weights = _weights(op, 2 if direction == "bidirectional" else 1)
    check([_node(op, ["x", "w", "r", "b"], direction=direction)], {"x": _random(_STEPS, _BATCH, _INPUTS)}, weights, dynamic=False)


@pytest.mark.parametrize("op", list(_GATES))
@pytest.mark.parametrize("biased", [False, True])
def test_given_start(op: str, biased: bool) -> None:
    states = {"h": _random(1, _BATCH, _HIDDEN), "c": _random(1, _BATCH, _HIDDEN)}
    feeds = {"x": _random(_STEPS, _BATCH, _INPUTS), **{name: states[name] for name in ("hc" if op == "LSTM" else "h")}}
    inputs = ["x", "w", "r", "b" if biased else "", "", *list(feeds)[1:]]
    check([_node(op, inputs)], feeds, _weights(op, 1), dynamic=False)


@pytest.mark.parametrize("linear_before_reset", [0, 1])
@pytest.mark.parametrize(
    "inputs", [["x", "w", "r"], ["x", "w", "r", "b"], ["x", "w", "r", "b", "", "h"], ["x", "w", "r", "", "", "h"]]
)
def test_resets_of_gru(linear_before_reset: int, inputs: list[str]) -> None:
    feeds = {"x": _random(_STEPS, _BATCH, _INPUTS), "h": _random(1, _BATCH, _HIDDEN)}
    feeds = {name: values for name, values in feeds.items() if name in inputs}
    check([_node("GRU", inputs, linear_before_reset=linear_before_reset)], feeds, _weights("GRU", 1), dynamic=False)


def test_full_sequence_lengths() -> None:
    constants = _weights("LSTM", 1) | {"n": np.full(_BATCH, _STEPS, np.int32)}
    check([_node("LSTM", ["x", "w", "r", "b", "n"])], {"x": _random(_STEPS, _BATCH, _INPUTS)}, constants, dynamic=False)


@pytest.mark.parametrize(
    ("inputs", "attributes", "message"),
    [
        (["x", "w", "r", "b", "n"], {}, "sequence_lens other than the number of steps"),
        (["x", "w", "r", "b", "", "", "", "p"], {}, "peepholes"),
        (["x", "w", "r"], {"activations": ["Relu", "Tanh", "Tanh"]}, "activations other than Sigmoid, Tanh, Tanh"),
        (["x", "w", "r"], {"clip": 2.0}, "attribute 'clip'"),
        (["x", "w", "r"], {"layout": 1}, "layout 1"),
    ],
)
def test_what_is_refused(inputs: list[str], attributes: dict[str, Any], message: str) -> None:
    constants = _weights("LSTM", 1) | {"n": np.array([5, 2, 1], np.int32), "p": _random(1, 3 * _HIDDEN)}
    constants = {name: values for name, values in constants.items() if name in inputs}
    model = build_model([_node("LSTM", inputs, **attributes)], {"x": _random(_STEPS, _BATCH, _INPUTS)}, constants)
    with pytest.raises(dlc.UnsupportedError, match=message):
        dlc.compile(model)


def test_unknown_number_of_steps() -> None:
    model = build_model(
        [_node("LSTM", ["x", "w", "r"])], {"x": _random(_STEPS, _BATCH, _INPUTS)}, _weights("LSTM", 1), dynamic=True
    )
    with pytest.raises(dlc.UnsupportedError, match="the number of steps"):
        dlc.compile(model)

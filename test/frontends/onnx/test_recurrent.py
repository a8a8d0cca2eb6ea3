"""ONNX LSTM, GRU and RNN against onnxruntime."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from onnx_check import build_model, check, check_backend_cases, compare, node
from reference_session import reference_session

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


@pytest.mark.sweep(every=2)
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


@pytest.mark.sweep(every=3)
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


@pytest.mark.sweep(every=10)
@pytest.mark.parametrize("op", list(_GATES))
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("known", [False, True])
def test_sequence_lengths(op: str, direction: str, known: bool) -> None:
    lengths = {"n": np.array([5, 2, 3], np.int32)}
    feeds = {"x": _random(_STEPS, _BATCH, _INPUTS)} | ({} if known else lengths)
    constants = _weights(op, 2 if direction == "bidirectional" else 1) | (lengths if known else {})
    check([_node(op, ["x", "w", "r", "b", "n"], direction=direction)], feeds, constants, dynamic=None if not known else False)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("attributes", [{}, {"input_forget": 1}, {"clip": 0.4}])
def test_peepholes(direction: str, attributes: dict[str, Any]) -> None:
    count = 2 if direction == "bidirectional" else 1
    constants = _weights("LSTM", count) | {"p": _random(count, 3 * _HIDDEN)}
    inputs = ["x", "w", "r", "b", "", "", "", "p"]
    check([_node("LSTM", inputs, direction=direction, **attributes)], {"x": _random(_STEPS, _BATCH, _INPUTS)}, constants)


_ACTIVATIONS: list[dict[str, Any]] = [
    {"activations": ["Relu", "Tanh", "Softsign"]},
    {"activations": ["HardSigmoid", "LeakyRelu", "Affine"], "activation_alpha": [0.3, 0.1, 0.5], "activation_beta": [0.4, 0.2]},
    {"activations": ["Sigmoid", "ScaledTanh", "Elu"], "activation_alpha": [0.7, 0.9], "activation_beta": [0.6]},
]


@pytest.mark.parametrize("attributes", _ACTIVATIONS)
def test_activations(attributes: dict[str, Any]) -> None:
    check([_node("LSTM", ["x", "w", "r", "b"], **attributes)], {"x": _random(_STEPS, _BATCH, _INPUTS)}, _weights("LSTM", 1))


@pytest.mark.parametrize("op", ["GRU", "RNN"])
def test_clip(op: str) -> None:
    check([_node(op, ["x", "w", "r", "b"], clip=0.5)], {"x": _random(_STEPS, _BATCH, _INPUTS)}, _weights(op, 1))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("op", list(_GATES))
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_unknown_number_of_steps(op: str, direction: str) -> None:
    weights = _weights(op, 2 if direction == "bidirectional" else 1)
    model = build_model(
        [_node(op, ["x", "w", "r", "b"], direction=direction)], {"x": _random(1, 1, _INPUTS)}, weights, dynamic=True
    )
    session, compiled = reference_session(model), dlc.compile(model)
    for steps, batch in ((1, 1), (5, 3), (40, 2)):
        feeds = {"x": _random(steps, batch, _INPUTS)}
        for have, want in zip(compiled(feeds), session.run(None, feeds), strict=True):
            compare(have, want, op)


@pytest.mark.slow
@pytest.mark.parametrize("op", list(_GATES))
def test_backend_cases(op: str) -> None:
    assert check_backend_cases(op)


def test_many_steps_are_a_loop() -> None:
    model = build_model([_node("GRU", ["x", "w", "r"])], {"x": _random(300, 1, _INPUTS)}, _weights("GRU", 1))
    text = dlc.compile(model).print_ir("linalg", io.StringIO())
    assert "scf.for" in text and text.count("call @kernel") < 12  # not one, or more, a step


def test_unknown_activation_is_refused() -> None:
    model = build_model([_node("RNN", ["x", "w", "r"], activations=["Cube"])], {"x": _random(2, 1, _INPUTS)}, _weights("RNN", 1))
    with pytest.raises(dlc.UnsupportedError, match="activation Cube is not supported; it may be one of affine, elu"):
        dlc.compile(model)

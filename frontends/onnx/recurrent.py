"""Importers of recurrent layers (LSTM, GRU, RNN), unrolled over a known number of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

State = tuple[ir.Value | None, ...]
"""What a step passes to the next, [batch, hidden] each: the hidden state first; None stands for zeros."""
Cell = Callable[[ir.Value, State], tuple[ir.Value, ...]]
"""The state after a step whose share of the input is given, [batch, gates * hidden]."""

_DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_SEQUENCE_LENGTHS, _PEEPHOLES = 4, 7

_MOST_STEPS = 4096
"""Each step becomes some fifteen ops, so that these are what a graph may have."""


@importer("LSTM", "GRU", "RNN")
def import_recurrent(node: NodeContext) -> list[ir.Value | None]:
    """One product of all steps with the input's weights, then the steps one after the other: [Y, Y_h, Y_c]."""
    steps = _number_of_steps(node)
    _check_hidden_size(node)
    _refuse_variations(node, steps)
    direction = node.attribute("direction", "forward")
    reversals = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    runs = [_run(node, _Layer.of(node, index), steps, reverse) for index, reverse in enumerate(reversals)]
    outputs = [_stacked([_stacked([run[0][step] for run in runs], 0) for step in range(steps)], 0)]
    outputs += [_stacked([run[1][part] for run in runs], 0) for part in range(len(runs[0][1]))]
    return [*outputs]


def _number_of_steps(node: NodeContext) -> int:
    if node.attribute("layout", 0):
        node.unsupported("layout 1 (batch first) is not supported; transpose the input")
    steps = node.type(0).shape[0]
    if not isinstance(steps, int) or steps < 1:
        node.unsupported("the number of steps (dim 0 of the input) must be known at compile time and not 0")
    if steps > _MOST_STEPS:
        node.unsupported(f"{steps} steps would be unrolled; cut the sequence into parts of at most {_MOST_STEPS}")
    return steps


def _check_hidden_size(node: NodeContext) -> None:
    given, size = node.attribute("hidden_size"), node.type(2).shape[-1]
    if given is not None and isinstance(size, int) and given != size:
        node.unsupported(f"hidden_size is {given} but the weights of the recurrence (input 2) have {size} columns")


def _refuse_variations(node: NodeContext, steps: int) -> None:
    op = node.node.op_type
    if node.has_input(_SEQUENCE_LENGTHS):
        lengths = node.constant(_SEQUENCE_LENGTHS)
        if lengths is None or not np.all(lengths == steps):
            node.unsupported("sequence_lens other than the number of steps are not supported")
    if op == "LSTM" and node.has_input(_PEEPHOLES):
        node.unsupported("peepholes (input P) are not supported")
    given = [name.lower() for name in node.attribute("activations", [])]
    wanted = [name.lower() for name in _DEFAULTS[op]]
    if given and given != wanted * (len(given) // len(wanted)):
        node.unsupported(f"activations other than {', '.join(_DEFAULTS[op])} are not supported")
    for name in ("clip", "input_forget"):
        if node.attribute(name, 0):
            node.unsupported(f"attribute '{name}' is not supported")


@dataclass(frozen=True)
class _Layer:
    """The weights of one direction: `of_input` [inputs, gates * hidden], `of_state` [hidden, gates * hidden]; biases for both."""

    of_input: ir.Value
    of_state: ir.Value
    hidden: int
    input_bias: ir.Value | None
    state_bias: ir.Value | None
    start: State

    @staticmethod
    def of(node: NodeContext, direction: int) -> _Layer:
        hidden = node.type(2).shape[2]
        if not isinstance(hidden, int):
            node.unsupported("the sizes of the weights must be known at compile time")
        width = _GATES[node.node.op_type] * hidden
        of_input, of_state = (dl.transpose(_direction(node.value(index), direction), perm=[1, 0]) for index in (1, 2))
        bias = _direction(node.value(3), direction) if node.has_input(3) else None
        biases = [None if bias is None else _part(bias, 0, at, at + width) for at in (0, width)]
        states = (5, 6) if node.node.op_type == "LSTM" else (5,)
        start = tuple(_direction(node.value(index), direction) if node.has_input(index) else None for index in states)
        return _Layer(of_input, of_state, hidden, biases[0], biases[1], start)

    def gate(self, x: ir.Value, first: int, count: int = 1) -> ir.Value:
        """The columns of gate `first`, and of the `count` - 1 after it."""
        axis = type_of_value(x).rank - 1
        return _part(x, axis, first * self.hidden, (first + count) * self.hidden)


def _direction(x: ir.Value, index: int) -> ir.Value:
    return dl.squeeze(_part(x, 0, index, index + 1), axes=[0])


def _part(x: ir.Value, axis: int, start: int, end: int) -> ir.Value:
    found: ir.Value = dl.slice(x, starts=[start], ends=[end], axes=[axis], steps=[1])
    return found


def _stacked(parts: Sequence[ir.Value], axis: int) -> ir.Value:
    """The parts along a new axis."""
    joined = dl.unsqueeze(parts[0], axes=[axis])
    for part in parts[1:]:
        joined = dl.concat(joined, dl.unsqueeze(part, axes=[axis]), axis=axis)
    return joined


def _run(node: NodeContext, layer: _Layer, steps: int, reverse: bool) -> tuple[list[ir.Value], tuple[ir.Value, ...]]:
    """The hidden state of each step, in the order of the input, and the last state."""
    cells: dict[str, Callable[[NodeContext, _Layer], tuple[ir.Value | None, Cell]]] = {"LSTM": _lstm, "GRU": _gru, "RNN": _rnn}
    bias, cell = cells[node.node.op_type](node, layer)
    shares = dl.matmul(node.value(0), layer.of_input)
    shares = shares if bias is None else dl.add(shares, bias)
    state: State = layer.start
    found: dict[int, ir.Value] = {}
    for step in reversed(range(steps)) if reverse else range(steps):
        after = cell(dl.squeeze(_part(shares, 0, step, step + 1), axes=[0]), state)
        found[step], state = after[0], after
    return [found[step] for step in range(steps)], after


def _plus_state(layer: _Layer, share: ir.Value, state: ir.Value | None) -> ir.Value:
    return share if state is None else dl.add(share, dl.matmul(state, layer.of_state))


def _both_biases(layer: _Layer) -> ir.Value | None:
    if layer.input_bias is None or layer.state_bias is None:
        return None
    total: ir.Value = dl.add(layer.input_bias, layer.state_bias)
    return total


def _lstm(node: NodeContext, layer: _Layer) -> tuple[ir.Value | None, Cell]:
    """Gates in the order input, output, forget, cell."""

    def cell(share: ir.Value, state: State) -> tuple[ir.Value, ...]:
        total = _plus_state(layer, share, state[0])
        write, show, keep = (dl.sigmoid(layer.gate(total, place)) for place in range(3))
        memory = dl.mul(write, dl.tanh(layer.gate(total, 3)))
        memory = memory if state[1] is None else dl.add(dl.mul(keep, state[1]), memory)
        return dl.mul(show, dl.tanh(memory)), memory

    return _both_biases(layer), cell


def _rnn(node: NodeContext, layer: _Layer) -> tuple[ir.Value | None, Cell]:
    return _both_biases(layer), lambda share, state: (dl.tanh(_plus_state(layer, share, state[0])),)


def _gru(node: NodeContext, layer: _Layer) -> tuple[ir.Value | None, Cell]:
    """Gates in the order update, reset, hidden; the reset acts on the state, or on its product with the weights."""
    resets_product = bool(node.attribute("linear_before_reset", 0))
    hidden_bias = None if layer.state_bias is None else layer.gate(layer.state_bias, 2)
    of_gates, of_hidden = layer.gate(layer.of_state, 0, 2), layer.gate(layer.of_state, 2)

    def candidate(share: ir.Value, state: ir.Value | None, product: ir.Value | None, reset: ir.Value) -> ir.Value:
        own = layer.gate(share, 2)
        if not resets_product:
            return own if state is None else dl.add(own, dl.matmul(dl.mul(reset, state), of_hidden))
        terms = [term for term in (product, hidden_bias) if term is not None]
        return dl.add(own, dl.mul(reset, terms[0] if len(terms) == 1 else dl.add(*terms))) if terms else own

    def cell(share: ir.Value, before: State) -> tuple[ir.Value, ...]:
        state, gates, product = before[0], layer.gate(share, 0, 2), None
        if state is not None and resets_product:
            products = dl.matmul(state, layer.of_state)
            gates, product = dl.add(gates, layer.gate(products, 0, 2)), layer.gate(products, 2)
        elif state is not None:
            gates = dl.add(gates, dl.matmul(state, of_gates))
        update, reset = (dl.sigmoid(layer.gate(gates, place)) for place in range(2))
        new = dl.tanh(candidate(share, state, product, reset))
        # (1 - update) * new + update * state, with one product.
        return (dl.sub(new, dl.mul(update, new)) if state is None else dl.add(new, dl.mul(update, dl.sub(state, new))),)

    if layer.input_bias is None or layer.state_bias is None or not resets_product:
        return _both_biases(layer), cell
    gates = dl.add(layer.gate(layer.input_bias, 0, 2), layer.gate(layer.state_bias, 0, 2))
    return dl.concat(gates, layer.gate(layer.input_bias, 2), axis=0), cell

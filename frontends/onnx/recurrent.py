"""Importers of recurrent layers (LSTM, GRU, RNN): one product for the input of all steps, and a loop over the steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.recurrent_cells import GATES, CellForm, Layer, cell_of, part
from dlc.frontends.onnx.regions import BodyStep, build_loop
from dlc.frontends.onnx.stacks import Placement, as_tensor, size_along

_BIASES, _LENGTHS, _PEEPHOLES = 3, 4, 7


@importer("LSTM", "GRU", "RNN")
def import_recurrent(node: NodeContext) -> list[ir.Value]:
    """[Y, Y_h, Y_c] of all directions, side by side."""
    _check_hidden_size(node)
    sequence = _Sequence.of(node)
    direction = node.attribute("direction", "forward")
    reversals = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}.get(direction)
    if reversals is None:
        node.unsupported(f"direction is '{direction}'; it may be forward, reverse or bidirectional")
    runs = [_run(node, sequence, index, reverse) for index, reverse in enumerate(reversals)]
    states = [_stacked([run[which] for run in runs], 0) for which in range(len(runs[0]) - 1)]
    outputs = [_stacked([run[-1] for run in runs], 1), *states]
    if not sequence.batch_first:
        return outputs
    return [dl.transpose(outputs[0], perm=[2, 0, 1, 3]), *(dl.transpose(state, perm=[1, 0, 2]) for state in states)]


def _check_hidden_size(node: NodeContext) -> None:
    given, size = node.attribute("hidden_size"), node.type(2).shape[-1]
    if given is not None and isinstance(size, int) and given != size:
        node.unsupported(f"hidden_size is {given} but the weights of the recurrence (input 2) have {size} columns")


@dataclass(frozen=True)
class _Sequence:
    """The input, [steps, batch, inputs], and how many steps each row of the batch has, where not all have all."""

    x: ir.Value
    lengths: ir.Value | None
    batch_first: bool

    @staticmethod
    def of(node: NodeContext) -> _Sequence:
        batch_first = bool(node.attribute("layout", 0))
        x = node.value(0)
        x = dl.transpose(x, perm=[1, 0, 2]) if batch_first else x
        known, steps = node.constant(_LENGTHS), type_of_value(x).shape[0]
        if steps == 0:
            node.unsupported("the number of steps is 0; give at least one")
        if not node.has_input(_LENGTHS) or (known is not None and isinstance(steps, int) and bool(np.all(known == steps))):
            return _Sequence(x, None, batch_first)
        return _Sequence(x, dl.cast(node.value(_LENGTHS), to="i64"), batch_first)


def _run(node: NodeContext, sequence: _Sequence, index: int, reverse: bool) -> list[ir.Value]:
    """The last state of a direction, [batch, hidden] each, then the hidden state of each step, in the order of the input."""
    layer = _layer(node, index)
    bias, cell = cell_of(node, layer, CellForm.of(node, index))
    turns = reverse and sequence.lengths is not None  # each row from its own end
    x = dl.reverse_sequence(sequence.x, sequence.lengths, axis=0, batch_axis=1) if turns else sequence.x
    shares = dl.matmul(x, layer.of_input)
    shares = shares if bias is None else dl.add(shares, bias)
    start = _start(node, sequence, layer, index)
    steps = size_along(x, 0)
    backwards = reverse and not turns

    def body(number: ir.Value, state: Sequence[ir.Value]) -> BodyStep:
        place = as_tensor(number)
        after = cell(dl.gather(shares, _from_end(steps, place) if backwards else place, axis=0), state)
        if sequence.lengths is None:
            return BodyStep(None, after, [after[0]])
        runs = dl.unsqueeze(dl.less(place, sequence.lengths), axes=[1])
        kept = dl.where(runs, after[0], _zero(after[0]))
        return BodyStep(None, [dl.where(runs, new, old) for new, old in zip(after, state, strict=True)], [kept])

    *last, every = build_loop(node, steps, None, start, body, [Placement(0, backwards, start[0])])
    return [*last, dl.reverse_sequence(every, sequence.lengths, axis=0, batch_axis=1) if turns else every]


def _zero(like: ir.Value) -> ir.Value:
    found: ir.Value = dl.constant(value=np.zeros((), NUMPY_DTYPES[type_of_value(like).dtype]))
    return found


def _from_end(steps: ir.Value | int, place: ir.Value) -> ir.Value:
    count = dl.constant(value=np.array(steps, np.int64)) if isinstance(steps, int) else dl.reshape(steps, shape=[])
    found: ir.Value = dl.sub(dl.sub(count, dl.constant(value=np.array(1, np.int64))), place)
    return found


def _layer(node: NodeContext, index: int) -> Layer:
    hidden = node.type(2).shape[2]
    if not isinstance(hidden, int):
        node.unsupported("the sizes of the weights must be known at compile time")
    width = GATES[node.node.op_type] * hidden
    of_input, of_state = (dl.transpose(_direction(node.value(which), index), perm=[1, 0]) for which in (1, 2))
    bias = _direction(node.value(_BIASES), index) if node.has_input(_BIASES) else None
    biases = [None if bias is None else part(bias, 0, at, at + width) for at in (0, width)]
    looks = node.node.op_type == "LSTM" and node.has_input(_PEEPHOLES)
    peepholes = _direction(node.value(_PEEPHOLES), index) if looks else None
    parts = () if peepholes is None else tuple(part(peepholes, 0, at * hidden, (at + 1) * hidden) for at in range(3))
    return Layer(of_input, of_state, hidden, biases[0], biases[1], parts)


def _start(node: NodeContext, sequence: _Sequence, layer: Layer, index: int) -> list[ir.Value]:
    """The state before the first step, zeros where it is not given."""
    states = (5, 6) if node.node.op_type == "LSTM" else (5,)
    return [_given(node, which, sequence, index) if node.has_input(which) else _zeros(sequence.x, layer) for which in states]


def _given(node: NodeContext, which: int, sequence: _Sequence, index: int) -> ir.Value:
    """Of [directions, batch, hidden], or [batch, directions, hidden]."""
    axis = 1 if sequence.batch_first else 0
    found: ir.Value = dl.squeeze(part(node.value(which), axis, index, index + 1), axes=[axis])
    return found


def _zeros(x: ir.Value, layer: Layer) -> ir.Value:
    batch = size_along(x, 1)
    if isinstance(batch, int):
        return dl.expand(_zero(x), None, shape=[batch, layer.hidden])
    sizes = dl.concat(batch, dl.constant(value=np.array([layer.hidden])), axis=0)
    found: ir.Value = dl.expand(_zero(x), sizes, shape=[-1, layer.hidden])
    return found


def _direction(x: ir.Value, index: int) -> ir.Value:
    found: ir.Value = dl.squeeze(part(x, 0, index, index + 1), axes=[0])
    return found


def _stacked(parts: Sequence[ir.Value], axis: int) -> ir.Value:
    """The parts along a new axis."""
    joined = dl.unsqueeze(parts[0], axes=[axis])
    for each in parts[1:]:
        joined = dl.concat(joined, dl.unsqueeze(each, axes=[axis]), axis=axis)
    return joined

"""The cells of recurrent layers: what a step of an LSTM, a GRU or an RNN computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.node import NodeContext

State = Sequence[ir.Value]
"""What a step passes to the next, [batch, hidden] each: the hidden state first."""
Cell = Callable[[ir.Value, State], tuple[ir.Value, ...]]
"""The state after a step whose share of the input is given, [batch, gates * hidden]."""
Activation = Callable[[ir.Value], ir.Value]

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
_PARAMETERS: dict[str, tuple[float, ...]] = {
    "affine": (1.0, 0.0),
    "elu": (1.0,),
    "hardsigmoid": (0.2, 0.5),
    "leakyrelu": (0.01,),
    "relu": (),
    "scaledtanh": (1.0, 1.0),
    "sigmoid": (),
    "softplus": (),
    "softsign": (),
    "tanh": (),
    "thresholdedrelu": (1.0,),
}
"""Alpha and beta of each activation by default; those that have none take none from the lists of the node."""


@dataclass(frozen=True)
class CellForm:
    """How a direction of a node computes: its activations, and the bound of what these are given (None: none)."""

    activations: tuple[Activation, ...]
    clip: float | None

    @staticmethod
    def of(node: NodeContext, direction: int) -> CellForm:
        """Raises `UnsupportedFeature` for activations that ONNX does not name."""
        op = node.node.op_type
        names = node.attribute("activations") or list(_DEFAULTS[op])
        count = len(_DEFAULTS[op])
        if len(names) == count:
            names = [*names, *names]  # of both directions
        lists = iter(node.attribute("activation_alpha") or []), iter(node.attribute("activation_beta") or [])
        found = [_activation(node, name, lists) for name in names]
        clip = node.attribute("clip")
        return CellForm(tuple(found[direction * count : (direction + 1) * count]), None if not clip else float(clip))

    def apply(self, index: int, x: ir.Value) -> ir.Value:
        """Activation number `index` of `x`, which is clipped before."""
        return self.activations[index](x if self.clip is None else dl.clip(x, low=-self.clip, high=self.clip))


def _activation(node: NodeContext, name: str, lists: tuple[Iterator[float], Iterator[float]]) -> Activation:
    kind = name.lower()
    if kind not in _PARAMETERS:
        node.unsupported(f"activation {name} is not supported; it may be one of {', '.join(sorted(_PARAMETERS))}")
    given = [float(next(numbers, default)) for default, numbers in zip(_PARAMETERS[kind], lists, strict=False)]
    match kind:
        case "affine":
            return lambda x: _affine(x, given[0], given[1])
        case "scaledtanh":
            return lambda x: _affine(dl.tanh(_affine(x, given[1], 0.0)), given[0], 0.0)
        case "elu" | "leakyrelu" | "thresholdedrelu":
            builder = {"elu": dl.elu, "leakyrelu": dl.leaky_relu, "thresholdedrelu": dl.thresholded_relu}[kind]
            return lambda x: builder(x, alpha=given[0])
        case "hardsigmoid":
            return lambda x: dl.hard_sigmoid(x, alpha=given[0], beta=given[1])
    plain: Activation = getattr(dl, kind)
    return plain


def _affine(x: ir.Value, factor: float, offset: float) -> ir.Value:
    scaled = x if factor == 1.0 else dl.mul(x, _number(x, factor))
    return scaled if offset == 0.0 else dl.add(scaled, _number(x, offset))


def _number(x: ir.Value, number: float) -> ir.Value:
    found: ir.Value = dl.constant(value=np.array(number, NUMPY_DTYPES[type_of_value(x).dtype]))
    return found


@dataclass(frozen=True)
class Layer:
    """The weights of one direction: `of_input` [inputs, gates * hidden], `of_state` [hidden, gates * hidden]; biases for both."""

    of_input: ir.Value
    of_state: ir.Value
    hidden: int
    input_bias: ir.Value | None
    state_bias: ir.Value | None
    peepholes: tuple[ir.Value, ...]

    def gate(self, x: ir.Value, first: int, count: int = 1) -> ir.Value:
        """The columns of gate `first`, and of the `count` - 1 after it."""
        axis = type_of_value(x).rank - 1
        return part(x, axis, first * self.hidden, (first + count) * self.hidden)


def part(x: ir.Value, axis: int, start: int, end: int) -> ir.Value:
    """x from `start` to `end` along an axis."""
    found: ir.Value = dl.slice(x, starts=[start], ends=[end], axes=[axis], steps=[1])
    return found


def cell_of(node: NodeContext, layer: Layer, form: CellForm) -> tuple[ir.Value | None, Cell]:
    """What is added to the product of all steps' input with the weights, and the cell."""
    cells: dict[str, Callable[[NodeContext, Layer, CellForm], tuple[ir.Value | None, Cell]]] = {
        "LSTM": _lstm,
        "GRU": _gru,
        "RNN": _rnn,
    }
    return cells[node.node.op_type](node, layer, form)


def _both_biases(layer: Layer) -> ir.Value | None:
    if layer.input_bias is None or layer.state_bias is None:
        return None
    total: ir.Value = dl.add(layer.input_bias, layer.state_bias)
    return total


def _lstm(node: NodeContext, layer: Layer, form: CellForm) -> tuple[ir.Value | None, Cell]:
    """Gates in the order input, output, forget, cell; peepholes input, output, forget."""
    couples = bool(node.attribute("input_forget", 0))

    def looked(x: ir.Value, memory: ir.Value, index: int) -> ir.Value:
        return dl.add(x, dl.mul(layer.peepholes[index], memory)) if layer.peepholes else x

    def cell(share: ir.Value, state: State) -> tuple[ir.Value, ...]:
        total, before = dl.add(dl.matmul(state[0], layer.of_state), share), state[1]
        write = form.apply(0, looked(layer.gate(total, 0), before, 0))
        new = dl.mul(write, form.apply(1, layer.gate(total, 3)))
        if couples:
            memory = dl.add(dl.sub(before, dl.mul(write, before)), new)
        else:
            memory = dl.add(dl.mul(form.apply(0, looked(layer.gate(total, 2), before, 2)), before), new)
        show = form.apply(0, looked(layer.gate(total, 1), memory, 1))
        return dl.mul(show, form.activations[2](memory)), memory

    return _both_biases(layer), cell


def _rnn(node: NodeContext, layer: Layer, form: CellForm) -> tuple[ir.Value | None, Cell]:
    return _both_biases(layer), lambda share, state: (form.apply(0, dl.add(share, dl.matmul(state[0], layer.of_state))),)


def _gru(node: NodeContext, layer: Layer, form: CellForm) -> tuple[ir.Value | None, Cell]:
    """Gates in the order update, reset, hidden; the reset acts on the state, or on its product with the weights."""
    resets_product = bool(node.attribute("linear_before_reset", 0))
    hidden_bias = None if layer.state_bias is None else layer.gate(layer.state_bias, 2)
    of_gates, of_hidden = layer.gate(layer.of_state, 0, 2), layer.gate(layer.of_state, 2)

    def cell(share: ir.Value, before: State) -> tuple[ir.Value, ...]:
        state, own = before[0], layer.gate(share, 2)
        products = dl.matmul(state, layer.of_state if resets_product else of_gates)
        gates = dl.add(layer.gate(share, 0, 2), layer.gate(products, 0, 2) if resets_product else products)
        update, reset = (form.apply(0, layer.gate(gates, place)) for place in range(2))
        if resets_product:
            product = layer.gate(products, 2)
            new = dl.add(own, dl.mul(reset, product if hidden_bias is None else dl.add(product, hidden_bias)))
        else:
            new = dl.add(own, dl.matmul(dl.mul(reset, state), of_hidden))
        new = form.apply(1, new)
        # (1 - update) * new + update * state, with one product.
        return (dl.add(new, dl.mul(update, dl.sub(state, new))),)

    if layer.input_bias is None or layer.state_bias is None or not resets_product:
        return _both_biases(layer), cell
    gates = dl.add(layer.gate(layer.input_bias, 0, 2), layer.gate(layer.state_bias, 0, 2))
    return dl.concat(gates, layer.gate(layer.input_bias, 2), axis=0), cell

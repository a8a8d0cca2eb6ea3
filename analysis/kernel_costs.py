"""What a kernel computes and moves: floating-point operations, and bytes that it reads and writes, as sums over symbolic dims.

    cost = kernel_cost(function)           a function of dl ops, as dl-outline-kernels makes them
    cost.flops.at({"d0": 8})               a number
    str(cost.flops)                        "98304*d0"

A multiplication and an addition count as two. An elementwise op counts as one for each element of its result, whatever it costs.
Every argument is read once and every result written once: values inside a kernel count as if they stayed in registers or caches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects.dl import op_class
from dlc.dialects.dl.types import NUMPY_DTYPES, Dim, TensorType
from dlc.dialects.dl.winograd import matrices_of
from dlc.dialects.dl.winograd_matrices import Matrices

_PER_ELEMENT = {
    "softmax": 5,
    "log_softmax": 5,
    "layer_norm": 8,
    "rms_norm": 5,
    "instance_norm": 8,
    "group_norm": 8,
    "batch_norm": 4,
}
"""Operations of norms for each element: statistics, then scaling."""
_OF_SCORES = 7
"""Operations of attention for each score besides the products: scale, mask and softmax."""
_TABLES = frozenset({"dl.gather", "dl.gather_elements", "dl.gather_nd", "dl.slice"})
"""Ops that read no more elements of their first operand than their result has."""


@dataclass(frozen=True)
class Amount:
    """A sum of whole numbers times products of symbolic dims; terms by their symbols, sorted."""

    terms: tuple[tuple[tuple[str, ...], int], ...] = ()

    @staticmethod
    def product(*dims: Dim) -> Amount:
        """The product of dims; one that is not known is a symbol of its own, `?`."""
        symbols = tuple(sorted("?" if dim is None else dim for dim in dims if not isinstance(dim, int)))
        factor = math.prod(dim for dim in dims if isinstance(dim, int))
        return Amount(((symbols, factor),) if factor else ())

    @staticmethod
    def sum(amounts: Iterable[Amount]) -> Amount:
        found: dict[tuple[str, ...], int] = {}
        for amount in amounts:
            for symbols, factor in amount.terms:
                found[symbols] = found.get(symbols, 0) + factor
        return Amount(tuple(sorted((symbols, factor) for symbols, factor in found.items() if factor)))

    def times(self, factor: int) -> Amount:
        return Amount.sum([Amount(tuple((symbols, factor * own) for symbols, own in self.terms))])

    def divided(self, divisor: int) -> Amount:
        """This over a divisor, each term rounded down."""
        return Amount.sum([Amount(tuple((symbols, own // divisor) for symbols, own in self.terms))])

    def at(self, sizes: Mapping[str, int] | None = None, default: int = 1) -> int:
        """The number for given sizes of the symbols; `default` is that of the others."""
        known = sizes or {}
        return sum(factor * math.prod(known.get(symbol, default) for symbol in symbols) for symbols, factor in self.terms)

    def __str__(self) -> str:
        return " + ".join("*".join([str(factor), *symbols]) for symbols, factor in self.terms) or "0"


@dataclass(frozen=True)
class KernelCost:
    """Operations of one call, and bytes that it reads and writes."""

    flops: Amount
    bytes_read: Amount
    bytes_written: Amount


def kernel_cost(function: ir.Operation) -> KernelCost:
    """The cost of one call of a function of dl ops."""
    shapes, block = SymbolicShapes(function), function.regions[0].blocks[0]
    *operations, end = [op.operation for op in block.operations]
    return KernelCost(
        flops=Amount.sum(op_flops(op, shapes) for op in operations),
        bytes_read=Amount.sum(_read(argument, shapes) for argument in block.arguments),
        bytes_written=Amount.sum(_bytes(shapes.type_of(value)) for value in end.operands),
    )


def op_flops(operation: ir.Operation, shapes: SymbolicShapes) -> Amount:
    """Floating-point (or integer) operations of one dl op; none for ops that move elements."""
    found = op_class(operation.name) if operation.name.startswith("dl.") else None
    if found is None or operation.regions or not len(operation.operands):
        return Amount()
    types = [shapes.type_of(value) for value in operation.operands]
    result, name = shapes.type_of(operation.results[0]), operation.name.removeprefix("dl.")
    if found.fusion_class == "contraction":
        return _contraction(name, types, result, operation)
    if name in _PER_ELEMENT:
        return _elements(types[0]).times(_PER_ELEMENT[name])
    if found.fusion_class == "reduction":
        return _window(operation, types[0], result)
    if found.is_elementwise and name not in ("expand", "cast"):
        return _elements(result)
    return _elements(types[0]) if found.fusion_class == "opaque" else Amount()


def _contraction(name: str, types: Sequence[TensorType], result: TensorType, operation: ir.Operation) -> Amount:
    if name == "attention":
        batch, heads, rows, size = types[0].shape
        scores = batch, heads, rows, types[1].shape[2]
        products = [Amount.product(2, *scores, size), Amount.product(2, *scores, types[2].shape[3])]
        return Amount.sum([*products, Amount.product(_OF_SCORES, *scores)])
    if name in ("conv", "conv_transpose"):
        last = operation.opview.attribute_values().get("channels_last", False)
        moved = types[0] if name == "conv_transpose" else result
        channels = moved.shape[-1 if last else 1]
        weight = types[1].num_elements
        if weight is None or not isinstance(channels, int) or channels == 0:
            return Amount.product(2, *moved.shape, None)
        bias = [_elements(result)] if len(types) > 2 else []
        return Amount.sum([Amount.product(2, *moved.shape, weight // channels), *bias])
    if name in ("vnni_conv", "widening_conv"):
        taps = types[1].shape[1:-2] if name == "vnni_conv" else types[1].shape[:-2]
        return Amount.product(2, *result.shape, *taps, types[0].shape[-1])
    if name in ("winograd_conv", "pair_winograd_conv"):
        stride = operation.opview.attribute_values().get("stride", 1)
        return _winograd(types, result, matrices_of(types[1].shape[0], stride))
    return Amount.product(2, *result.shape, types[0].shape[-1])


def _winograd(types: Sequence[TensorType], result: TensorType, matrices: Matrices) -> Amount:
    """The products of all tiles, which may reach beyond the image, and two sums for each transformed input and product.

    Tiles along an axis whose size run time decides are taken to end with the image.
    """
    inner, (batch, height, width, out) = types[0].shape[3], result.shape
    along = [-(-size // matrices.outputs) * matrices.products if isinstance(size, int) else size for size in (height, width)]
    tiles = (batch, *along)
    found = Amount.sum([Amount.product(2, *tiles, inner, out), Amount.product(2, *tiles, inner), Amount.product(2, *tiles, out)])
    open_axes = sum(not isinstance(size, int) for size in (height, width))
    return found.times(matrices.products**open_axes).divided(matrices.outputs**open_axes)


def _window(operation: ir.Operation, x: TensorType, result: TensorType) -> Amount:
    """Each element of a row once; each element of the window of a pooling for every result."""
    attributes = operation.opview.attribute_values()
    return Amount.product(*result.shape, *attributes["kernel"]) if "kernel" in attributes else _elements(x)


def _elements(kind: TensorType) -> Amount:
    return Amount.product(*kind.shape)


def _bytes(kind: TensorType) -> Amount:
    return _elements(kind).times(NUMPY_DTYPES[kind.dtype].itemsize)


def _read(argument: ir.Value, shapes: SymbolicShapes) -> Amount:
    """Bytes of an argument that the kernel reads: of a table that it looks things up in, as many as it finds."""
    uses = [(use.owner.operation, use.operand_number) for use in argument.uses]
    if not uses or not all(op.name in _TABLES and operand == 0 for op, operand in uses):
        return _bytes(shapes.type_of(argument)) if uses else Amount()
    return Amount.sum(_bytes(shapes.type_of(op.results[0])) for op, _ in uses)

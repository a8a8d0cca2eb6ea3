"""Accesses of row-major buffers by one subscript: the distance of the element from the first one."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod

from dlc._mlir import ir
from dlc.analysis.buffers import is_row_major, nested_ops, strides_of
from dlc.lowering.affine.ir.loops import apply
from dlc.lowering.pass_base import Pass

_LOADS, _STORES = ("affine.load", "affine.vector_load"), ("affine.store", "affine.vector_store")


@dataclass(frozen=True)
class AffineFlattenAccesses(Pass):
    """Let affine accesses of a buffer in row-major order count its elements from the first one, where strides are known.

    What accesses of a block have in common is computed once: they differ by constants, which are part of the instructions that
    load and store. Buffers of other layouts, accesses by masks and vectors of several dimensions stay as they are.

    before: %v = affine.load %m[%i + 1, %j + 2] : memref<4x8xf32>
    after:  %n = memref.collapse_shape %m [[0, 1]] : memref<4x8xf32> into memref<32xf32>
            %base = affine.apply (%i * 8 + %j)
            %v = affine.load %n[%base + 10] : memref<32xf32>
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        flattener = _Flattener()
        for inner in nested_ops(op):
            if inner.name in _LOADS:
                flattener.rewrite(inner, 0)
            elif inner.name in _STORES:
                flattener.rewrite(inner, 1)


@dataclass(frozen=True)
class _Flat:
    """A buffer as one row."""

    memref: ir.Value
    strides: tuple[int, ...]


@dataclass(frozen=True)
class _Distance:
    """Elements from the first one: what other accesses may share, and a constant."""

    common: ir.AffineMap | None
    indexing: ir.AffineMap
    """The distance where `common` has taken the place of the first operand."""


@dataclass
class _Sum:
    """`factors` by dim, other `terms`, and a constant."""

    factors: dict[int, int] = field(default_factory=dict)
    terms: list[ir.AffineExpr] = field(default_factory=list)
    constant: int = 0

    def add(self, expression: ir.AffineExpr, times: int) -> None:
        """Add `times * expression`."""
        expression = expression.maybe_downcast()
        if isinstance(expression, ir.AffineConstantExpr):
            self.constant += times * expression.value
        elif isinstance(expression, ir.AffineDimExpr):
            self.factors[expression.position] = self.factors.get(expression.position, 0) + times
        elif isinstance(expression, ir.AffineAddExpr):
            self.add(expression.lhs, times)
            self.add(expression.rhs, times)
        elif isinstance(expression, ir.AffineMulExpr) and isinstance(
            factor := expression.rhs.maybe_downcast(), ir.AffineConstantExpr
        ):
            self.add(expression.lhs, times * factor.value)
        else:
            self.terms.append(expression * times)

    def varying(self, context: ir.Context) -> ir.AffineExpr | None:
        """The sum without its constant; None where there is nothing."""
        dims = [ir.AffineExpr.get_dim(dim, context) * factor for dim, factor in sorted(self.factors.items()) if factor]
        terms = [*dims, *self.terms]
        return reduce(operator.add, terms) if terms else None


class _Flattener:
    """Rewrites accesses one after the other, in the order of the function."""

    def __init__(self) -> None:
        self._flats: dict[ir.Value, _Flat | None] = {}
        self._distances: dict[tuple[ir.AffineMap, tuple[int, ...]], _Distance] = {}
        self._bases: dict[tuple[object, ...], ir.Value] = {}
        """What accesses have in common by block, map and operands."""

    def rewrite(self, access: ir.Operation, at: int) -> None:
        """Rewrite one access whose memref is its operand `at`."""
        memref, *operands = list(access.operands)[at:]
        if memref not in self._flats:
            self._flats[memref] = _flat(memref)
        flat = self._flats[memref]
        kind = (access.operands if at else access.results)[0].type
        if flat is None or (isinstance(kind, ir.VectorType) and kind.rank != 1):
            return
        distance = self._distance(access.attributes["map"].value, flat.strides)
        if distance.common is not None:
            access.operands[at + 1] = self._base(access, distance.common, operands)
        access.operands[at] = flat.memref
        access.attributes["map"] = ir.AffineMapAttr.get(distance.indexing)

    def _distance(self, indexing: ir.AffineMap, strides: tuple[int, ...]) -> _Distance:
        if (indexing, strides) not in self._distances:
            self._distances[indexing, strides] = _distance(indexing, strides)
        return self._distances[indexing, strides]

    def _base(self, access: ir.Operation, common: ir.AffineMap, operands: Sequence[ir.Value]) -> ir.Value:
        key = (access.block, common, *operands)
        if key not in self._bases:
            with ir.InsertionPoint(access), access.location:
                self._bases[key] = apply(common, operands)
        return self._bases[key]


def _distance(indexing: ir.AffineMap, strides: Sequence[int]) -> _Distance:
    """The distance by the subscripts `indexing`. Operands cannot be taken from an op: those not needed are left to a map."""
    total, context = _Sum(), indexing.context
    for expression, stride in zip(indexing.results, strides, strict=True):
        total.add(expression, stride)
    varying, sizes = total.varying(context), (indexing.n_dims, indexing.n_symbols)
    constant = ir.AffineConstantExpr.get(total.constant, context)
    if varying is None:
        return _Distance(None, ir.AffineMap.get(*sizes, [constant], context))
    shifted = (ir.AffineExpr.get_dim(0, context) if indexing.n_dims else ir.AffineExpr.get_symbol(0, context)) + constant
    return _Distance(ir.AffineMap.get(*sizes, [varying], context), ir.AffineMap.get(*sizes, [shifted], context))


def _flat(memref: ir.Value) -> _Flat | None:
    """`memref` as one row, made where it is given; None where it has other strides than its sizes say, or some are not known."""
    kind = ir.MemRefType(memref.type)
    strides, _ = strides_of(kind)
    if not kind.rank or not is_row_major(kind) or ir.ShapedType.get_dynamic_stride_or_offset() in strides:
        return None
    if kind.rank == 1:
        return _Flat(memref, tuple(strides))
    size = prod(kind.shape) if kind.has_static_shape else ir.ShapedType.get_dynamic_size()
    row = ir.MemRefType.get([size], kind.element_type, memory_space=kind.memory_space, loc=ir.Location.unknown(kind.context))
    owner = memref.owner
    place = ir.InsertionPoint.at_block_begin(owner) if isinstance(owner, ir.Block) else ir.InsertionPoint.after(owner.operation)
    long = ir.IntegerType.get_signless(64, kind.context)
    axes = ir.ArrayAttr.get([ir.IntegerAttr.get(long, axis) for axis in range(kind.rank)], kind.context)
    attributes = {"reassociation": ir.ArrayAttr.get([axes], kind.context)}
    with place, ir.Location.unknown(kind.context):
        made = ir.Operation.create("memref.collapse_shape", results=[row], operands=[memref], attributes=attributes)
    return _Flat(made.result, tuple(strides))

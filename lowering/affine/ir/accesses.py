"""Which elements of which buffer an op reads or writes, as linear forms of index values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import ir
from dlc.analysis.buffers import is_memref, may_alias, nested_ops, root_of, strides_of, written_values
from dlc.lowering.affine.ir.expressions import coefficient
from dlc.lowering.affine.polyhedral.memory_ops import SUBSCRIPTS_AT

_WITHOUT_MEMORY = ("arith.", "math.", "affine.for", "affine.yield", "affine.apply", "memref.dim", "memref.alloc")
_VIEWS = ("memref.collapse_shape", "memref.expand_shape", "memref.cast", "memref.subview")
_NOALIAS = ("llvm.noalias", "dl.result")


@dataclass(frozen=True)
class Linear:
    """`constant` plus the sum of `factors[value] * value`."""

    factors: Mapping[ir.Value, int]
    constant: int = 0

    def of(self, value: ir.Value) -> int:
        """The factor of `value`."""
        return self.factors.get(value, 0)

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """`self + times * other`"""
        factors = dict(self.factors)
        for value, factor in other.factors.items():
            factors[value] = factors.get(value, 0) + times * factor
        return Linear({value: factor for value, factor in factors.items() if factor}, self.constant + times * other.constant)

    def without(self, value: ir.Value) -> Linear:
        """The form without its part in `value`."""
        return Linear({other: factor for other, factor in self.factors.items() if other != value}, self.constant)

    def renamed(self, names: Mapping[ir.Value, ir.Value]) -> Linear:
        """The form with the values `names` in place of their keys."""
        return Linear({names.get(value, value): factor for value, factor in self.factors.items()}, self.constant)

    @property
    def key(self) -> tuple[frozenset[tuple[ir.Value, int]], int]:
        """Equal for equal forms, and hashable."""
        return frozenset(self.factors.items()), self.constant


@dataclass(frozen=True)
class LinearAccess:
    """One op that touches the memory of `root` through the memref `buffer`.

    `subscripts` holds a form for each axis of `buffer`, `flat` the element's place in memory where strides are known; both
    are None where the op or an index is not affine. They are those of the op when they are first asked for.
    """

    op: ir.Operation
    buffer: ir.Value
    root: ir.Value
    writes: bool

    @cached_property
    def subscripts(self) -> tuple[Linear | None, ...] | None:
        """A form for each axis of `buffer`."""
        if self.op.name not in SUBSCRIPTS_AT:
            return None
        operands = indices_of(self.op)
        indexing = self.op.attributes["map"].value
        return tuple(linear_form(result, indexing.n_dims, operands) for result in indexing.results)

    @cached_property
    def flat(self) -> Linear | None:
        """The element's place in the memory of `root`, in elements."""
        return None if self.subscripts is None else _flat(self.buffer, self.subscripts)

    @property
    def place(self) -> object | None:
        """Equal for accesses that surely touch the same element; None when it is not known."""
        if self.flat is not None:
            return self.root, self.flat.key
        if self.subscripts is None or any(form is None for form in self.subscripts):
            return None
        return self.buffer, tuple(form.key for form in self.subscripts if form is not None)


def linear_form(expression: ir.AffineExpr, dims: int, operands: Sequence[ir.Value]) -> Linear | None:
    """`expression` over `operands` (`dims` of them dims, then symbols); None when it is not linear."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineConstantExpr):
        return Linear({}, expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return Linear({operands[expression.position]: 1})
    if isinstance(expression, ir.AffineSymbolExpr):
        return Linear({operands[dims + expression.position]: 1})
    if not isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return None
    lhs = linear_form(expression.lhs, dims, operands)
    rhs = linear_form(expression.rhs, dims, operands)
    if lhs is None or rhs is None:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        return lhs.plus(rhs)
    if lhs.factors and rhs.factors:
        return None
    scaled, times = (lhs, rhs.constant) if not rhs.factors else (rhs, lhs.constant)
    return Linear({value: factor * times for value, factor in scaled.factors.items() if times}, scaled.constant * times)


def indices_of(op: ir.Operation) -> list[ir.Value]:
    """The indices of an affine.load or affine.store, those of its map's dims first."""
    return list(op.operands)[SUBSCRIPTS_AT[op.name] :]


def stride_along(op: ir.Operation, index: ir.Value) -> int | None:
    """Elements by which an affine.load or affine.store moves when `index` grows by one; None where that is not fixed."""
    buffer, indexing = op.operands[SUBSCRIPTS_AT[op.name] - 1], op.attributes["map"].value
    strides, _ = strides_of(ir.MemRefType(buffer.type))
    total = 0
    for place, value in enumerate(indices_of(op)):
        for result, stride in zip(indexing.results, strides, strict=True):
            factor = coefficient(result, place) if value == index else 0
            if factor is None or (factor and stride == ir.ShapedType.get_dynamic_stride_or_offset()):
                return None
            total += factor * stride if factor else 0
    return total


def access_of(op: ir.Operation) -> LinearAccess:
    """The access of an affine.load or affine.store."""
    buffer = op.operands[SUBSCRIPTS_AT[op.name] - 1]
    return LinearAccess(op, buffer, root_of(buffer), op.name == "affine.store")


def _flat(buffer: ir.Value, forms: Sequence[Linear | None]) -> Linear | None:
    """The place of an element in the memory of the buffer's root, in elements."""
    kind = ir.MemRefType(buffer.type)
    strides, offset = strides_of(kind)
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if offset == dynamic or dynamic in strides or not _is_plain_view(buffer):
        return None
    factors: dict[ir.Value, int] = {}
    for form, stride in zip(forms, strides, strict=True):
        if form is None:
            return None
        offset += stride * form.constant
        for value, factor in form.factors.items():
            factors[value] = factors.get(value, 0) + stride * factor
    return Linear({value: factor for value, factor in factors.items() if factor}, offset)


def _is_plain_view(value: ir.Value) -> bool:
    """Whether every view between `value` and its root counts elements of the root's own type from its start."""
    while not isinstance(value, ir.BlockArgument) and value.owner.operation.name in _VIEWS:
        value = value.owner.operation.operands[0]
    return value == root_of(value)


def accesses_in(op: ir.Operation) -> Iterator[LinearAccess]:
    """Every access of `op` and the ops inside it; ops that are not affine touch each memref they name somewhere."""
    for inner in nested_ops(op):
        if inner.name in SUBSCRIPTS_AT:
            yield access_of(inner)
        elif not inner.name.startswith((*_WITHOUT_MEMORY, *_VIEWS)):
            written = written_values(inner)
            for value in inner.operands:
                if is_memref(value):
                    yield LinearAccess(inner, value, root_of(value), value in written)


def are_apart(a: ir.Value, b: ir.Value) -> bool:
    """Whether the roots `a` and `b` surely share no memory."""
    return a != b and (not may_alias(a, b) or _is_alone(a) or _is_alone(b))


def _is_alone(root: ir.Value) -> bool:
    """Whether `root` is an argument that a function states to share memory with no other while either is written."""
    if not isinstance(root, ir.BlockArgument):
        return False
    function = root.owner.owner.operation
    if function.name != "func.func" or "arg_attrs" not in function.attributes:
        return False
    marks = ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[root.arg_number])
    return any(name in marks for name in _NOALIAS)


def conflicts(first: Sequence[LinearAccess], second: Sequence[LinearAccess]) -> Iterator[tuple[LinearAccess, LinearAccess]]:
    """The pairs, one of each list, that may touch the same memory while one of them writes it."""
    for a in first:
        for b in second:
            if (a.writes or b.writes) and not are_apart(a.root, b.root):
                yield a, b


Extents = Callable[[ir.Value], "int | None"]
"""The number of iterations of the loop with a given induction variable; None when it is not known."""


def span(form: Linear, extent_of: Extents) -> tuple[int, int] | None:
    """The least and the largest value of `form`; None when a part of it has no known bounds."""
    low = high = form.constant
    for value, factor in form.factors.items():
        extent = extent_of(value)
        if extent is None:
            return None
        reach = factor * max(extent - 1, 0)
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high

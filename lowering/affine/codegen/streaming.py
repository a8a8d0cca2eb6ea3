"""Which results are better written past the caches, and where in a buffer vectors are written: for the passes that do so."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, prod

from dlc._mlir import ir
from dlc.analysis.buffers import is_memref, root_of
from dlc.lowering.affine.ir.expressions import Linear, linear_form
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine

_MASKED = "vector.maskedstore"
_STORES = ("affine.vector_store", _MASKED)


def streamed_bytes(facts: Machine) -> int:
    """The size of the smallest buffer that is worth it on the target."""
    fills_line = facts.vector_bits >= 8 * facts.line_bytes
    return max(
        policy().memory.streamed_caches * facts.l2_bytes, 0 if fills_line else int(facts.l3_bytes * policy().blocks.quarter_share)
    )


def bytes_of(buffer: ir.Value) -> int | None:
    """The size of a buffer; None where it is not known."""
    kind = ir.MemRefType(buffer.type)
    bits = element_bits(kind.element_type)
    return prod(kind.shape) * bits // 8 if kind.has_static_shape and bits is not None else None


def is_large(buffer: ir.Value, least: int) -> bool:
    """Whether a buffer surely has `least` bytes, its rows one right after the other."""
    size = bytes_of(buffer)
    return size is not None and size >= least and not isinstance(ir.MemRefType(buffer.type).layout, ir.StridedLayoutAttr)


def is_open(buffer: ir.Value) -> bool:
    """Whether run time alone knows the size of a buffer whose rows lie one right after the other."""
    kind = ir.MemRefType(buffer.type)
    return not kind.has_static_shape and not isinstance(kind.layout, ir.StridedLayoutAttr)


def buffers_read(ops: Iterable[ir.Operation]) -> list[ir.Value]:
    """The roots of what `ops` may read: of all memrefs that they name but those that stores of vectors write."""
    return [root_of(value) for op in ops if op.name not in _STORES for value in op.operands if is_memref(value)]


def buffers_masked(ops: Iterable[ir.Operation]) -> list[ir.Value]:
    """The roots of what `ops` write under masks."""
    return [root_of(op.operands[0]) for op in ops if op.name == _MASKED]


def is_multiple(form: Linear, number: int) -> bool:
    """Whether `number` surely divides every value of `form`."""
    return congruent(form, number) == Linear({})


def congruent(form: Linear, number: int) -> Linear:
    """A form that leaves the same rest by `number`, of those values alone that matter for it."""
    for value, factor in form.factors.items():
        same = Linear({}) if factor % number == 0 else _same_rest(value, number // gcd(factor, number))
        if same is not None:
            return congruent(form.without(value).plus(same, factor), number)
    return Linear(form.factors, form.constant % number)


def _same_rest(value: ir.Value, number: int) -> Linear | None:
    """A form of values further out that leaves the same rest by `number`; None where none is known."""
    if isinstance(value, ir.BlockArgument):
        loop = value.owner.owner.operation
        return (
            _first_of(loop) if loop.name == "affine.for" and ir.IntegerAttr(loop.attributes["step"]).value % number == 0 else None
        )
    owner = value.owner.operation
    return _dividend_of(owner, number) if owner.name == "affine.apply" else None


def _first_of(loop: ir.Operation) -> Linear | None:
    """The first value of a loop's variable."""
    lower = loop.attributes["lowerBoundMap"].value
    count = loop.attributes["operandSegmentSizes"][0]
    return linear_form(lower.results[0], lower.n_dims, list(loop.operands)[:count]) if len(lower.results) == 1 else None


def _dividend_of(apply: ir.Operation, number: int) -> Linear | None:
    """The form of which `apply` gives the rest by a multiple of `number`."""
    indexing = apply.attributes["map"].value
    rest = indexing.results[0].maybe_downcast()
    modulus = rest.rhs.maybe_downcast() if isinstance(rest, ir.AffineModExpr) else None
    if not isinstance(modulus, ir.AffineConstantExpr) or modulus.value % number:
        return None
    return linear_form(rest.lhs, indexing.n_dims, list(apply.operands))

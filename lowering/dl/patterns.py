"""What recomposition asks of the ops around a root: factors, polynomials, reductions, and the one op that stands for them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl import op_class
from dlc.dialects.dl.types import FLOATS, NUMPY_DTYPES
from dlc.lowering.dl.matching import attributes_of, constant_array, groups_of, source, type_of, users
from dlc.lowering.dl.rewriting import Rewriter
from dlc.lowering.policy import policy

Polynomial = Mapping[int, float]
"""Coefficients by degree; those of other degrees are 0."""


def sole_user(value: ir.Value, name: str = "") -> ir.Operation | None:
    """The op that alone uses `value`, once; None where there is no such op, or it is not called `name`."""
    found = users(value)
    user = next(found, None)
    if user is None or next(found, None) is not None:
        return None
    return user if not name or user.name == name else None


def other_operand(op: ir.Operation, value: ir.Value) -> ir.Value:
    """The operand of an op with two that is not `value` (or is it for the second time)."""
    return op.operands[1] if op.operands[0] == value else op.operands[0]


def operands_of(value: ir.Value | None, name: str) -> tuple[ir.Value, ir.Value] | None:
    """The operands of the op with two, called `name`, that gives `value`."""
    op = source(value, name)
    return None if op is None else (op.operands[0], op.operands[1])


def operand_of(value: ir.Value | None, name: str) -> ir.Value | None:
    """The first operand of the op called `name` that gives `value`."""
    op = source(value, name)
    return None if op is None else op.operands[0]


def same(left: ir.Value | None, right: ir.Value) -> bool:
    """Whether `left` is the value `right`; the bindings refuse to compare a value with None."""
    return left is not None and left == right


def is_float(value: ir.Value) -> bool:
    return type_of(value).dtype in FLOATS


def scalar(value: ir.Value | None) -> float | None:
    """The number that a constant of one float is, also where it is expanded; None for any other value."""
    while (op := source(value, "dl.expand")) is not None:
        value = op.operands[0]
    array = constant_array(value)
    if array is None or array.size != 1 or array.dtype == np.bool_:
        return None
    return float(array.reshape(()))


def with_scalar(value: ir.Value | None, name: str) -> tuple[ir.Value, float] | None:
    """`(x, number)` where `value` is x op number by the commutative op `name`."""
    found = operands_of(value, name)
    if found is None:
        return None
    for x, constant in (found, found[::-1]):
        number = scalar(constant)
        if number is not None and keeps_shape(x, constant):
            return x, number
    return None


def keeps_shape(x: ir.Value, other: ir.Value) -> bool:
    """Whether x combined with `other` surely has x's shape, `other` being of size 1 or of x's static shape."""
    own, kind = type_of(x), type_of(other)
    return kind.rank <= own.rank and all(
        dim == 1 or (isinstance(dim, int) and dim == mine) for dim, mine in zip(kind.shape[::-1], own.shape[::-1], strict=False)
    )


def close(have: float, want: float, dtype: str) -> bool:
    """Whether two numbers are the same but for their rounding to `dtype`."""
    return abs(have - want) <= 4 * _epsilon(dtype) * abs(want)


@functools.cache
def _epsilon(dtype: str) -> float:
    return {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}[dtype]


def decimal(number: float, dtype: str) -> float:
    """The shortest number that is `number` in f32; of other dtypes `number` itself."""
    return float(str(NUMPY_DTYPES["f32"].type(number))) if dtype == "f32" else number


def peelings(value: ir.Value) -> Iterator[tuple[ir.Value, float]]:
    """Pairs of a value and a number whose product `value` is: itself and 1, then what it is a multiple of."""
    factor = 1.0
    yield value, factor
    while (found := _peeled(value)) is not None:
        value, factor = found[0], factor * found[1]
        yield value, factor


def _peeled(value: ir.Value) -> tuple[ir.Value, float] | None:
    """`value` as a multiple of another value."""
    op = source(value)
    if op is None:
        return None
    if op.name == "dl.mul":
        return with_scalar(value, "dl.mul")
    if op.name == "dl.neg":
        return op.operands[0], -1.0
    if op.name == "dl.div" and is_float(value):
        divisor = scalar(op.operands[1])
        return (op.operands[0], 1 / divisor) if divisor and keeps_shape(*op.operands) else None
    return None


def products_above(value: ir.Value) -> Iterator[tuple[ir.Operation, float, list[ir.Value]]]:
    """Products that `value` is a factor of, from inside out: the op, their constant factor, and the other factors.

    Each value on the way has one use.
    """
    number, others = 1.0, list[ir.Value]()
    while (user := sole_user(value)) is not None:
        if user.name == "dl.mul":
            other = other_operand(user, value)
            constant = scalar(other)
        elif user.name == "dl.div" and user.operands[0] == value:
            other = user.operands[1]
            divisor = scalar(other)
            constant = 1 / divisor if divisor else None
            if constant is None:
                return
        else:
            return
        if constant is None:
            others = [*others, other]
        else:
            number *= constant
        value = user.results[0]
        yield user, number, others


def polynomial(value: ir.Value, x: ir.Value, depth: int = 0) -> Polynomial | None:
    """`value` as a polynomial of `x` with constant coefficients, None where it is none (of degree 3 at most)."""
    if value == x:
        return {1: 1.0}
    constant = scalar(value)
    if constant is not None:
        return {0: constant}
    op = source(value)
    if op is None or depth == policy().limits.pattern_depth or op.name not in _COMBINED:
        return None
    terms = []
    for operand in op.operands:
        term = polynomial(operand, x, depth + 1)
        if term is None:
            return None
        terms.append(term)
    return _COMBINED[op.name](*terms)


def _sum(lhs: Polynomial, rhs: Polynomial) -> Polynomial:
    return {degree: lhs.get(degree, 0.0) + rhs.get(degree, 0.0) for degree in sorted({*lhs, *rhs})}


def _product(lhs: Polynomial, rhs: Polynomial) -> Polynomial | None:
    found: dict[int, float] = {}
    for left, factor in lhs.items():
        for right, other in rhs.items():
            found[left + right] = found.get(left + right, 0.0) + factor * other
    return found if max(found) <= policy().limits.polynomial_degree else None


def _negated(term: Polynomial) -> Polynomial:
    return {degree: -factor for degree, factor in term.items()}


def _quotient(lhs: Polynomial, rhs: Polynomial) -> Polynomial | None:
    divisor = rhs.get(0, 0.0)
    return {degree: factor / divisor for degree, factor in lhs.items()} if [*rhs] == [0] and divisor else None


def _power(lhs: Polynomial, rhs: Polynomial) -> Polynomial | None:
    if [*rhs] != [0] or rhs[0] not in (1.0, 2.0, 3.0):
        return None
    found: Polynomial | None = lhs
    for _ in range(int(rhs[0]) - 1):
        found = _product(found, lhs) if found is not None else None
    return found


_COMBINED: Mapping[str, Any] = {
    "dl.add": _sum,
    "dl.sub": lambda lhs, rhs: _sum(lhs, _negated(rhs)),
    "dl.mul": _product,
    "dl.div": _quotient,
    "dl.neg": _negated,
    "dl.pow": _power,
}


def reduction(value: ir.Value | None, name: str) -> tuple[ir.Value, tuple[int, ...]] | None:
    """`(x, axes)` where `value` is a reduction of x by op `name` that keeps the axes; axes ascend from 0 on."""
    added: tuple[int, ...] = ()
    op = source(value, "dl.unsqueeze")
    if op is not None:
        added = attributes_of(op)["axes"]
        value = op.operands[0]
    op = source(value, name)
    if op is None:
        return None
    x, attributes = op.operands[0], attributes_of(op)
    rank = type_of(x).rank
    axes = tuple(sorted(axis % rank for axis in attributes["axes"])) if attributes["axes"] else tuple(range(rank))
    if attributes["keepdims"] == bool(added):
        return None
    return (x, axes) if not added or tuple(sorted(axis % rank for axis in added)) == axes else None


def merged_location(operations: Iterable[ir.Operation]) -> ir.Location:
    """One location for what these ops did."""
    distinct: list[ir.Location] = []
    for op in operations:
        if op.location not in distinct:  # equal locations have unequal hashes
            distinct.append(op.location)
    return distinct[0] if len(distinct) == 1 else ir.Location.fused(distinct)


def cone(top: ir.Operation, inputs: Iterable[ir.Value]) -> list[ir.Operation]:
    """`top` and the ops that it is computed by from `inputs`, constants and weights, the inner ones first."""
    found: list[ir.Operation] = []
    seen = set(inputs)

    def visit(op: ir.Operation) -> None:
        for value in op.operands:
            inner = source(value)
            if (
                inner is None
                or value in seen
                or len(seen) >= policy().limits.pattern_ops
                or inner.name in ("dl.constant", "dl.param")
            ):
                continue
            seen.add(value)
            visit(inner)
        found.append(op)

    visit(top)
    return found


def replace_cone(rewriter: Rewriter, top: ir.Operation, name: str, *operands: ir.Value | None, **attributes: Any) -> bool:
    """Let one op called `name` stand for `top` and all that computes it from `operands`; True."""
    inputs = [operand for operand in operands if operand is not None]
    with ir.InsertionPoint(top), merged_location(cone(top, inputs)):
        value = built_like(top.results[0], name, *operands, **attributes)
    rewriter.replace(top, value)
    return True


def built_like(result: ir.Value, name: str, *operands: ir.Value | None, **attributes: Any) -> ir.Value:
    """The result, of the type of `result`, of a new op."""
    found = op_class(name)
    assert found is not None, name
    value: ir.Value = found.create(*operands, result_types=[type_of(result)], **attributes).results[0]
    return value


def narrow(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Let `op`, which computes in f32, take f16 or bf16 itself where all its operands and its result are casts of that type."""
    user = sole_user(op.results[0], "dl.cast")
    if user is None or type_of(op.results[0]).dtype != "f32":
        return False
    dtype = type_of(user.results[0]).dtype
    operands = groups_of(op)
    narrow_ones = [operand_of(operand, "dl.cast") if _is_cast(operand) else operand for operand in operands]
    floats = [operand for operand in narrow_ones if operand is not None and type_of(operand).dtype != "i1"]
    if dtype not in ("f16", "bf16") or any(type_of(operand).dtype != dtype for operand in floats):
        return False
    return replace_cone(rewriter, user, op.name, *narrow_ones, **attributes_of(op))


def _is_cast(value: ir.Value | None) -> bool:
    return source(value, "dl.cast") is not None

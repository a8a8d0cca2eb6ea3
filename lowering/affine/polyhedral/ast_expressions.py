"""isl's AST expressions as affine expressions, bounds and conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.policy import policy

_Op = isl.ast_expr_op_type


Constraint = tuple[ir.AffineExpr, bool]
"""`(e, is_equality)`: `e == 0` or `e >= 0`."""


Guarded = tuple[list[Constraint], ir.AffineExpr]
"""A value, and what has to hold for it."""


class EmissionError(Exception):
    """Code that isl generates and the affine dialect cannot say."""


def affine_expression(expression: isl.AstExpr, names: Mapping[str, ir.AffineExpr]) -> ir.AffineExpr:
    """`expression` over `names`, iterators and parameters."""
    if expression.get_type() == isl.ast_expr_type.id:
        return names[expression.get_id().get_name()]
    if expression.get_type() == isl.ast_expr_type.int:
        return ir.AffineExpr.get_constant(int(str(expression.get_val())))
    return _combined(expression, [affine_expression(part, names) for part in _parts(expression)])


def _parts(expression: isl.AstExpr) -> list[isl.AstExpr]:
    return [expression.get_op_arg(at) for at in range(expression.get_op_n_arg())]


def _combined(expression: isl.AstExpr, parts: Sequence[ir.AffineExpr]) -> ir.AffineExpr:
    """The value of an operation whose operands are `parts`."""
    kind = expression.get_op_type()
    if kind == _Op.add:
        return parts[0] + parts[1]
    if kind == _Op.sub:
        return parts[0] - parts[1]
    if kind == _Op.minus:
        return parts[0] * -1
    if kind == _Op.mul:
        return parts[0] * parts[1]
    if kind in (_Op.fdiv_q, _Op.pdiv_q, _Op.div):
        return ir.AffineExpr.get_floor_div(parts[0], parts[1])
    if kind in (_Op.pdiv_r, _Op.zdiv_r):
        return ir.AffineExpr.get_mod(parts[0], parts[1])
    raise EmissionError(f"an index expression {expression.to_C_str()} that affine maps cannot hold")


def cases(expression: isl.AstExpr, names: Mapping[str, ir.AffineExpr]) -> list[Guarded]:
    """An index expression as values of which the first is meant whose constraints hold; the last has none."""
    if expression.get_type() != isl.ast_expr_type.op:
        return [([], affine_expression(expression, names))]
    kind, parts = expression.get_op_type(), _parts(expression)
    if kind in (_Op.cond, _Op.select):
        found = _either(parts[0], cases(parts[1], names), cases(parts[2], names), names)
    elif kind in _CONDITIONS:  # 1 where it holds
        found = _either(expression, _number(1), _number(0), names)
    else:
        found = []
        for chosen in product(*(cases(part, names) for part in parts)):
            guard = [constraint for own, _ in chosen for constraint in own]
            found += [([*guard, *own], value) for own, value in _values(expression, [value for _, value in chosen])]
    if len(found) > policy().limits.index_cases:
        raise EmissionError(f"an index expression {expression.to_C_str()} with more than {policy().limits.index_cases} cases")
    return found


_CONDITIONS = (_Op.eq, _Op.ge, _Op.gt, _Op.le, _Op.lt, _Op.and_, _Op.and_then, _Op.or_, _Op.or_else)


def _number(value: int) -> list[Guarded]:
    return [([], ir.AffineExpr.get_constant(value))]


def _either(
    condition: isl.AstExpr, first: Sequence[Guarded], second: Sequence[Guarded], names: Mapping[str, ir.AffineExpr]
) -> list[Guarded]:
    """The values of `first` where the condition holds, then those of `second`."""
    choices = conjunctions(condition, names)
    return [*(([*choice, *guard], value) for choice in choices for guard, value in first), *second]


def _values(expression: isl.AstExpr, parts: Sequence[ir.AffineExpr]) -> list[Guarded]:
    """The values of an operation: each operand where it is the extreme, or what affine expressions make of all."""
    kind = expression.get_op_type()
    if kind not in (_Op.min, _Op.max):
        return [([], _combined(expression, parts))]
    sign = 1 if kind == _Op.min else -1
    found = [([((other - one) * sign, False) for other in parts if other is not one], one) for one in parts]
    return [*found[:-1], ([], parts[-1])]


def bounds(expression: isl.AstExpr, kind: isl.ast_expr_op_type, names: Mapping[str, ir.AffineExpr]) -> list[ir.AffineExpr]:
    """The results of a bound's map: the arguments of nested `kind` (max for lower bounds, min for upper ones)."""
    if expression.get_type() == isl.ast_expr_type.op and expression.get_op_type() == kind:
        return [bound for part in _parts(expression) for bound in bounds(part, kind, names)]
    return [affine_expression(expression, names)]


def conjunctions(expression: isl.AstExpr, names: Mapping[str, ir.AffineExpr]) -> list[list[Constraint]]:
    """A condition as conjunctions of which one holds, in disjunctive normal form."""
    kind, parts = expression.get_op_type(), _parts(expression)
    if kind in (_Op.or_, _Op.or_else):
        return [found for part in parts for found in conjunctions(part, names)]
    if kind in (_Op.and_, _Op.and_then):
        choices = [conjunctions(part, names) for part in parts]
        return [[constraint for part in chosen for constraint in part] for chosen in product(*choices)]
    return [_constraints(expression, names)]


def _constraints(expression: isl.AstExpr, names: Mapping[str, ir.AffineExpr]) -> list[Constraint]:
    """A comparison."""
    kind = expression.get_op_type()
    if kind not in (_Op.eq, _Op.ge, _Op.gt, _Op.le, _Op.lt):
        raise EmissionError(f"a condition {expression.to_C_str()} that is no comparison of affine expressions")
    low, high = expression.get_op_arg(0), expression.get_op_arg(1)
    if kind == _Op.eq:
        return [(affine_expression(low, names) - affine_expression(high, names), True)]
    if kind in (_Op.ge, _Op.gt):
        low, high = high, low
    gap = int(kind in (_Op.gt, _Op.lt))
    lows, highs = bounds(low, _Op.max, names), bounds(high, _Op.min, names)
    return [(above - below - gap, False) for below in lows for above in highs]

"""Loops end where all elements that are left are excluded."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import affine, arith, ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of
from dlc.lowering.affine.ir.bands import loop_extents, same_trips
from dlc.lowering.affine.ir.expressions import Linear, linear_form, span
from dlc.lowering.affine.ir.loops import Bound, Loop, build_for, normalized, real_ops
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass

EXCLUDED = "dlc.excluded"
"""On an `arith.select`: where its condition fails, nothing that is computed of the result counts."""


@dataclass(frozen=True)
class SkipExcluded(Pass):
    """Leave out iterations over elements of scratch memory that do not count in any iteration of the rows around them.

    before: b { i to 16 { j to 512 { %c = j <= 16 b + i; %s = %c ? %v : -inf {dlc.excluded}; store %s, s[i, j] } }
                i to 16 { max over j to 512 of s[i, j] } }
    after:  b { i to 16 { j to 16 b + 16 { ... } }   i to 16 { max over j to 16 b + 16 of s[i, j] } }

    So causal attention works on the keys that some query of a block sees. All loops over the elements end there, those that
    compute them and those that read them. If one of these loops stores anything else, all keep their ends. Where the end is not
    known to lie within the elements for every block, nothing changes: of n open elements, it is for n / 16 blocks of 16 rows. The
    attribute is removed.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Shorten the loops of one function."""
        if not is_kernel(op):
            return
        marked = [inner for inner in nested_ops(op) if inner.name == "arith.select" and EXCLUDED in inner.attributes]
        for select in marked:
            del select.attributes[EXCLUDED]
        for select in marked:
            _shorten(select)


def _shorten(select: ir.Operation) -> None:
    stores = [use.owner.operation for use in select.results[0].uses if use.owner.name == "affine.store"]
    condition = defining_op(select.operands[0])
    if len(stores) != 1 or condition is None or condition.name != "arith.cmpi":
        return
    index, last = condition.operands
    limit = index_form(last)
    if ir.IntegerAttr(condition.attributes["predicate"]).value != int(arith.CmpIPredicate.sle) or limit is None:
        return
    store = access_of(stores[0])
    around = _scope(store.memref)
    axis = _axis_of(store, index)
    if around is None or axis is None:
        return
    loops = _loops_over(store.memref, axis, around)
    end = _end(limit, around, loops)
    if end is None:
        return
    for loop in loops:
        _end_at(loop, end)


def index_form(value: ir.Value) -> Linear | None:
    """An index as a linear form of induction variables."""
    op = defining_op(value)
    if op is None:
        return Linear({value: 1})
    if op.name == "arith.constant":
        return Linear({}, ir.IntegerAttr(op.attributes["value"]).value)
    if op.name == "affine.apply":
        indexing = op.attributes["map"].value
        return linear_form(indexing.results[0], indexing.n_dims, list(op.operands))
    if op.name == "arith.addi":
        lhs, rhs = (index_form(operand) for operand in op.operands)
        return lhs.plus(rhs) if lhs is not None and rhs is not None else None
    return None


def _scope(buffer: ir.Value) -> Loop | None:
    """The loop whose iterations have a `buffer` of their own each."""
    alloc = defining_op(buffer)
    if alloc is None or alloc.name not in ("memref.alloc", "memref.alloca"):
        return None
    parent = alloc.parent.operation
    return normalized(parent) if parent.name == "affine.for" else None


def _axis_of(access: MemRefAccess, iv: ir.Value) -> int | None:
    """The axis whose subscript is `iv`, where no other follows it."""
    forms = access.subscripts or ()
    following = [axis for axis, form in enumerate(forms) if form is None or form.of(iv)]
    if len(following) != 1:
        return None
    form = forms[following[0]]
    return following[0] if form is not None and dict(form.factors) == {iv: 1} and not form.constant else None


def _loops_over(buffer: ir.Value, axis: int, around: Loop) -> list[Loop]:
    """The loops over `axis` of `buffer` in `around`; none when some access has no such loop, or one of them does more."""
    found: dict[ir.Value, Loop] = {}
    users = [use.owner.operation for use in buffer.uses]
    for user in users:
        if user.name == "memref.dealloc":
            continue
        loop = _loop_of(user, axis, around) if user.name in ("affine.load", "affine.store") else None
        if loop is None or any(op.name.endswith(".store") and op not in users for op in nested_ops(loop.op)):
            return []
        found[loop.iv] = loop
    return list(found.values())


def _loop_of(user: ir.Operation, axis: int, around: Loop) -> Loop | None:
    """The loop inside `around` whose index is the subscript of `user` on `axis`."""
    access = access_of(user)
    parent = user.parent.operation
    while parent != around.op:
        loop = normalized(parent)
        if loop is not None and _axis_of(access, loop.iv) == axis:
            return loop
        parent = parent.parent.operation
    return None


def _end(limit: Linear, around: Loop, loops: list[Loop]) -> Bound | None:
    """Where `loops` may end: after the last element that counts in any iteration of the loops inside `around`."""
    reach = span(limit.without(around.iv), loop_extents(around.op).get)
    if reach is None or not loops or not all(same_trips(loop, loops[0]) for loop in loops):
        return None
    step, first = limit.of(around.iv), reach[1] + 1
    if step < 0 or first < 1 or not _ends_within(step, first, around, loops[0]):
        return None
    expression = ir.AffineDimExpr.get(0) * step + first
    return Bound(ir.AffineMap.get(1, 0, [expression]), (around.iv,)) if step else Bound.constant(first)


def _ends_within(step: int, first: int, around: Loop, loop: Loop) -> bool:
    """Whether `step` times the index of `around`, and `first`, is surely an iteration of `loop` or its end, and not always that."""
    if loop.extent is None:
        most = _iterations_each(around, loop)
        return 0 < step <= most and first <= most
    if around.extent is None:
        return False
    return first + max(step * (around.extent - 1), 0) <= loop.extent != first


def _iterations_each(around: Loop, loop: Loop) -> int:
    """How many iterations `loop`, of an open size, surely has for each one of `around`: the rows of a block, 1, or 0."""
    count, size = around.upper, loop.upper
    if count.operands != size.operands or (count.map.n_dims, count.map.n_symbols) != (size.map.n_dims, size.map.n_symbols):
        return 0
    rows, whole = count.map.results[0].maybe_downcast(), size.map.results[0]
    if rows == whole:
        return 1
    if not isinstance(rows, ir.AffineFloorDivExpr) or rows.lhs != whole:
        return 0
    divisor = rows.rhs.maybe_downcast()
    return divisor.value if isinstance(divisor, ir.AffineConstantExpr) else 0


def _end_at(loop: Loop, end: Bound) -> None:
    """Replace `loop` by one with another end."""
    with ir.InsertionPoint(loop.op), loop.op.location:
        made = build_for(Bound.constant(0), end, inits=loop.inits, parallel=loop.parallel)
    body = made.regions[0].blocks[0]
    for old, new in zip(loop.body.arguments, body.arguments, strict=True):
        old.replace_all_uses_with(new)
    with ir.InsertionPoint(body), loop.op.location:
        terminator = affine.AffineYieldOp(list(list(loop.body.operations)[-1].operands)).operation
    for op in real_ops(loop.body):
        op.move_before(terminator)
    for old, new in zip(loop.op.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    loop.op.erase()

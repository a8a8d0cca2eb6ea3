"""How loops over rows and columns go through arrays: over whole rows, or over windows that move along both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from dlc._mlir import affine, ir, memref
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of, accesses_in, are_apart, indices_of
from dlc.lowering.affine.ir.expressions import Linear, span
from dlc.lowering.affine.ir.loops import Bound, Loop, build_for, normalized, real_ops
from dlc.targets.machine import LINE_BYTES

_ACCESSES = ("affine.load", "affine.store")


@dataclass(frozen=True, eq=False)
class SlidingWindow:
    """A load at (row + others, column + others) of two axes, whose column or place on other axes the `dependent_loops` change.

    `low` is the least number of a row, `height` how many there are.
    """

    access: MemRefAccess
    row_axis: int
    dependent_loops: tuple[Loop, ...]
    low: int
    height: int
    columns: int

    @property
    def rows(self) -> int:
        """Rows of the copy."""
        return prod(_extent(loop) for loop in self.dependent_loops) * self.height

    @property
    def elements(self) -> int:
        """Elements of the copy."""
        return self.rows * self.columns


@dataclass(frozen=True, eq=False)
class RowLoops:
    """Two loops, one right inside the other, and the accesses that move with them.

    `flat` are accesses at (outer, inner) of two neighbouring axes, by the first of these. `iterations` run at most.
    """

    outer: Loop
    inner: Loop
    flat: tuple[tuple[MemRefAccess, int], ...]
    windows: tuple[SlidingWindow, ...]
    element_bits: int
    iterations: int

    @property
    def outer_extent(self) -> int:
        """The number of rows."""
        return _extent(self.outer)

    @property
    def inner_extent(self) -> int:
        """The number of columns."""
        return _extent(self.inner)


def rows_of(op: ir.Operation) -> RowLoops | None:
    """The loop `op` over rows; None where it is none, or another access than of whole rows or a window moves with it."""
    outer, inner = _nested_pair(op)
    loops = _loops_of(op)
    if outer is None or inner is None or loops is None:
        return None
    variables = (outer.iv, inner.iv)
    users = {use.owner.operation for variable in variables for use in variable.uses}
    if any(user.name not in _ACCESSES for user in users):
        return None
    accesses = [access_of(user) for user in nested_ops(op) if user in users]
    flat = [(access, axis) for access in accesses if (axis := _flat_axis(access, outer, inner)) is not None]
    taken = {access.op for access, _ in flat}
    windows = [_window(access, outer, inner, loops) for access in accesses if access.op not in taken]
    found = [window for window in windows if window is not None and not _is_written(window.access, top_of(op))]
    stored = [access for access, axis in flat if access.writes and axis + 2 == ir.MemRefType(access.memref.type).rank]
    if len(found) < len(windows) or not stored or any(_is_inside(access.memref, top_of(op)) for access in accesses):
        return None
    bits = getattr(ir.MemRefType(stored[0].memref.type).element_type, "width", 0)
    return RowLoops(outer, inner, tuple(flat), tuple(found), bits, _iterations(op, loops)) if bits >= 8 else None


def _nested_pair(op: ir.Operation) -> tuple[Loop | None, Loop | None]:
    """The loop `op` and the one that is all of its body, both from 0 to a number, with loops inside and none of a value."""
    outer = normalized(op)
    body = [] if outer is None else real_ops(outer.body)
    inner = normalized(body[0]) if len(body) == 1 else None
    if outer is None or inner is None or outer.inits or inner.inits or not outer.extent or not inner.extent:
        return None, None
    has_loops = any(one.name == "affine.for" for one in nested_ops(inner.op)[1:])
    return (outer, inner) if has_loops else (None, None)


def top_of(op: ir.Operation) -> ir.Operation:
    """The outermost op around `op`, or itself, that is in no other than the function."""
    while op.parent.operation.name != "func.func":
        op = op.parent.operation
    return op


def _loops_of(op: ir.Operation) -> dict[ir.Value, Loop] | None:
    """All loops around and inside of `op`, the outermost first, by variable; None where one has no known range."""
    around: list[ir.Operation] = []
    parent = op.parent.operation
    while parent.name == "affine.for":
        around.insert(0, parent)
        parent = parent.parent.operation
    if parent.name != "func.func":
        return None
    found = [normalized(one) for one in (*around, *(one for one in nested_ops(op) if one.name == "affine.for"))]
    known = [loop for loop in found if loop is not None and loop.extent]
    return {loop.iv: loop for loop in known} if len(known) == len(found) else None


def _extent(loop: Loop) -> int:
    assert loop.extent is not None
    return loop.extent


def _iterations(op: ir.Operation, loops: Mapping[ir.Value, Loop]) -> int:
    """How often the innermost code in `op` runs."""
    around, parent = 1, op.parent.operation
    while parent.name == "affine.for":
        around *= _extent(loops[parent.regions[0].blocks[0].arguments[0]])
        parent = parent.parent.operation
    return around * _runs(op, loops)


def _runs(op: ir.Operation, loops: Mapping[ir.Value, Loop]) -> int:
    inside = [one for one in real_ops(op.regions[0].blocks[0]) if one.name == "affine.for"]
    return _extent(loops[op.regions[0].blocks[0].arguments[0]]) * max((_runs(one, loops) for one in inside), default=1)


def _forms(access: MemRefAccess) -> list[Linear] | None:
    """The subscripts, if all are linear."""
    forms = [form for form in access.subscripts or () if form is not None]
    return forms if access.subscripts is not None and len(forms) == len(access.subscripts) else None


def _flat_axis(access: MemRefAccess, outer: Loop, inner: Loop) -> int | None:
    """The axis that `outer` alone goes along, if `inner` alone goes along all of the next, and rows follow each other."""
    forms, kind = _forms(access), ir.MemRefType(access.memref.type)
    moved = [] if forms is None else [axis for axis, form in enumerate(forms) if form.of(outer.iv) or form.of(inner.iv)]
    if forms is None or len(moved) != 2 or moved[1] != moved[0] + 1 or not isinstance(kind.layout, ir.AffineMapAttr):
        return None
    is_whole = forms[moved[0]] == Linear({outer.iv: 1}) and forms[moved[1]] == Linear({inner.iv: 1})
    is_seamless = kind.layout.value == ir.AffineMap.get_identity(kind.rank) and kind.shape[moved[1]] == inner.extent
    return moved[0] if is_whole and is_seamless and kind.has_static_shape else None


def _window(access: MemRefAccess, outer: Loop, inner: Loop, loops: Mapping[ir.Value, Loop]) -> SlidingWindow | None:
    """The window that a load reads; None where it is none."""
    forms = _forms(access)
    if forms is None or access.writes:
        return None
    rows = [axis for axis, form in enumerate(forms) if form.of(outer.iv)]
    columns = [axis for axis, form in enumerate(forms) if form.of(inner.iv)]
    if len(rows) != 1 or len(columns) != 1 or rows == columns:
        return None
    row, column = forms[rows[0]], forms[columns[0]]
    rest = row.without(outer.iv)
    elsewhere = {value for axis, form in enumerate(forms) if axis != rows[0] for value in form.factors if value != inner.iv}
    is_plain = row.of(outer.iv) == 1 and column.of(inner.iv) == 1 and not elsewhere & set(rest.factors)
    if not is_plain or not (elsewhere | set(rest.factors)) <= set(loops):
        return None
    ends = span(row, lambda value: loops[value].extent)
    assert ends is not None
    dependent_loops = tuple(loop for value, loop in loops.items() if value in elsewhere)
    return SlidingWindow(access, rows[0], dependent_loops, ends[0], ends[1] - ends[0] + 1, _extent(inner))


def _is_written(access: MemRefAccess, top: ir.Operation) -> bool:
    return any(one.writes and not are_apart(one.root, access.root) for one in accesses_in(top))


def _is_inside(value: ir.Value, op: ir.Operation) -> bool:
    """Whether a value comes from inside of `op`."""
    owner = value.owner.owner.operation if isinstance(value, ir.BlockArgument) else value.owner.operation
    while owner != op and owner.name != "func.func":
        owner = owner.parent.operation
    return bool(owner == op)


def merge_accesses(rows: RowLoops, function: ir.Operation) -> None:
    """Let the accesses take the inner loop's variable for the number of an element from the first row on."""
    top = top_of(rows.outer.op)
    views: dict[tuple[ir.Value, int], ir.Value] = {}
    for access, axis in rows.flat:
        key = access.memref, axis
        if key not in views:
            views[key] = without_rows(access.memref, axis, ir.InsertionPoint(top))
        forms = [form for at, form in enumerate(_forms(access) or ()) if at != axis]
        redirect(access.op, views[key], forms)
    for window in rows.windows:
        buffer = _copied(window, rows, function, top)
        row = (_forms(window.access) or [])[window.row_axis].without(rows.outer.iv)
        place = Linear({rows.inner.iv: 1}, -window.low * window.columns).plus(row, window.columns)
        redirect(window.access.op, buffer, [*(Linear({loop.iv: 1}) for loop in window.dependent_loops), place])


def without_rows(value: ir.Value, axis: int, place: ir.InsertionPoint) -> ir.Value:
    """A view at `place` of the memref `value`, whose rows follow each other, with axes `axis` and the next as one."""
    kind = ir.MemRefType(value.type)
    is_open = any(kind.is_dynamic_dim(at) for at in (axis, axis + 1))
    count = ir.ShapedType.get_dynamic_size() if is_open else kind.shape[axis] * kind.shape[axis + 1]
    shape = [*kind.shape[:axis], count, *kind.shape[axis + 2 :]]
    groups = [[at] for at in range(axis)] + [[axis, axis + 1]] + [[at] for at in range(axis + 2, kind.rank)]
    with value.location, place:
        number = ir.IntegerType.get_signless(64)
        attribute = ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(number, at) for at in group]) for group in groups])
        view = ir.MemRefType.get(shape, kind.element_type, memory_space=kind.memory_space)
        return ir.Operation.create("memref.collapse_shape", [view], [value], {"reassociation": attribute}).results[0]


def _copied(window: SlidingWindow, rows: RowLoops, function: ir.Operation, before: ir.Operation) -> ir.Value:
    """A buffer with the rows that a window reads, for each iteration of its dependent loops, and the loops that fill it."""
    kind = ir.MemRefType(window.access.memref.type)
    block = function.regions[0].blocks[0]
    shape = [*(_extent(loop) for loop in window.dependent_loops), window.height * window.columns]
    with window.access.op.location:
        view = ir.MemRefType.get(shape, kind.element_type)
        buffer = memref.AllocOp(view, [], [], alignment=LINE_BYTES, ip=ir.InsertionPoint.at_block_begin(block)).result
        memref.DeallocOp(buffer, ip=ir.InsertionPoint.at_block_terminator(block))
        variables: list[ir.Value] = []
        place = ir.InsertionPoint(before)
        for extent in (*(_extent(loop) for loop in window.dependent_loops), window.height, window.columns):
            with place:
                loop = build_for(Bound.constant(0), Bound.constant(extent), parallel=True)
            body = loop.regions[0].blocks[0]
            affine.AffineYieldOp([], ip=ir.InsertionPoint(body))
            variables.append(body.arguments[0])
            place = ir.InsertionPoint.at_block_terminator(body)
        _copy_element(window, rows, buffer, variables, place)
    return buffer


def _copy_element(
    window: SlidingWindow, rows: RowLoops, buffer: ir.Value, variables: Sequence[ir.Value], place: ir.InsertionPoint
) -> None:
    """Copy one element, where the dependent loops, rows and columns have the values `variables`."""
    *others, y, x = variables
    names = {loop.iv: other for loop, other in zip(window.dependent_loops, others, strict=True)} | {rows.inner.iv: x}
    forms = [form.renamed(names) for form in _forms(window.access) or ()]
    forms[window.row_axis] = Linear({y: 1}, window.low)
    target = [*(Linear({other: 1}) for other in others), Linear({y: window.columns, x: 1})]
    kind = ir.MemRefType(buffer.type).element_type
    with place:
        map, operands = _map_of(forms)
        loaded = ir.Operation.create("affine.load", [kind], [window.access.memref, *operands], {"map": map}).results[0]
        map, operands = _map_of(target)
        ir.Operation.create("affine.store", [], [loaded, buffer, *operands], {"map": map})


def _map_of(forms: Sequence[Linear]) -> tuple[ir.AffineMapAttr, list[ir.Value]]:
    """Linear forms as a map and its operands."""
    operands = list(dict.fromkeys(value for form in forms for value in form.factors))
    results = []
    for form in forms:
        result: ir.AffineExpr = ir.AffineExpr.get_constant(form.constant)
        for value, factor in form.factors.items():
            result = result + ir.AffineExpr.get_dim(operands.index(value)) * factor
        results.append(result)
    return ir.AffineMapAttr.get(ir.AffineMap.get(len(operands), 0, results)), operands


def redirect(op: ir.Operation, buffer: ir.Value, forms: Sequence[Linear]) -> None:
    """Replace a load or store by one at `forms` of `buffer`."""
    map, operands = _map_of(forms)
    given = [*list(op.operands)[: len(op.operands) - len(indices_of(op)) - 1], buffer, *operands]
    attributes = dict(op.attributes.items()) | {"map": map}
    kinds = [result.type for result in op.results]
    new = ir.Operation.create(op.name, kinds, given, attributes, loc=op.location, ip=ir.InsertionPoint(op))
    for result, other in zip(op.results, new.results, strict=True):
        result.replace_all_uses_with(other)
    op.erase()

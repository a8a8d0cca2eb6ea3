"""Finds buffers that only hold a padded copy of another buffer, so that readers can take what they need from that one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops, root_of, strides_of, written_roots
from dlc.lowering.affine.ir.accesses import access_of, are_apart
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.forwarding import local_users
from dlc.lowering.affine.ir.loops import Bound, Loop, normalized


@dataclass(frozen=True)
class Inside:
    """The part of one axis of a padded buffer that holds the source: elements `begin` to `begin + extent`, of `size`.

    An extent that run time knows is `count`, a size `total`; `extent` and `size` say nothing then.
    """

    begin: int
    extent: int
    size: int
    count: Bound | None = None
    total: Bound | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the axis surely has no padding."""
        return self.begin == 0 and (self.extent == self.size if self.count is None else self.count == self.total)


@dataclass(frozen=True)
class PaddedCopy:
    """A local buffer that holds `fill` everywhere but in a box, which is a copy of `source`.

    The element `begin + p` of the box is `source[forms(p)]`: `forms` are linear in the induction variables `ivs`, which
    stand for the places `p` along each axis (None: the axis has one element and no padding).
    """

    buffer: ir.Value
    fill: ir.Attribute
    source: ir.Value
    axes: tuple[Inside, ...]
    ivs: tuple[ir.Value | None, ...]
    forms: tuple[Linear, ...]

    @property
    def has_whole_rows(self) -> bool:
        """Whether the box has all elements of each row of `source` that it takes, along its last axis."""
        last, extent = self.forms[-1], ir.MemRefType(self.source.type).shape[len(self.forms) - 1]
        counts = self.ivs[-1] is not None and last.factors == {self.ivs[-1]: 1} and self.axes[-1].count is None
        return counts and last.constant == 0 and self.axes[-1].extent == extent

    @property
    def has_known_sizes(self) -> bool:
        """Whether no size waits for run time."""
        return all(axis.count is None and axis.total is None for axis in self.axes)

    def source_forms(self, places: Sequence[Linear]) -> list[Linear]:
        """The subscripts of `source` for the element of the buffer at `places`, which lies in the box."""
        found = []
        for form in self.forms:
            total = Linear({}, form.constant)
            for iv, place, axis in zip(self.ivs, places, self.axes, strict=True):
                if iv is not None and form.of(iv):
                    total = total.plus(place.plus(Linear({}, -axis.begin)), form.of(iv))
            found.append(total)
        return found

    def source_stride(self, places: Sequence[Linear], iv: ir.Value) -> int | None:
        """Elements by which the place in `source` moves that stands for `places`, when `iv` grows by one; None where not fixed."""
        strides, _ = strides_of(ir.MemRefType(self.source.type))
        moves = [(form.of(iv), stride) for form, stride in zip(self.source_forms(places), strides, strict=True)]
        if any(factor and stride == ir.ShapedType.get_dynamic_stride_or_offset() for factor, stride in moves):
            return None
        return sum(factor * stride for factor, stride in moves if factor)


def padded_copies(function: ir.Operation) -> dict[ir.Value, PaddedCopy]:
    """Every padded copy that `function` makes of a buffer that it surely does not write, by the local buffer."""
    written = written_roots(function)
    found = {}
    for op in nested_ops(function):
        if op.name == "memref.alloc":
            copy = _copy_of(op)
            if copy is not None and all(are_apart(root, root_of(copy.source)) for root in written):
                found[copy.buffer] = copy
    return found


def _copy_of(alloc: ir.Operation) -> PaddedCopy | None:
    users = local_users(alloc)
    stores = [user for user in users or [] if user.name == "affine.store"]
    if len(stores) != 2 or any(user.name not in ("affine.store", "affine.load") for user in users or []):
        return None
    fill, copy = stores
    if filled_with(fill, alloc.results[0]) is None:
        fill, copy = copy, fill
    value = filled_with(fill, alloc.results[0])
    load = defining_op(copy.operands[0])
    if value is None or load is None or load.name != "affine.load" or not _before(fill, copy):
        return None
    if not all(_before(copy, user) for user in users or [] if user.name == "affine.load"):
        return None
    box = box_of(copy, alloc.results[0])
    forms = access_of(load).subscripts
    if box is None or forms is None:
        return None
    axes, ivs = box
    # Vectors that begin before the box need the subscript that moves along each padded axis, which one element does not show.
    if any(iv is None and not axis.is_whole for axis, iv in zip(axes, ivs, strict=True)):
        return None
    known = {iv for iv in ivs if iv is not None}
    if any(form is None or not set(form.factors) <= known for form in forms):
        return None
    return PaddedCopy(alloc.results[0], value, load.operands[0], axes, ivs, tuple(form for form in forms if form is not None))


def filled_with(store: ir.Operation, buffer: ir.Value) -> ir.Attribute | None:
    """The constant that `store` and the loops around it put into every element of `buffer`."""
    constant = defining_op(store.operands[0])
    if constant is None or constant.name != "arith.constant" or store.operands[1] != buffer:
        return None
    box = box_of(store, buffer)
    return constant.attributes["value"] if box and all(axis.is_whole for axis in box[0]) else None


def box_of(store: ir.Operation, buffer: ir.Value) -> tuple[tuple[Inside, ...], tuple[ir.Value | None, ...]] | None:
    """The elements of `buffer` that `store` writes, and the induction variable that counts along each axis."""
    begins = _offsets(store.operands[1], buffer)
    subscripts = access_of(store).subscripts
    if begins is None or subscripts is None:
        return None
    axes: list[Inside] = []
    ivs: list[ir.Value | None] = []
    for axis, (form, begin) in enumerate(zip(subscripts, begins, strict=True)):
        loop = _counting(form) if form is not None and form.factors else None
        if form is None or (form.factors and loop is None):
            return None
        axes.append(_inside(begin + form.constant, loop, buffer, axis))
        ivs.append(loop.iv if loop is not None else None)
    given = [iv for iv in ivs if iv is not None]
    loops = _loops_around(store)
    if len(set(given)) < len(given) or not all(iv in given for iv in loops):
        return None
    return tuple(axes), tuple(ivs)


def _inside(begin: int, loop: Loop | None, buffer: ir.Value, axis: int) -> Inside:
    """The places from `begin` on that `loop` counts along an axis of `buffer`; no loop is one element."""
    size = ir.MemRefType(buffer.type).shape[axis]
    total = _size(buffer, axis)
    if loop is None or loop.extent is not None:
        return Inside(begin, 1 if loop is None or loop.extent is None else loop.extent, size, total=total)
    return Inside(begin, 0, size, loop.upper, total)


def _size(buffer: ir.Value, axis: int) -> Bound | None:
    """The size of an allocated buffer that is given along an axis."""
    kind = ir.MemRefType(buffer.type)
    alloc = defining_op(buffer)
    if alloc is None or not kind.is_dynamic_dim(axis):
        return None
    return Bound.symbol(alloc.operands[sum(kind.is_dynamic_dim(before) for before in range(axis))])


def _counting(form: Linear) -> Loop | None:
    """The loop that moves a subscript by one element a step."""
    (iv, factor), *more = form.factors.items()
    owner = iv.owner if isinstance(iv, ir.BlockArgument) else None
    loop = normalized(owner.owner.operation) if owner is not None and owner.owner.name == "affine.for" else None
    if more or factor != 1 or loop is None or loop.iv != iv:
        return None
    return loop if loop.extent is not None or not loop.upper.map.n_dims else None


def _loops_around(op: ir.Operation) -> list[ir.Value]:
    """The induction variables of the loops that hold `op`."""
    found = []
    parent = op.parent
    while parent is not None and parent.operation.name == "affine.for":
        found.append(parent.operation.regions[0].blocks[0].arguments[0])
        parent = parent.operation.parent
    return found


def _offsets(value: ir.Value, buffer: ir.Value) -> list[int] | None:
    """Where `value`, the buffer itself or a box of it with steps of one, begins at known places; None for other views."""
    if value == buffer:
        return [0] * ir.MemRefType(buffer.type).rank
    view = defining_op(value)
    if view is None or view.name != "memref.subview" or view.operands[0] != buffer:
        return None
    _, given_offsets, _, given_strides = view.attributes["operandSegmentSizes"]
    if given_offsets or given_strides or any(step != 1 for step in view.attributes["static_strides"]):
        return None
    offsets = list(view.attributes["static_offsets"])
    return offsets if len(offsets) == ir.MemRefType(value.type).rank else None


def _before(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether all of the nest of `first` runs before that of `second`, in each iteration of the loops around both."""
    firsts, seconds = ancestors(first), ancestors(second)
    while len(firsts) > 1 and len(seconds) > 1 and firsts[-1] == seconds[-1]:
        firsts.pop()
        seconds.pop()
    a, b = firsts[-1], seconds[-1]
    return a.block == b.block and a.is_before_in_block(b)


def ancestors(op: ir.Operation) -> list[ir.Operation]:
    """`op` and the loops around it, from the inside out."""
    found = [op]
    while found[-1].parent is not None and found[-1].parent.operation.name == "affine.for":
        found.append(found[-1].parent.operation)
    return found

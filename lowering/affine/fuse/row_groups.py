"""Finds nests that pass rows of a local buffer from one contraction to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.lowering.affine.dependences.nest_dependences import NestDependences
from dlc.lowering.affine.fuse.fusion import holds_contraction, reuses
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.bands import Band, same_trips
from dlc.lowering.affine.ir.forwarding import local_users
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.affine.ir.loops import Loop, real_ops


@dataclass(frozen=True)
class RowNest:
    """A nest and its loop over rows."""

    band: Band
    loop: Loop


@dataclass(frozen=True)
class RowGroup:
    """Nests, in order, that work row by row on what the first one stores; dependences stay within a row.

    `buffers` gives, for each buffer that is known to be accessed by rows only, the axis of rows. `row_bytes` is the size of a
    row of what the first nest passes on, None when it is not known.
    """

    nests: tuple[RowNest, ...]
    buffers: dict[ir.Value, int]
    row_bytes: int | None

    @property
    def rows(self) -> Loop:
        """A loop over all rows."""
        return self.nests[0].loop

    @property
    def local_buffers(self) -> list[ir.Operation]:
        """The allocations among `buffers` that only these nests use."""
        owners = [defining_op(buffer) for buffer in self.buffers]
        return [op for op in owners if op is not None and op.name == "memref.alloc" and self._is_own(op)]

    def _is_own(self, alloc: ir.Operation) -> bool:
        users = local_users(alloc)
        own = [access.op for nest in self.nests for access in nest.band.accesses if access.memref == alloc.results[0]]
        return users is not None and len(users) == len(own)


def row_groups(block: ir.Block) -> Iterator[RowGroup]:
    """The groups of nests of `block`, of which none is in two groups."""
    bands = [band for op in real_ops(block) if op.name == "affine.for" and (band := Band.at(op)) is not None]
    first = 0
    while first < len(bands):
        group = next((found for found in _groups_from(bands[first:])), None)
        if group is not None:
            yield group
        first += len(group.nests) if group is not None else 1


def _groups_from(bands: Sequence[Band]) -> Iterator[RowGroup]:
    """The groups that begin with the first of `bands`, a contraction that stores rows into a local buffer; inner loops first."""
    if not holds_contraction(bands[0]):
        return
    for access in bands[0].accesses:
        owner = defining_op(access.memref)
        if not access.writes or access.subscripts is None or owner is None or owner.name != "memref.alloc":
            continue
        for loop in reversed(bands[0].loops):
            axis = _axis_of(access, loop)
            if axis is not None and reuses(bands[0], loop):
                group = _follow(bands, RowNest(bands[0], loop), access, axis)
                if group is not None:
                    yield group


def _follow(bands: Sequence[Band], first: RowNest, start: MemRefAccess, axis: int) -> RowGroup | None:
    """The nests that go on with the rows of `start`, if another contraction over them is among these."""
    nests, buffers = [first], {start.memref: axis}
    _add_stored(nests[0], buffers)
    for band in bands[1:]:
        loop = _rows_of(band, buffers)
        if loop is None or not same_trips(first.loop, loop) or not all(_by_rows(nest, RowNest(band, loop)) for nest in nests):
            break
        nests.append(RowNest(band, loop))
        _add_stored(nests[-1], buffers)
    ends = [n for n, nest in enumerate(nests) if n and holds_contraction(nest.band) and reuses(nest.band, nest.loop)]
    return RowGroup(tuple(nests), buffers, _row_bytes(first, start)) if ends else None


def _rows_of(band: Band, buffers: dict[ir.Value, int]) -> Loop | None:
    """The loop of `band` over the rows of `buffers`, the same wherever it touches them."""
    found: Loop | None = None
    for access in band.accesses:
        if access.memref not in buffers:
            continue
        loop = next((loop for loop in band.loops if _axis_of(access, loop) == buffers[access.memref]), None)
        if loop is None or (found is not None and loop is not found):
            return None
        found = loop
    return found


def _axis_of(access: MemRefAccess, loop: Loop) -> int | None:
    """The axis whose subscript is the index of `loop`, where no other subscript follows it."""
    forms = access.subscripts or ()
    following = [axis for axis, form in enumerate(forms) if form is None or form.of(loop.iv)]
    if len(following) != 1:
        return None
    form = forms[following[0]]
    return following[0] if form is not None and dict(form.factors) == {loop.iv: 1} and not form.constant else None


def _add_stored(nest: RowNest, buffers: dict[ir.Value, int]) -> None:
    for access in nest.band.accesses:
        axis = _axis_of(access, nest.loop)
        if access.writes and axis is not None:
            buffers.setdefault(access.memref, axis)


def _by_rows(a: RowNest, b: RowNest) -> bool:
    """Whether every dependence between two nests stays within a row."""
    between = NestDependences.of(a.band.top, a.band.accesses, b.band.top, b.band.accesses)
    return between.allow_fusion(a.loop, b.loop)


def _row_bytes(nest: RowNest, stored: MemRefAccess) -> int | None:
    """Bytes of a row of the buffer that `stored` goes to: what the loops inside the one over rows reach."""
    size = (element_bits(ir.MemRefType(stored.memref.type).element_type) or 64) // 8
    loops = nest.band.loops
    for loop in loops[loops.index(nest.loop) + 1 :]:
        if any(form is not None and form.of(loop.iv) for form in stored.subscripts or ()):
            if loop.extent is None:
                return None
            size *= loop.extent
    return size

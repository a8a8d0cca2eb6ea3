"""Rows that pass from one contraction to another are worked on in blocks."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.lowering.affine.fuse.row_groups import RowGroup, RowNest, row_groups
from dlc.lowering.affine.ir.bands import Band
from dlc.lowering.affine.ir.loops import Bound, Loop, apply, build_for, real_ops
from dlc.lowering.affine.ir.viewed_buffers import allocate_as_viewed
from dlc.lowering.native import run_native
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine, facts_of, is_for_gpu


@dataclass(frozen=True)
class BlockRows(Pass):
    """Cut the loop over the rows that nests pass on between two contractions into blocks that fit into the first-level cache.

    before: i to 512 { j { s[i, j] = sum of q * k } }           i to 512 { t[i] = max over j }  i to 512 { d { sum of s * v } }
    after:  b to 32 { i to 16 { j { s[16 b + i, j] = ... } } }  b to 32 { i to 16 { ... } }     b to 32 { i to 16 { d { ... } } }

    Then `affine-fuse-nests` makes one loop of those over blocks: attention keeps the scores of some queries at a time, while a
    block has rows enough for the register tiles of both products. Rows that are left over become nests of their own, in blocks of
    the rows of a register tile as far as there are so many. Nests for a GPU stay as they are: its rows run at the same time.
    """

    anchor = "func.func"

    rows: int = option(0, "rows of a block; 0: as many as fit, 8 to 32")

    def run(self, op: ir.Operation) -> None:
        """Block the rows of one function."""
        if self.rows < 0:
            raise PassFailure(op, f"blocks of {self.rows} rows", "give 0 or more")
        if not is_kernel(op) or not len(op.regions[0].blocks) or (is_for_gpu(op) and not self.rows):
            return
        block = op.regions[0].blocks[0]
        allocate_as_viewed(block)
        groups = list(row_groups(block))
        cache = _bytes_of_block(facts_of(op))
        blocked = [_block(group, self.rows or _rows_that_fit(group, cache)) for group in groups]
        if any(blocked):
            run_native(op, "canonicalize")


def _bytes_of_block(facts: Machine) -> int:
    """How many bytes the rows of a block may have on the target."""
    return int(facts.l1_bytes * (policy().blocks.working_share if facts.has_many_registers else policy().fusion.full_l1_share))


def _rows_that_fit(group: RowGroup, cache: int) -> int:
    """The rows of a block: all if they fit, else a multiple of those of a register tile, if possible with none left over."""
    extent, upper = group.rows.extent, group.rows.upper
    if group.row_bytes is None:
        return policy().fusion.unknown_block_rows
    if extent is not None and extent * group.row_bytes <= cache:
        return extent
    most = max(policy().fusion.tile_rows, min(policy().fusion.most_block_rows, cache // max(1, group.row_bytes)))
    counts = range(most - most % policy().fusion.tile_rows, 0, -policy().fusion.tile_rows)
    return next((rows for rows in counts if upper.is_multiple_of(rows) and 2 * rows > most), counts[0])


def _block(group: RowGroup, rows: int) -> bool:
    """Cut the loops of `group`; returns whether it did."""
    if group.rows.most is not None and group.rows.most < 2 * max(1, rows):
        return False
    rest: RowGroup | None = None
    if not group.rows.upper.is_multiple_of(rows):
        if not _is_closed(group):
            return False
        rest = _split_off_rest(group, rows)
    for nest in group.nests:
        _cut(nest.loop, rows)
    if rest is not None:
        _block_rest(rest, rows)
    return True


def _block_rest(rest: RowGroup, rows: int) -> None:
    """Cut the loops over what blocks of `rows` leave into blocks of a register tile's rows, if there are so many."""
    tile = policy().fusion.tile_rows
    if tile >= rows or (rest.rows.most is not None and rest.rows.most < tile):
        return
    if not rest.rows.upper.is_multiple_of(tile):
        _split_off_rest(rest, tile)
    for nest in rest.nests:
        _cut(nest.loop, tile)


def _is_closed(group: RowGroup) -> bool:
    """Whether no other nest stands between those of `group`, and each buffer that they pass rows in is theirs alone."""
    ops = real_ops(group.nests[0].band.top.block)
    first, last = (ops.index(nest.band.top) for nest in (group.nests[0], group.nests[-1]))
    own = [nest.band.top for nest in group.nests]
    free = ("arith.", "math.", "memref.", "affine.apply")
    return all(op in own or (op.name.startswith(free) and op.name != "memref.copy") for op in ops[first : last + 1])


def _split_off_rest(group: RowGroup, rows: int) -> RowGroup:
    """Let nests after those of `group`, which are returned, work on the rows beyond the last whole block."""
    last = group.nests[-1].band.top
    block = last.block
    ops = real_ops(block)
    between = ops[ops.index(group.nests[0].band.top) : ops.index(last)]
    own = group.local_buffers
    point = ops[ops.index(last) + 1] if last != ops[-1] else list(block.operations)[-1].operation
    copies: dict[ir.Value, ir.Value] = {}
    with ir.InsertionPoint(point), last.location:
        for alloc in own:
            made = _allocate_rest(alloc, group.buffers[alloc.results[0]], group.rows, rows)
            copies[alloc.results[0]] = made
        clones = [nest.band.top.clone() for nest in group.nests]
        for made in copies.values():
            ir.Operation.create("memref.dealloc", operands=[made])
    nests = [_keep_rest(nest, each.operation, rows, copies, group.buffers) for nest, each in zip(group.nests, clones, strict=True)]
    for op in between:
        if op.name == "memref.dealloc":
            op.move_before(point)
    return RowGroup(tuple(nests), {copies.get(buffer, buffer): axis for buffer, axis in group.buffers.items()}, group.row_bytes)


def _allocate_rest(alloc: ir.Operation, axis: int, loop: Loop, rows: int) -> ir.Value:
    """A buffer like `alloc` for the rows beyond the last whole block."""
    old = ir.MemRefType(alloc.results[0].type)
    shape, sizes = list(old.shape), list(alloc.operands)
    if not old.is_dynamic_dim(axis):
        shape[axis] = shape[axis] % rows
    elif loop.extent is None:
        place = [each for each in range(old.rank) if old.is_dynamic_dim(each)].index(axis)
        dims = loop.upper.map
        rest = ir.AffineExpr.get_mod(dims.results[0], rows)
        sizes[place] = apply(ir.AffineMap.get(dims.n_dims, dims.n_symbols, [rest]), loop.upper.operands)
    kind = ir.MemRefType.get(shape, old.element_type)
    segments = ir.DenseI32ArrayAttr.get([len(sizes), 0])
    attributes = {"operandSegmentSizes": segments}
    return ir.Operation.create("memref.alloc", results=[kind], operands=sizes, attributes=attributes).results[0]


def _keep_rest(
    nest: RowNest, clone: ir.Operation, rows: int, copies: dict[ir.Value, ir.Value], axes: dict[ir.Value, int]
) -> RowNest:
    """Leave the rows beyond the last whole block to `clone`, a copy of `nest` that works in buffers of its own."""
    depth, top = nest.band.loops.index(nest.loop), clone
    for _ in range(depth):
        clone = real_ops(clone.regions[0].blocks[0])[0]
    upper, whole = nest.loop.upper, nest.loop.upper.rounded_down(rows)
    rest = ir.AffineMap.get(upper.map.n_dims, upper.map.n_symbols, [ir.AffineExpr.get_mod(upper.map.results[0], rows)])
    if upper.static is not None:
        rest = ir.AffineMap.get_constant(upper.static % rows)
    with ir.InsertionPoint(clone), clone.location:
        made = build_for(Bound.constant(0), Bound(rest, upper.operands), parallel=True)
    block, old = made.regions[0].blocks[0], clone.regions[0].blocks[0]
    with ir.InsertionPoint(block), clone.location:
        end = affine.AffineYieldOp([]).operation
    for op in real_ops(old):
        op.move_before(end)
    for op in [inner for inner in _accesses(block) if _buffer(inner) in copies]:
        _redirect(op, copies[_buffer(op)], axes[_buffer(op)], old.arguments[0], block.arguments[0])
    first = real_ops(block)[0]
    with ir.InsertionPoint(first), clone.location:
        expression = ir.AffineDimExpr.get(whole.map.n_dims) + whole.map.results[0]
        dims = [*whole.operands[: whole.map.n_dims], block.arguments[0], *whole.operands[whole.map.n_dims :]]
        row = affine.AffineApplyOp(ir.AffineMap.get(whole.map.n_dims + 1, whole.map.n_symbols, [expression]), dims).result
    old.arguments[0].replace_all_uses_with(row)
    clone.erase()
    band = Band.at(top if depth else made)
    assert band is not None  # as that of `nest` was
    return RowNest(band, band.loops[depth])


def _accesses(block: ir.Block) -> list[ir.Operation]:
    found: list[ir.Operation] = []
    for op in real_ops(block):
        if op.name in ("affine.load", "affine.store"):
            found.append(op)
        for region in op.regions:
            for inner in region.blocks:
                found.extend(_accesses(inner))
    return found


def _buffer(op: ir.Operation) -> ir.Value:
    return op.operands[op.name == "affine.store"]


def _redirect(op: ir.Operation, buffer: ir.Value, axis: int, old: ir.Value, new: ir.Value) -> None:
    """Let `op` access `buffer`, whose rows begin at 0: the index `new` stands for `old`."""
    op.operands[int(op.name == "affine.store")] = buffer
    for place, operand in enumerate(op.operands):
        if operand == old:
            op.operands[place] = new


def _cut(loop: Loop, rows: int) -> None:
    """Replace `loop`, as far as whole blocks go, by one over blocks and one over the `rows` of a block."""
    upper = loop.upper
    blocks = ir.AffineMap.get(upper.map.n_dims, upper.map.n_symbols, [ir.AffineExpr.get_floor_div(upper.map.results[0], rows)])
    if upper.static is not None:
        blocks = ir.AffineMap.get_constant(upper.static // rows)
    with ir.InsertionPoint(loop.op), loop.op.location:
        outer = build_for(Bound.constant(0), Bound(blocks, upper.operands), parallel=True)
        with ir.InsertionPoint(outer.regions[0].blocks[0]):
            inner = build_for(Bound.constant(0), Bound.constant(rows), parallel=True)
            affine.AffineYieldOp([])
        body = inner.regions[0].blocks[0]
        with ir.InsertionPoint(body):
            ivs = [outer.regions[0].blocks[0].arguments[0], body.arguments[0]]
            row = apply(ir.AffineMap.get(2, 0, [ir.AffineDimExpr.get(0) * rows + ir.AffineDimExpr.get(1)]), ivs)
            end = affine.AffineYieldOp([]).operation
    for op in real_ops(loop.body):
        op.move_before(end)
    loop.iv.replace_all_uses_with(row)
    loop.op.erase()

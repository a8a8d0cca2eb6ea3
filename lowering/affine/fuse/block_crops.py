"""What follows an image that is made in blocks of rows, some of which lie beyond its last row, works on the blocks, too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.lowering.affine.ir.accesses import indices_of
from dlc.lowering.affine.ir.forwarding import local_users
from dlc.lowering.affine.ir.loops import Bound, Loop, apply, build_for, normalized, real_ops
from dlc.lowering.affine.ir.padding import ancestors
from dlc.lowering.native import run_native
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import is_for_gpu

_VIEWS = ("memref.collapse_shape", "memref.subview")


@dataclass(frozen=True)
class BlockCrops(Pass):
    """Cut the loop over rows of a nest that reads the crop of an image by the blocks of rows in which the image is made.

    before: n { b to %b { r to 4 { w to %v { t[n, b, r, w] = ... } } } }    n { i to %h { w { y[n, i, w] = max(t[n, i, w], 0) } } }
    after:  the same    n { b to %b { r to min(4, %h - 4 b) { w { y[n, 4 b + r, w] = max(t[n, b, r, w], 0) } } } }

    Here `t[n, i, w]` is a view: its blocks as rows, of which there are at least %h. Then `affine-fuse-nests` makes one of the loops
    over blocks, and a block is read while it is in a cache: Winograd's tiles over images of odd or unknown sides have more rows
    and columns than the result. Nests for a GPU stay as they are: its blocks run at the same time.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Cut the nests of one kernel function."""
        if not is_kernel(op) or is_for_gpu(op):
            return
        allocs = [inner for inner in nested_ops(op) if inner.name == "memref.alloc" and inner.parent == op]
        crops = [crop for crop in map(_crop_of, allocs) if crop is not None]
        for crop in crops:
            crop.cut()
        if crops:
            run_native(op, "canonicalize")


@dataclass(frozen=True, eq=False)
class _Crop:
    """An image in blocks: `stores` write its buffer, `loads` read `view`, whose axes are `groups` of axes of the buffer."""

    alloc: ir.Operation
    groups: Sequence[Sequence[int]]
    axis: int
    """The axis of the view that is the rows; the first of its group is that of the blocks."""
    stores: Sequence[ir.Operation]
    blocks: Loop
    loads: Sequence[ir.Operation]
    rows: Loop

    @property
    def height(self) -> int:
        """Rows of a block."""
        return math.prod(self._kind.shape[axis] for axis in self.groups[self.axis][1:])

    @property
    def _kind(self) -> ir.MemRefType:
        return ir.MemRefType(self.alloc.results[0].type)

    def cut(self) -> None:
        """Give the buffer the view's axes, rows in blocks, and the nest that reads it the same loops."""
        views = [user for user in _users(self.alloc) if user.name == "memref.collapse_shape"]
        image = self._allocate()
        for store in self.stores:
            self._redirect_store(store, image)
        block, row = self._cut_rows()
        for load in self.loads:
            self._redirect_load(load, image, block, row)
        for view in views:
            _erase_with_views(view)
        self.alloc.results[0].replace_all_uses_with(image)
        self.alloc.erase()

    def _allocate(self) -> ir.Value:
        """The buffer: for each axis of the view one, but two for rows."""
        kind, sizes, given = self._kind, [], list(self.alloc.operands)
        operands: list[ir.Value] = []
        with ir.InsertionPoint(self.alloc), self.alloc.location:
            for group in self._axes:
                sizes.append(math.prod(kind.shape[axis] for axis in group) if not self._is_open(group) else kind.get_dynamic_size())
                if self._is_open(group):
                    size = given[sum(kind.is_dynamic_dim(axis) for axis in range(group[0]))]
                    times = ir.AffineExpr.get_symbol(0) * math.prod(kind.shape[axis] for axis in group[1:])
                    operands.append(apply(ir.AffineMap.get(0, 1, [times]), [size]))
            made = ir.MemRefType.get(sizes, kind.element_type)
            attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0])}
            return ir.Operation.create("memref.alloc", [made], operands, attributes).results[0]

    @property
    def _axes(self) -> list[Sequence[int]]:
        """The axes of the old buffer that each axis of the new one stands for."""
        found: list[Sequence[int]] = []
        for place, group in enumerate(self.groups):
            found.extend([group[:1], group[1:]] if place == self.axis else [group])
        return found

    def _is_open(self, group: Sequence[int]) -> bool:
        return any(self._kind.is_dynamic_dim(axis) for axis in group)

    def _redirect_store(self, store: ir.Operation, image: ir.Value) -> None:
        indexing, shape = store.attributes["map"].value, self._kind.shape
        results = []
        for group in self._axes:
            place = ir.AffineExpr.get_constant(0)
            for axis in group:
                place = place * (1 if axis == group[0] else shape[axis]) + indexing.results[axis]
            results.append(place)
        moved = ir.AffineMap.get(indexing.n_dims, indexing.n_symbols, results)
        with ir.InsertionPoint(store), store.location:
            affine.AffineStoreOp(store.operands[0], image, indices_of(store), moved)
        store.erase()

    def _cut_rows(self) -> tuple[ir.Value, ir.Value]:
        """Loops over blocks and over the rows of a block, up to the last row, in place of that over rows; their variables."""
        height, upper = self.height, self.rows.upper
        rest = upper.map.results[0] - ir.AffineExpr.get_dim(0) * height
        most = ir.AffineMap.get(1, upper.map.n_symbols, [ir.AffineExpr.get_constant(height), rest])
        with ir.InsertionPoint(self.rows.op), self.rows.op.location:
            outer = build_for(Bound.constant(0), self.blocks.upper, parallel=True)
            block = outer.regions[0].blocks[0].arguments[0]
            with ir.InsertionPoint(outer.regions[0].blocks[0]):
                inner = build_for(Bound.constant(0), Bound(most, (block, *upper.operands)), parallel=True)
                affine.AffineYieldOp([])
            row = inner.regions[0].blocks[0].arguments[0]
            with ir.InsertionPoint(inner.regions[0].blocks[0]):
                place = ir.AffineMap.get(2, 0, [ir.AffineExpr.get_dim(0) * height + ir.AffineExpr.get_dim(1)])
                whole = apply(place, [block, row])
                end = affine.AffineYieldOp([]).operation
        for op in real_ops(self.rows.body):
            op.move_before(end)
        self.rows.iv.replace_all_uses_with(whole)
        self.rows.op.erase()
        return block, row

    def _redirect_load(self, load: ir.Operation, image: ir.Value, block: ir.Value, row: ir.Value) -> None:
        indexing = load.attributes["map"].value
        whole, dims = list(indexing.results), indexing.n_dims
        in_block = [ir.AffineExpr.get_dim(dims), ir.AffineExpr.get_dim(dims + 1)]
        moved = ir.AffineMap.get(dims + 2, 0, [*whole[: self.axis], *in_block, *whole[self.axis + 1 :]])
        with ir.InsertionPoint(load), load.location:
            found = affine.AffineLoadOp(load.results[0].type, image, [*indices_of(load), block, row], moved).result
        load.results[0].replace_all_uses_with(found)
        load.erase()


def _crop_of(alloc: ir.Operation) -> _Crop | None:
    """The crop of the buffer of `alloc` that one nest reads, where another one makes it in blocks of rows; None for any other."""
    users = local_users(alloc)
    stores = [user for user in users or [] if user.name == "affine.store"]
    loads = [user for user in users or [] if user.name == "affine.load"]
    if users is None or not stores or not loads or len(stores) + len(loads) < len(users):
        return None
    views = [user for user in _users(alloc) if user.name == "memref.collapse_shape"]
    if len(views) != 1 or any(store.operands[1] != alloc.results[0] for store in stores):
        return None
    if len({ancestors(store)[-1] for store in stores}) != 1 or len({ancestors(load)[-1] for load in loads}) != 1:
        return None
    if any(not _reads_plain_crop(load, views[0].results[0]) for load in loads):
        return None
    groups = [
        [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)] for group in ir.ArrayAttr(views[0].attributes["reassociation"])
    ]
    kind = ir.MemRefType(alloc.results[0].type)
    for axis, group in enumerate(groups):
        blocks, rows = _loop_along(stores, 1, group[0]), _loop_along(loads, 0, axis)
        inner = [kind.shape[place] for place in group[1:]]
        if len(group) < 2 or blocks is None or rows is None or min(inner) < 0 or math.prod(inner) == 1:
            continue
        is_split = any(kind.is_dynamic_dim(place) for other in groups for place in other[1:])
        if is_split or blocks.extent == 1 or rows.upper.map.n_dims or not _is_size(blocks.upper, alloc, group[0]):
            return None
        return _Crop(alloc, groups, axis, stores, blocks, loads, rows)
    return None


def _is_size(bound: Bound, alloc: ir.Operation, axis: int) -> bool:
    """Whether `bound` is the size of the buffer along an axis."""
    kind = ir.MemRefType(alloc.results[0].type)
    if not kind.is_dynamic_dim(axis):
        return bound.static == kind.shape[axis]
    return bound == Bound.symbol(alloc.operands[sum(kind.is_dynamic_dim(before) for before in range(axis))])


def _users(op: ir.Operation) -> list[ir.Operation]:
    return [use.owner.operation for use in op.results[0].uses]


def _reads_plain_crop(load: ir.Operation, view: ir.Value) -> bool:
    """Whether `load` reads `view`, or what is left of it without its last rows and columns, at loop variables, or 0 of one."""
    indexing, source = load.attributes["map"].value, load.operands[0]
    if indexing.n_symbols or not all(map(_is_variable, indices_of(load))) or not all(map(_is_plain, indexing.results)):
        return False
    if source == view:
        return True
    crop = defining_op(source)
    if crop is None or crop.name != "memref.subview" or crop.operands[0] != view:
        return False
    is_whole_rank = ir.MemRefType(source.type).rank == ir.MemRefType(view.type).rank
    begins = all(offset == 0 for offset in crop.attributes["static_offsets"])
    return is_whole_rank and begins and all(step == 1 for step in crop.attributes["static_strides"])


def _is_plain(subscript: ir.AffineExpr) -> bool:
    """Whether a subscript is one variable, or 0."""
    plain = subscript.maybe_downcast()
    return isinstance(plain, ir.AffineDimExpr) or (isinstance(plain, ir.AffineConstantExpr) and plain.value == 0)


def _is_variable(value: ir.Value) -> bool:
    return isinstance(value, ir.BlockArgument) and value.owner.owner.name == "affine.for"


def _loop_along(accesses: Sequence[ir.Operation], first: int, axis: int) -> Loop | None:
    """The one parallel loop whose variable all accesses, whose memref is operand `first`, have as subscript of an axis."""
    found: set[ir.Value] = set()
    for access in accesses:
        result = access.attributes["map"].value.results[axis].maybe_downcast()
        if not isinstance(result, ir.AffineDimExpr):
            return None
        found.add(list(access.operands)[first + 1 + result.position])
    variable = found.pop()
    loop = normalized(variable.owner.owner.operation) if not found and _is_variable(variable) else None
    return loop if loop is not None and loop.parallel else None


def _erase_with_views(view: ir.Operation) -> None:
    for user in _users(view):
        if user.name in _VIEWS:
            _erase_with_views(user)
    view.erase()

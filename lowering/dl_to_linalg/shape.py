"""Lowerings of ops that reshape, reorder or repeat: views where the elements stay in place, else one `linalg.generic`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.broadcasting import require_broadcast
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.checks import size_of
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at, read_at, repeated
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.reshaping import product_of, reshape


@lowering("reshape")
def lower_reshape(b: Builder, op: SourceOp) -> ir.Value:
    """A view; the extents that only run time knows come from the operand and from what is left over."""
    x, sizes = op.operands
    if sizes is not None:
        b.require_equal(size_of(b, op, (1, 0)), ("the rank of the result", len(op["shape"])))
    extents = reshaped_extents(b, op, x, sizes)
    if not _surely_as_many(op, sizes):
        counts = b.num_elements(b.shape(x)), b.num_elements(extents)
        b.require_equal(("the number of elements of x", counts[0]), ("that of the result", counts[1]))
    return reshape(b, x, op.types[0], extents, op.result)


def _surely_as_many(op: SourceOp, sizes: ir.Value | None) -> bool:
    """Whether the types say that a reshape keeps the number of elements."""
    source, result = op.types[0].shape, op.result.shape
    if product_of(source) == product_of(result):
        return True
    open_dims = [dim for dim, axis in _given_dims(op) if dim < 0 and axis < 0]
    if sizes is not None or len(open_dims) != 1:
        return False
    copied = {axis for _, axis in _given_dims(op) if axis >= 0}
    count, _ = product_of([dim for axis, dim in enumerate(source) if axis not in copied])
    below = math.prod(dim for dim, axis in _given_dims(op) if dim >= 0 and axis < 0)
    # The one dim that takes what is left over takes all of it.
    return len(copied) == sum(axis >= 0 for _, axis in _given_dims(op)) and below > 0 and count % below == 0


def _given_dims(op: SourceOp) -> list[tuple[int, int]]:
    """Per dim of the result what its attribute says, -1 for nothing, and the axis of x that it copies, or -1."""
    return list(zip(op["shape"], op["copied"] or (-1,) * len(op["shape"]), strict=True))


def reshaped_extents(b: Builder, op: SourceOp, x: ir.Value, sizes: ir.Value | None) -> list[Extent]:
    """Extents of a reshape's result."""
    copied = [axis for _, axis in _given_dims(op)]
    extents: list[Extent | None] = []
    for index, (dim, axis) in enumerate(_given_dims(op)):
        if isinstance(op.result.shape[index], int):
            extents.append(op.result.shape[index])
        elif dim < 0 and axis < 0:
            extents.append(None)
        else:
            extents.append(dim if dim >= 0 else b.dim(x, axis))
    unknown = [index for index, extent in enumerate(extents) if extent is None]
    if sizes is None:
        known = [(extent, axis) for extent, axis in zip(extents, copied, strict=True) if extent is not None]
        rest = _left_over(b, x, known) if unknown else 0
        return [rest if extent is None else extent for extent in extents]
    for index, (dim, axis) in enumerate(_given_dims(op)):
        if dim < 0 and axis < 0 and index not in unknown:
            b.declared(index, _or_rest(b, _size_at(b, x, sizes, index, op["zero_copies"]), extents[index]), op.result.shape[index])
    given = {index: _size_at(b, x, sizes, index, op["zero_copies"]) for index in unknown}
    for index, size in given.items():
        b.require_at_most(("the least size", -1), (f"sizes[{index}]", size))
    rest = _rest_of(b, x, [given[i] if extent is None else extent for i, extent in enumerate(extents)])
    return [_or_rest(b, given[i], rest) if extent is None else extent for i, extent in enumerate(extents)]


def _left_over(b: Builder, x: ir.Value, known: Sequence[tuple[Extent, int]]) -> Extent:
    """Extent of the one missing dim: what is in x, divided by what is known, axes that are copied left out of both."""
    copies = {axis for _, axis in known if axis >= 0}
    above = [extent for axis, extent in enumerate(b.shape(x)) if axis not in copies]
    below: list[Extent] = []
    for extent, axis in known:
        if axis in copies:
            copies.remove(axis)
        else:
            below.append(extent)
    bottom = b.num_elements(below)
    return b.extent("floordiv", b.num_elements(above), b.extent("max", bottom, 1))


def _size_at(b: Builder, x: ir.Value, sizes: ir.Value, index: int, zero_copies: bool) -> ir.Value:
    """Element `index` of `sizes`, or the dim of x where it is 0 and stands for that."""
    size = b.index_cast(element_at(b, sizes, [index]), ir.IndexType.get())
    if not zero_copies or index >= x.type.rank:
        return size
    return b.select(b.compare_index("eq", size, b.index(0)), b.index(b.dim(x, index)), size)


def _rest_of(b: Builder, x: ir.Value, extents: Sequence[Extent]) -> Extent:
    """Number of elements of x by the product of extents, of which -1 counts as 1."""
    known: list[Extent] = []
    for extent in extents:
        known.append(extent if isinstance(extent, int) else _or_rest(b, extent, 1))
    return b.extent("floordiv", b.num_elements(b.shape(x)), b.extent("max", b.num_elements(known), 1))


def _or_rest(b: Builder, extent: ir.Value, rest: Extent) -> ir.Value:
    return b.select(b.compare_index("lt", extent, b.index(0)), b.index(rest), extent)


@lowering("transpose")
def lower_transpose(b: Builder, op: SourceOp) -> ir.Value:
    """A copy in the result's order; a view where only axes of size 1 move."""
    x, perm = op.operands[0], op["perm"]
    moved = [axis for axis in perm if op.types[0].shape[axis] != 1]
    if moved == sorted(moved):
        return reshape(b, x, op.types[0], [b.dim(x, axis) for axis in perm], op.result)
    return b.transpose(x, perm)


@lowering("expand")
def lower_expand(b: Builder, op: SourceOp) -> ir.Value:
    """A copy that reads x at 0 along repeated axes; whether an axis is one may be known at run time only."""
    x, sizes = op.operands
    if sizes is not None:
        b.require_equal(size_of(b, op, (1, 0)), ("the rank of its shape", len(op["shape"])))
    kind, extents = op.types[0], _expanded_extents(b, op, x, sizes)
    start = len(extents) - kind.rank
    unsure = [axis for axis, dim in enumerate(kind.shape) if not isinstance(dim, int) and dim != op.result.shape[start + axis]]
    if not unsure:
        return b.map([x], extents, op.result.dtype, lambda element: element)
    for axis in unsure:
        require_broadcast(b, size_of(b, op, (0, axis)), ("the result's", extents[start + axis]))
    single = {axis: b.compare_index("eq", b.index(b.dim(x, axis)), b.index(1)) for axis in unsure}

    def position(at: Sequence[ir.Value]) -> list[Extent]:
        found: list[Extent] = [0 if dim == 1 else at[start + axis] for axis, dim in enumerate(kind.shape)]
        return [b.select(single[i], b.index(0), own) if i in single else own for i, own in enumerate(found)]

    return read_at(b, x, extents, op.result.dtype, position)


def _expanded_extents(b: Builder, op: SourceOp, x: ir.Value, sizes: ir.Value | None) -> list[Extent]:
    """Extents of the broadcast of x with the shape that attribute and operand give."""
    shape, rank = op["shape"], op.result.rank
    extents: list[Extent] = []
    for axis, dim in enumerate(op.result.shape):
        given, own = axis - (rank - len(shape)), axis - (rank - op.types[0].rank)
        mine: Extent = b.dim(x, own) if own >= 0 else 1
        size: Extent = 1 if given < 0 else shape[given]
        if isinstance(size, int) and size < 0:
            size = b.index_cast(element_at(b, sizes, [given]), ir.IndexType.get())
        extents.append(b.declared(axis, _broadcast_extent(b, mine, size), dim))
        if not isinstance(size, int):
            require_broadcast(b, (f"sizes[{given}]", size), ("the result's", extents[-1]))
            b.require_at_most(("the least size", 0), (f"sizes[{given}]", size))
    return extents


def _broadcast_extent(b: Builder, left: Extent, right: Extent) -> Extent:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, int):
            return other if one == 1 else one
    return b.select(b.compare_index("eq", b.index(left), b.index(1)), b.index(right), b.index(left))


@lowering("squeeze")
def lower_squeeze(b: Builder, op: SourceOp) -> ir.Value:
    """A view without the axes."""
    x = op.operands[0]
    dropped = {axis % op.types[0].rank for axis in op["axes"]}
    extents = [b.dim(x, axis) for axis in range(op.types[0].rank) if axis not in dropped]
    single = [1 if axis in dropped else dim for axis, dim in enumerate(op.types[0].shape)]
    for axis in sorted(dropped):
        b.require_equal(size_of(b, op, (0, axis)), ("the size of an axis that is dropped", 1))
    sizes: list[Extent] = [1 if axis in dropped else size for axis, size in enumerate(b.shape(x))]
    x = b.cast(x, b.tensor_type(sizes, op.result.dtype))
    return reshape(b, x, op.types[0].with_shape(single), extents, op.result)


@lowering("unsqueeze")
def lower_unsqueeze(b: Builder, op: SourceOp) -> ir.Value:
    """A view with the axes."""
    x = op.operands[0]
    added = {axis % op.result.rank for axis in op["axes"]}
    own = iter(b.shape(x))
    extents: list[Extent] = [1 if axis in added else next(own) for axis in range(op.result.rank)]
    return reshape(b, x, op.types[0], extents, op.result)


@lowering("tile")
def lower_tile(b: Builder, op: SourceOp) -> ir.Value:
    """x broadcast along a new axis before each repeated one, and a view that merges the two."""
    return repeated(b, op.operands[0], op["repeats"])


@lowering("shape_of")
def lower_shape_of(b: Builder, op: SourceOp) -> ir.Value:
    """The extents as a tensor of i64."""
    x = op.operands[0]
    i64 = b.element("i64")
    axes = range(op.types[0].rank)[op["start"] : op["end"]]
    return b.create_tensor_from_elements([b.index_cast(b.index(b.dim(x, axis)), i64) for axis in axes], i64)


@lowering("size")
def lower_size(b: Builder, op: SourceOp) -> ir.Value:
    """The product of the extents as a scalar tensor of i64."""
    i64 = b.element("i64")
    count = b.index_cast(b.index(b.num_elements(b.shape(op.operands[0]))), i64)
    return b.create("tensor.from_elements", [ir.RankedTensorType.get([], i64)], [count])

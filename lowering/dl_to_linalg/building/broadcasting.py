"""NumPy broadcasting of tensors whose dims may be dynamic: which sizes result, and repeating what is 1 at run time only."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.analysis.derived_dims import fits_where_broadcast
from dlc.dialects.dl.types import Dim, TensorType
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent


def broadcast_extents(b: Builder, inputs: Sequence[ir.Value], types: Sequence[TensorType]) -> list[Extent]:
    """Extents of the NumPy broadcast of inputs with plain `types` (whose equal symbols are equal sizes)."""
    rank = max(kind.rank for kind in types)
    return [_broadcast_extent(b, inputs, types, axis - rank) for axis in range(rank)]


def _broadcast_extent(b: Builder, inputs: Sequence[ir.Value], types: Sequence[TensorType], axis: int) -> Extent:
    found: Extent = 1
    seen: set[Dim] = {1}
    given = [kind.shape[axis] for kind in types if kind.rank >= -axis]
    seen |= {dim for dim in given if any(fits_where_broadcast(dim, other) for other in given)}
    for value, kind in zip(inputs, types, strict=True):
        if -axis > kind.rank or kind.shape[axis] in seen:
            continue
        seen.add(kind.shape[axis])
        size = b.dim(value, kind.rank + axis)
        if isinstance(size, int):
            return size
        found = size if isinstance(found, int) else _not_one(b, found, size)
    return found


def _not_one(b: Builder, left: ir.Value, right: ir.Value) -> ir.Value:
    is_one = b.compare_index("eq", left, b.index(1))
    return b.create("arith.select", [left.type], [is_one, right, left])


def expand_ones(b: Builder, value: ir.Value, kind: TensorType, target: Sequence[Extent], result: TensorType, name: str) -> ir.Value:
    """`value` ready for `Builder.map`: axes whose dynamic size may be 1 where the result's is not are repeated at run time.

    An axis needs that when its symbol differs from the result's, unless it fits wherever it broadcasts. The copy is made only
    when the size really is 1; a size that is neither 1 nor the result's fails at run time, where `name` stands for `value`.
    """
    for axis, dim in enumerate(kind.shape):
        at = axis - kind.rank
        if dim == 1 or dim == result.shape[at]:
            continue
        wanted = ("the result's", target[at])
        if isinstance(dim, int) or fits_where_broadcast(dim, result.shape[at]):
            b.require_equal((f"{name} dim {axis}", b.dim(value, axis)), wanted)
            continue
        require_broadcast(b, (f"{name} dim {axis}", b.dim(value, axis)), wanted)
        value = _expand_axis(b, value, axis, target[at])
    return value


def require_broadcast(b: Builder, size: tuple[str, Extent], target: tuple[str, Extent]) -> None:
    """Fail at run time unless a dynamic `size` is 1 or that of `target`."""
    own = b.index(size[1])
    equal = b.compare_index("eq", own, b.index(target[1]))
    fits = b.binary("arith.ori", equal, b.compare_index("eq", own, b.index(1)))
    b.require(fits, f"{size[0]} is {{}} but {target[0]} is {{}}")


def _expand_axis(b: Builder, value: ir.Value, axis: int, size: Extent) -> ir.Value:
    own = b.dim(value, axis)
    shape = b.shape(value)
    shape[axis] = size
    dynamic = ir.ShapedType.get_dynamic_size()
    statics = [item if isinstance(item, int) else dynamic for item in shape]
    kind = ir.RankedTensorType.get(statics, value.type.element_type)
    condition = b.compare_index("eq", b.index(own), b.index(1))
    operation = b.operation("scf.if", [kind], [condition], regions=2)
    with b.inside(operation.regions[0].blocks.append()):
        ones = [1 if at == axis else size for at, size in enumerate(b.shape(value))]
        one = b.slice(value, [0] * len(shape), ones, [1] * len(shape))
        copy = b.map([one], shape, value.type.element_type, lambda element: element)
        b.operation("scf.yield", [], [b.cast(copy, kind)])
    with b.inside(operation.regions[1].blocks.append()):
        b.operation("scf.yield", [], [b.cast(value, kind)])
    return operation.results[0]

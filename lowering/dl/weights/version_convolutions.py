"""`dl-version-convolutions`: small images and all others are convolved by code of their own, where that is faster."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir, tensor
from dlc.analysis.dim_bounds import DimBounds
from dlc.analysis.fusion import FusionGroup, plan_kernels
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects import dl
from dlc.dialects.dl.types import Dim
from dlc.dialects.dl.winograd_matrices import TAPS
from dlc.lowering.dl.control.outline_bodies import BodyOutliner
from dlc.lowering.dl.control.scalars import constant_scalar
from dlc.lowering.dl.matching import BODY, attributes_of, dl_ops, erase_unused, functions, is_entry, users
from dlc.lowering.dl.patterns import merged_location
from dlc.lowering.dl.weights.winograd_choice import allowed_tiles, is_of_open_images, layout_of, verdicts_of
from dlc.lowering.outlining import clone_in_terms, symbols_in
from dlc.lowering.pass_base import Pass, option
from dlc.targets.machine import is_for_gpu


@dataclass(frozen=True)
class VersionConvolutions(Pass):
    """Branch on the size of the image before convolutions that small images of open sides compute faster in another way.

    Winograd's tiles read sixteen matrices where taps read nine, so that images of few pixels wait for them. Each side of the branch
    is a private function, `dl.body`, with the convolution and what becomes one kernel with it; that for small images states the
    bounds of their sides (`dl.bounds`), by which the passes after this one choose. Both have weights of their own. Convolutions
    stay as they are where the function's bounds say that all images are small, or none is. Modules for a GPU do, too.

    before:
        %0 = "dl.conv"(%x, %w)   %1 = "dl.relu"(%0)
    after:
        %1 = scf.if (%h <= 4 and %w <= 4) { %2 = call @body_0(%x) ... scf.yield %2 } else { %2 = call @body_1(%x) ... scf.yield %2 }
        func.func private @body_0(%x) attributes {dl.body, dl.bounds = {h = array<i64: 0, 4, 1>, ...}} { "dl.conv" "dl.relu" }
        func.func private @body_1(%x) attributes {dl.body} { "dl.conv" "dl.relu" }
    """

    most: int | None = option(None, "most results of a tile along one axis: 0, 2 or 4; none: the module's dl.winograd, or 2")

    def run(self, op: ir.Operation) -> None:
        """Rewrite the entries of the module `op`."""
        tiles = allowed_tiles(op, self.most)
        if not tiles or is_for_gpu(op):
            return
        taken = symbols_in(op)
        for function in functions(op):
            if is_entry(function) and BODY not in function.attributes:
                _version(op, function, taken, tiles)


def _version(module: ir.Operation, function: ir.Operation, taken: set[str], tiles: Sequence[int]) -> None:
    """Branch before the convolutions of one function."""
    if not any(op.name == "dl.conv" and is_of_open_images(op) for op in dl_ops(function)):
        return
    sides = {conv: found.taps_up_to for conv, found in verdicts_of(function, tiles) if found.taps_up_to}
    if not sides:
        return
    shapes = SymbolicShapes(function)
    groups = [group for group in plan_kernels(function).groups if group.main in sides and _gives_one_value(group)]
    small = [_bounds_of_small(group.main, sides[group.main], shapes) for group in groups]
    outliner = BodyOutliner(module, taken, shapes)
    for group, bounds in zip(groups, small, strict=True):
        _branch(group, bounds, outliner)
    erase_unused(dl_ops(function))


def _gives_one_value(group: FusionGroup) -> bool:
    """Whether one op of a group gives all that is used outside of it, views included."""
    inner = [result for op in group.ops[:-1] for result in op.results]
    return len(group.ops[-1].results) == 1 and all(user in group.ops for result in inner for user in users(result))


def _bounds_of_small(conv: ir.Operation, side: int, shapes: SymbolicShapes) -> dict[Dim, DimBounds]:
    """The sizes of an image that run time decides, with what they are where no side of the result is above `side`."""
    kind, pads = shapes.type_of(conv.operands[0]), attributes_of(conv)["pads"] or (0, 0, 0, 0)
    found: dict[Dim, DimBounds] = {}
    for place, size in enumerate(layout_of(conv).spatial_of(kind.shape)):
        if not isinstance(size, int):
            most = max(side + TAPS - 1 - pads[place] - pads[place + 2], 0)
            found[size] = found.get(size, shapes.bounds_of(size)).at_most(most)
    return found


def _branch(group: FusionGroup, small: Mapping[Dim, DimBounds], outliner: BodyOutliner) -> None:
    """Let a branch with two versions of the ops of `group` stand for them, where something that they take shows the sizes."""
    places = _places_of(small, group.ops, outliner)
    if places is None:
        return
    (result,) = group.ops[-1].results
    kind = outliner.shapes.type_of(result)
    with merged_location(group.ops), ir.InsertionPoint(group.ops[-1]):
        is_small = functools.reduce(arith.andi, [_is_at_most(*places[dim], small[dim].most) for dim in small])
        branch = ir.Operation.create("scf.if", results=[result.type], operands=[is_small], regions=2)
    blocks = [region.blocks.append() for region in branch.regions]
    outliner.given.update((_repeat(group.ops, block), kind) for block in blocks)
    result.replace_all_uses_with(branch.results[0])
    for op in reversed(group.ops):
        outliner.shapes.forget(op)
        op.erase()
    outliner.given[branch.results[0]] = kind
    for block, bounds in zip(blocks, (small, {}), strict=True):
        outliner.outline(block, bounds)


def _places_of(dims: Iterable[Dim], ops: Sequence[ir.Operation], outliner: BodyOutliner) -> dict[Dim, tuple[ir.Value, int]] | None:
    """For each of `dims` a value that `ops` take from elsewhere, and its axis of that size; None where one has no such place."""
    inside = {result for op in ops for result in op.results}
    found: dict[Dim, tuple[ir.Value, int]] = {}
    for value in dict.fromkeys(value for op in ops for value in op.operands if value not in inside):
        kind = outliner.type_of(value)
        for axis, dim in enumerate(kind.shape if kind is not None else ()):
            found.setdefault(dim, (value, axis))
    return found if all(dim in found for dim in dims) else None


def _is_at_most(value: ir.Value, axis: int, most: int | None) -> ir.Value:
    """Whether a tensor has no more than `most` elements along an axis."""
    size = tensor.extract(dl.shape_of(value), [constant_scalar(axis, ir.IndexType.get())])
    return arith.cmpi(arith.CmpIPredicate.sle, size, constant_scalar(most or 0, ir.IntegerType.get_signless(64)))


def _repeat(ops: Sequence[ir.Operation], block: ir.Block) -> ir.Value:
    """Copy `ops` to the end of `block`, which gives the result of the last one, as this does."""
    values = {operand: operand for op in ops for operand in op.operands}
    with merged_location(ops), ir.InsertionPoint(block):
        for op in ops:
            clone_in_terms(op, values)
        given = values[ops[-1].results[0]]
        ir.Operation.create("scf.yield", operands=[given])
    return given

"""Gives buffers another layout: views of them are typed anew, and functions that take them are specialised.

Everything is asked before anything is changed: `Relayout.fits` says whether every use of a buffer takes the new layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dlc._mlir import ir
from dlc.analysis.buffer_accesses import Effects
from dlc.analysis.buffers import defining_op, is_linalg, is_row_major, nested_ops, strides_of

_DYNAMIC: int = ir.ShapedType.get_dynamic_size()
_OPEN: int = ir.ShapedType.get_dynamic_stride_or_offset()
_ANY_LAYOUT = frozenset({"memref.copy", "memref.load", "memref.store", "memref.dim", "affine.load", "affine.store"})
_SPECIAL = "_view"
_RESHAPES = ("memref.expand_shape", "memref.collapse_shape")


def original_name(name: str) -> str:
    """The name of the function that the function `name` is a specialisation of; its own for any other."""
    return name.split(_SPECIAL, 1)[0]


class Relayout:
    """Changes layouts in one module; equal specialisations of a function are shared."""

    def __init__(self, module: ir.Operation, effects: Effects) -> None:
        self._body = module.regions[0].blocks[0]
        self._effects = effects
        self._special: dict[tuple[str, int, ir.MemRefType], str] = {}
        self._fits: dict[tuple[str, int, ir.Type], bool] = {}

    def fits(self, value: ir.Value, kind: ir.MemRefType, ignored: Sequence[ir.Operation] = ()) -> bool:
        """Whether every use of `value` but those `ignored` allows for type `kind`, which differs in its layout only."""
        if value.type == kind:
            return True
        uses = [(use.owner.operation, use.operand_number) for use in value.uses]
        return all(user in ignored or self._use_fits(user, position, kind) for user, position in uses)

    def _use_fits(self, user: ir.Operation, position: int, kind: ir.MemRefType) -> bool:
        if is_linalg(user) or user.name in _ANY_LAYOUT:
            return True
        if user.name == "func.call":
            return self._call_fits(user, position, kind)
        result = view_type(user, kind) if position == 0 else None
        return result is not None and self.fits(user.results[0], result)

    def _call_fits(self, call: ir.Operation, position: int, kind: ir.MemRefType) -> bool:
        name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        function = self._effects.function(name)
        if "sym_visibility" not in function.attributes or len(function.regions[0].blocks) != 1:
            return False
        key = (name, position, argument_type(kind))
        if key not in self._fits:
            self._fits[key] = self.fits(function.regions[0].blocks[0].arguments[position], key[2])
        return self._fits[key]

    def replace(self, value: ir.Value, by: ir.Value) -> None:
        """Let every use of `value` use `by`, of a type that `fits`."""
        uses = [(use.owner.operation, use.operand_number) for use in value.uses]
        for user, position in uses:
            user.operands[position] = by
        if value.type != by.type:
            self._adapt(uses)

    def _adapt(self, uses: Sequence[tuple[ir.Operation, int]]) -> None:
        """Make ops that have an operand of another type now fit it."""
        for user, position in uses:
            if user.name == "func.call":
                self._specialise(user, position)
            elif user.results and not is_linalg(user) and user.name not in _ANY_LAYOUT:
                self._retype(user)

    def _retype(self, view: ir.Operation) -> None:
        kind = view_type(view, ir.MemRefType(view.operands[0].type))
        with ir.InsertionPoint(view), view.location:
            attributes = dict(view.attributes.items())
            new = ir.Operation.create(view.name, results=[kind], operands=list(view.operands), attributes=attributes)
        self.replace(view.results[0], new.results[0])
        view.erase()

    def _specialise(self, call: ir.Operation, position: int) -> None:
        """Let the callee take what the call passes as argument `position`."""
        given = call.operands[position]
        kind = argument_type(ir.MemRefType(given.type))
        if kind != given.type:
            with ir.InsertionPoint(call), call.location:
                call.operands[position] = ir.Operation.create("memref.cast", results=[kind], operands=[given]).results[0]
        key = (ir.FlatSymbolRefAttr(call.attributes["callee"]).value, position, kind)
        if key not in self._special:
            self._special[key] = self._specialisation(*key)
        call.attributes["callee"] = ir.FlatSymbolRefAttr.get(self._special[key])

    def _specialisation(self, name: str, position: int, kind: ir.MemRefType) -> str:
        """A copy of function `name` whose argument `position` has type `kind`; its name."""
        original = self._effects.function(name)
        with ir.InsertionPoint.after(original), original.location:
            copy = original.clone().operation
        fresh = self._fresh(name)
        copy.attributes["sym_name"] = ir.StringAttr.get(fresh)
        self._effects.add(fresh, copy)
        arguments = copy.regions[0].blocks[0].arguments
        arguments[position].set_type(kind)
        self._adapt([(use.owner.operation, use.operand_number) for use in arguments[position].uses])
        results = ir.FunctionType(ir.TypeAttr(copy.attributes["function_type"]).value).results
        kinds = ir.FunctionType.get([argument.type for argument in arguments], results)
        copy.attributes["function_type"] = ir.TypeAttr.get(kinds)
        return fresh

    def _fresh(self, name: str) -> str:
        stem, number = original_name(name), 1
        while self._effects.knows(f"{stem}{_SPECIAL}{number}"):
            number += 1
        return f"{stem}{_SPECIAL}{number}"

    def erase_unused(self) -> None:
        """Erase the functions that only their specialisations stand for now."""
        origins = {name for name, _, _ in self._special}
        called = {
            ir.FlatSymbolRefAttr(inner.attributes["callee"]).value
            for op in self._body.operations
            for inner in nested_ops(op.operation)
            if inner.name == "func.call"
        }
        for name in sorted(origins - called):
            self._effects.function(name).erase()


def reshapes_of(value: ir.Value) -> tuple[ir.Value, list[ir.Operation]]:
    """What `value` is all of, and the reshapes on the way there, last first."""
    found: list[ir.Operation] = []
    op = defining_op(value)
    while op is not None and op.name in _RESHAPES:
        found.append(op)
        value = op.operands[0]
        op = defining_op(value)
    return value, found


def argument_type(kind: ir.MemRefType) -> ir.MemRefType:
    """`kind` with any offset, so that windows that differ in their place alone share a function."""
    if not isinstance(kind.layout, ir.StridedLayoutAttr):
        return kind
    strides, _ = strides_of(kind)
    return ir.MemRefType.get(kind.shape, kind.element_type, ir.StridedLayoutAttr.get(_OPEN, strides), kind.memory_space)


def view_type(view: ir.Operation, source: ir.MemRefType) -> ir.MemRefType | None:
    """The result type of a view op whose source has type `source` now; None where there is no such view."""
    match view.name:
        case "memref.subview":
            return _subview_type(view, source)
        case "memref.expand_shape":
            return expanded_type(source, groups_of(view), ir.MemRefType(view.results[0].type).shape)
        case "memref.collapse_shape":
            return collapsed_type(source, groups_of(view))
    return None


def _strided(shape: Sequence[int], like: ir.MemRefType, offset: int, strides: Sequence[int]) -> ir.MemRefType:
    layout = ir.StridedLayoutAttr.get(offset, list(strides)) if strides or offset else None
    return ir.MemRefType.get(shape, like.element_type, layout, like.memory_space)


def groups_of(view: ir.Operation) -> list[list[int]]:
    """The axes of the wider side of a reshape, by the axis of the narrower one."""
    return [
        [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)] for group in ir.ArrayAttr(view.attributes["reassociation"])
    ]


def _subview_type(view: ir.Operation, source: ir.MemRefType) -> ir.MemRefType | None:
    result = ir.MemRefType(view.results[0].type)
    offsets, sizes, steps = (list(view.attributes[name]) for name in ("static_offsets", "static_sizes", "static_strides"))
    kept = _kept_axes(sizes, result.rank)
    if kept is None:
        return None
    strides, offset = strides_of(source)
    for start, stride in zip(offsets, strides, strict=True):
        offset = _plus(offset, _times(start, stride))
    return _strided(result.shape, result, offset, [_times(steps[axis], strides[axis]) for axis in kept])


def _kept_axes(sizes: Sequence[int], rank: int) -> list[int] | None:
    """The axes of a subview with so many `sizes` that its result of rank `rank` has; None where it has some of those of size 1."""
    if rank == len(sizes):
        return list(range(rank))
    kept = [axis for axis, size in enumerate(sizes) if size != 1]
    return kept if len(kept) == rank else None


def expanded_type(source: ir.MemRefType, groups: Sequence[Sequence[int]], shape: Sequence[int]) -> ir.MemRefType:
    """The type of `source` with its axes split into `groups` of the axes of `shape`."""
    if source.affine_map == ir.AffineMap.get_identity(
        source.rank
    ):  # rows of stride 1 too: the verifier wants no layout in the result
        return ir.MemRefType.get(shape, source.element_type, None, source.memory_space)
    strides, offset = strides_of(source)
    found = [1] * len(shape)
    for group, stride in zip(groups, strides, strict=True):
        for axis in reversed(group):
            found[axis] = stride
            stride = _times(stride, shape[axis])
    return _strided(shape, source, offset, found)


def collapsed_type(source: ir.MemRefType, groups: Sequence[Sequence[int]]) -> ir.MemRefType | None:
    """The type of `source` with each group of axes as one; None where a group is not surely one run of elements."""
    if is_row_major(source):  # then the verifier wants no layout in the result
        shape = [_product([source.shape[axis] for axis in group]) for group in groups]
        return ir.MemRefType.get(shape, source.element_type, None, source.memory_space)
    strides, offset = strides_of(source)
    shape, found = [], []
    for group in groups:
        real = [axis for axis in group if source.shape[axis] != 1]
        for axis, inner in pairwise(real):
            whole = _times(strides[inner], source.shape[inner])
            if whole == _OPEN or strides[axis] != whole:
                return None
        sizes = [source.shape[axis] for axis in group]
        shape.append(_product(sizes))
        kept = list(group)
        while len(kept) > 1 and source.shape[kept[-1]] == 1:
            kept.pop()
        # Of size 1 perhaps: the verifier wants a stride that nobody knows. Elements of the last group would not lie side by side.
        is_unsure = len(kept) > 1 and source.is_dynamic_dim(kept[-1])
        if is_unsure and group == groups[-1]:
            return None
        found.append(_OPEN if is_unsure else strides[kept[-1]])
    return _strided(shape, source, offset, found)


def _product(sizes: Sequence[int]) -> int:
    product = 1
    for size in sizes:
        product = _DYNAMIC if _DYNAMIC in (product, size) else product * size
    return product


def _times(left: int, right: int) -> int:
    if 0 in (left, right):
        return 0
    return _OPEN if _OPEN in (left, right) or _DYNAMIC in (left, right) else left * right


def _plus(left: int, right: int) -> int:
    return _OPEN if _OPEN in (left, right) else left + right

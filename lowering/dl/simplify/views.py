"""Views: which dim of its operand each dim of a reshape, squeeze or unsqueeze is, so that chains of them become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.types import TensorType
from dlc.lowering.dl.matching import attributes_of, groups_of, type_of

VIEWS = ("dl.reshape", "dl.squeeze", "dl.unsqueeze")


@dataclass(frozen=True)
class Copied:
    """A dim that is the one of axis `axis` of the operand, of a size that run time knows."""

    axis: int


@dataclass(frozen=True)
class View:
    """Per dim of the result: a size, a `Copied` dim, or None for the one that is left over."""

    dims: tuple[int | Copied | None, ...]

    @staticmethod
    def picking(kind: TensorType, axes: Sequence[int]) -> View:
        """The view whose dims are those of `axes` of a tensor, and 1 for an axis of -1."""
        return View(tuple(1 if axis < 0 else _own(kind, axis) for axis in axes))

    def attributes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """`shape` and `copied` of the reshape that is this view."""
        shape = tuple(dim if isinstance(dim, int) else -1 for dim in self.dims)
        copied = tuple(dim.axis if isinstance(dim, Copied) else -1 for dim in self.dims)
        return shape, copied if any(axis >= 0 for axis in copied) else ()


def _own(kind: TensorType, axis: int) -> int | Copied:
    dim = kind.shape[axis]
    return dim if isinstance(dim, int) else Copied(axis)


def view_of(op: ir.Operation) -> View | None:
    """The view that an op of `VIEWS` is; None for a reshape to sizes that are values."""
    x, attributes = groups_of(op)[0], attributes_of(op)
    kind = type_of(x)
    if op.name == "dl.squeeze":
        gone = {axis % kind.rank for axis in attributes["axes"]}
        return View.picking(kind, [axis for axis in range(kind.rank) if axis not in gone])
    if op.name == "dl.unsqueeze":
        rank = kind.rank + len(attributes["axes"])
        added = {axis % rank for axis in attributes["axes"]}
        own = iter(range(kind.rank))
        return View.picking(kind, [-1 if axis in added else next(own) for axis in range(rank)])
    if len(op.operands) > 1:
        return None
    return _view_of_reshape(kind, type_of(op.results[0]), attributes["shape"], attributes["copied"])


def _view_of_reshape(kind: TensorType, result: TensorType, shape: Sequence[int], copied: Sequence[int]) -> View:
    dims: list[int | Copied | None] = []
    for index, size in enumerate(shape):
        known = result.shape[index]
        if size >= 0:
            dims.append(size)
        elif copied and copied[index] >= 0:
            dims.append(_own(kind, copied[index]))
        else:
            dims.append(known if isinstance(known, int) else None)
    return View(tuple(dims))


def composed(inner: View, outer: View) -> View | None:
    """The view of `inner`'s operand that `outer` gives of its result; None where no reshape says it."""
    dims = tuple(inner.dims[dim.axis] if isinstance(dim, Copied) else dim for dim in outer.dims)
    return View(dims) if dims.count(None) <= 1 else None


def is_identity(view: View, kind: TensorType) -> bool:
    """Whether the view has the shape of its operand, for operands of type `kind`."""
    if len(view.dims) != kind.rank or (None in view.dims and 0 in kind.shape):
        return False
    return all(dim is None or dim == _own(kind, axis) for axis, dim in enumerate(view.dims))

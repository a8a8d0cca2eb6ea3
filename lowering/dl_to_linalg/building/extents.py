"""Extents of tensors: their arithmetic, and checks of them at run time.

An extent is an int where it is static and an `index` value where it is not; every method takes both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dlc._mlir import ir
from dlc.diagnostics import names_of, place_of
from dlc.dialects.dl.types import MOST_BYTES, Dim
from dlc.lowering.dl_to_linalg.building.scalars import Scalars
from dlc.lowering.pass_base import PassFailure

Extent: TypeAlias = int | ir.Value
Named: TypeAlias = tuple[str, Extent]
"""An extent and what to call it in an error."""

DYNAMIC: int = ir.ShapedType.get_dynamic_size()


@dataclass
class Extents(Scalars):
    """Creates ops on extents at `ip` with location `loc`, for the dl op `op_name`."""

    op_name: str = ""

    def index(self, value: Extent) -> ir.Value:
        """An extent as an `index` value."""
        if isinstance(value, ir.Value):
            return value
        self.require_addressable(value)
        attribute = ir.IntegerAttr.get(ir.IndexType.get(), value)
        return self.create("arith.constant", [ir.IndexType.get()], [], {"value": attribute})

    def dim(self, tensor: ir.Value, axis: int) -> Extent:
        """Size of one axis: an int where the type says it, else a `tensor.dim`."""
        size = tensor.type.shape[axis]
        if size != DYNAMIC:
            return int(size)
        return self.create("tensor.dim", [ir.IndexType.get()], [tensor, self.index(axis)])

    def shape(self, tensor: ir.Value) -> list[Extent]:
        """Sizes of all axes."""
        return [self.dim(tensor, axis) for axis in range(tensor.type.rank)]

    def extent(self, name: str, *operands: Extent) -> Extent:
        """`name` in add, sub, mul, floordiv, ceildiv, max, min on extents; folded where all are static."""
        if all(isinstance(operand, int) for operand in operands):
            return _FOLDS[name](*operands)
        return self.create(_INDEX_OPS[name], [ir.IndexType.get()], [self.index(operand) for operand in operands])

    def num_elements(self, shape: Sequence[Extent]) -> Extent:
        """Product of extents."""
        count: Extent = 1
        for size in shape:
            count = size if isinstance(count, int) and count == 1 else self.extent("mul", count, size)
        return count

    # Checks at run time

    def require_equal(self, left: Named, right: Named) -> None:
        """Fail at run time unless both extents are equal; nothing where both are static."""
        self._require("eq", left, right)

    def require_at_most(self, small: Named, large: Named) -> None:
        """Fail at run time if `small` is greater than `large`; nothing where both are static."""
        self._require("le", small, large)

    def declared(self, axis: int, size: Extent, dim: Dim) -> Extent:
        """The size of a result's axis: `dim` where its type says it, which run time holds `size` against, else `size`."""
        if not isinstance(dim, int):
            return size
        self.require_equal((f"result dim {axis}", size), ("its declared size", dim))
        return dim

    def _require(self, predicate: str, left: Named, right: Named) -> None:
        if isinstance(left[1], int) and isinstance(right[1], int):
            return
        if isinstance(left[1], int):  # canonicalize moves constants to the right
            left, right, predicate = right, left, _MIRRORED[predicate]
        holds = self.compare_index(predicate, self.index(left[1]), self.index(right[1]))
        self.require(holds, f"{left[0]} is {{}} but {right[0]} is {{}}")

    def require(self, holds: ir.Value, what: str) -> None:
        """Fail at run time with `what` unless the i1 `holds`.

        The two `{}` of `what` stand for the operands of the comparison that gives `holds`, of the first in a disjunction.
        """
        message = ir.StringAttr.get(f"{self._subject()}: {what}")
        self.operation("cf.assert", [], [holds], {"msg": message})

    def _subject(self) -> str:
        """The dl op by its name and node, or place in the source."""
        names = ", ".join(names_of(self.loc))
        if names:
            return f"'{self.op_name}' at node '{names}'"
        place = ":".join(str(part) for part in place_of(self.loc) if part)
        return f"'{self.op_name}' at {place}" if place else f"'{self.op_name}'"

    def require_addressable(self, size: int) -> None:
        """Refuse a size that no machine can address."""
        if size >= 1 << 63:
            what = f"{self._subject()}: a size of {size} on the way is more than any machine can address"
            raise PassFailure(self.loc, what, _REMEDY)

    def require_room(self, sizes: Sequence[int]) -> None:
        """Refuse a tensor on the way whose static sizes alone are more elements than a machine can address."""
        count = math.prod(size for size in sizes if size > 0)
        if count > MOST_BYTES:
            what = f"{self._subject()}: a tensor of {count} elements on the way is more than any machine can address"
            raise PassFailure(self.loc, what, _REMEDY)


_REMEDY = "make sizes, pads and windows smaller"
_MIRRORED = {"eq": "eq", "le": "ge"}
_INDEX_OPS = {
    "add": "arith.addi",
    "sub": "arith.subi",
    "mul": "arith.muli",
    "floordiv": "arith.floordivsi",
    "ceildiv": "arith.ceildivsi",
    "max": "arith.maxsi",
    "min": "arith.minsi",
}
_FOLDS: dict[str, Callable[..., int]] = {
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
    "floordiv": lambda left, right: left // right,
    "ceildiv": lambda left, right: -(-left // right),
    "max": max,
    "min": min,
}

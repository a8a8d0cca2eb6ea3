"""Which elements of which array the instances of a statement touch: what the polyhedral model adds to an access."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dlc._mlir import ir
from dlc.analysis.buffers import element_bytes

if TYPE_CHECKING:
    import islpy as isl


@dataclass(frozen=True, eq=False)
class LoopVariable:
    """One induction variable of an `affine.for`, or of an `affine.parallel`, whose iterations have no order."""

    op: ir.Operation
    variable: ir.Value
    name: str
    """Its dim's name in the domains of the statements inside."""
    is_parallel: bool = False


@dataclass(frozen=True, eq=False)
class Array:
    """Memory that shares no element with other arrays: the root `value` is a memref, or an SSA value that crosses statements.

    `name` is its tuple name in relations, unique in its scop. One that is allocated, or a value that is computed, inside loops
    exists once an iteration: its first dims are the variables of `loops`, and `rank` counts them. Values have no dims beside these.
    """

    name: str
    value: ir.Value
    rank: int
    is_memory: bool = True
    is_local: bool = False
    """Whether nothing outside the scop can see it: contents before and after do not matter."""
    loops: tuple[LoopVariable, ...] = ()

    @property
    def element_bytes(self) -> int:
        """Bytes of an element of memory, or of a value; 8 for types that are no plain numbers."""
        kind = self.value.type
        return element_bytes(ir.MemRefType(kind).element_type if isinstance(kind, ir.MemRefType) else kind) or 8


@dataclass(frozen=True, eq=False)
class ElementRelation:
    """`relation` takes instances of a statement to elements of `array`; a vector access takes one to several.

    `position` is the index of the access's op among the statement's: within one instance, accesses happen in its order, reads of
    one op before its writes.
    """

    statement_name: str
    array: Array
    relation: isl.Map
    position: int

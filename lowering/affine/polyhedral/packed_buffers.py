"""Local memory that transformations make: records of buffers and of the statements that copy to and from them.

An access whose array is a `Buffer` says in its relation where in the buffer it goes; the op of the statement still names the
memref that it went to before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.polyhedral.model import Scop, Statement
from dlc.lowering.policy import policy
from dlc.targets.machine import LINE_BYTES


@dataclass(frozen=True, eq=False)
class Buffer(Array):
    """Memory of a static shape that does not exist yet; `value` is the memref whose elements it holds copies of."""

    shape: tuple[int, ...] = ()

    @property
    def element_type(self) -> ir.Type:
        """The type of its elements."""
        return ir.MemRefType(self.value.type).element_type

    @property
    def is_on_stack(self) -> bool:
        """Whether it is small enough for an alloca; types without a width count 8 bytes."""
        width = getattr(self.element_type, "width", 64)
        return prod(self.shape) * ((width + 7) // 8) <= policy().memory.stack_bytes


@dataclass(frozen=True, eq=False)
class CopyStatement(Statement):
    """Moves one element: reads by its first access, writes by its second one."""

    place: ir.Location | None = None

    @property
    def location(self) -> ir.Location:
        """Where the accesses come from for which it copies."""
        assert self.place is not None
        return self.place


def allocate(buffer: Buffer, location: ir.Location, where: ir.InsertionPoint) -> ir.Value:
    """Build the op that allocates `buffer`."""
    kind = ir.MemRefType.get(buffer.shape, buffer.element_type)
    name = "memref.alloca" if buffer.is_on_stack else "memref.alloc"
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), LINE_BYTES)
    attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0]), "alignment": alignment}
    return ir.Operation.create(name, [kind], attributes=attributes, loc=location, ip=where).results[0]


def buffer_accesses(statement: Statement) -> list[MemRefAccess]:
    """The accesses whose place comes from their relations, in order."""
    return [access for access in statement.accesses if isinstance(access.array, Buffer) or isinstance(statement, CopyStatement)]


def next_names(scop: Scop, count: int) -> list[str]:
    """Names for new statements."""
    return [f"S{len(scop.statements) + number}" for number in range(count)]


def with_statements(scop: Scop, statements: Sequence[Statement], buffer: Buffer) -> Scop:
    """The scop with those statements, which replace their namesakes, and one more array."""
    new = {statement.name: statement for statement in statements}
    kept = [new.pop(old.name, old) for old in scop.statements]
    return replace(scop, statements=(*kept, *new.values()), arrays=(*scop.arrays, buffer))


def with_row_length(scop: Scop, buffer: Buffer, length: int) -> Scop:
    """The scop whose `buffer` has longer rows, of which the ends stay unused."""
    longer = replace(buffer, shape=(*buffer.shape[:-1], length))

    def moved(statement: Statement) -> Statement:
        accesses = [one.redirected(longer, one.relation) if one.array is buffer else one for one in statement.accesses]
        return replace(statement, accesses=tuple(accesses))

    arrays = tuple(longer if array is buffer else array for array in scop.arrays)
    return replace(scop, statements=tuple(map(moved, scop.statements)), arrays=arrays)


def subscripts_at(build: isl.AstBuild, access: MemRefAccess) -> list[isl.AstExpr]:
    """The subscripts of `access` in terms of the iterators of the AST that is being built."""
    times = isl.Map.from_union_map(build.get_schedule())
    where = isl.PwMultiAff.from_map(access.relation).pullback_pw_multi_aff(isl.PwMultiAff.from_map(times.reverse()))
    found = build.access_from_pw_multi_aff(where)
    return [found.get_op_arg(at) for at in range(1, found.get_op_n_arg())]

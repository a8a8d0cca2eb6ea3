"""Changes of a function's loops: extract them, change their schedule, check it, write the loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import is_allocation, nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine.ir.loops import SCHEDULE, SEARCH
from dlc.lowering.affine.loop_generation.emit import replace_loops, try_loops
from dlc.lowering.affine.polyhedral.ast_expressions import EmissionError
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.loop_marks import name_of
from dlc.lowering.affine.polyhedral.model import ExtractionError, Scop
from dlc.lowering.affine.polyhedral.movable import refuse_unmovable
from dlc.lowering.affine.polyhedral.packed_buffers import Buffer
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.policy import policy


class LoopPass(Protocol):
    """A pass that is one primitive: its options are the primitive's arguments."""

    @property
    def function(self) -> str:
        """Name of the only function that it changes; "" for all."""

    @property
    def assume_no_alias(self) -> bool:
        """Whether distinct memrefs are taken to share no memory."""

    @property
    def reassociate(self) -> bool:
        """Whether sums of floats may be computed in any order."""

    def change(self, program: Program) -> Result:
        """The changed program and the names of loops to go on with."""


def change_loops(function: ir.Operation, change: LoopPass) -> None:
    """Apply `change` to `function`, a `func.func`, unless it has no loops or another one is meant. Raises PassFailure."""
    wanted = change.function.removeprefix("@")
    if (wanted and wanted != symbol_name(function)) or not has_loops(function):
        return
    try:
        program = read(function, change.assume_no_alias, change.reassociate)
        with limited_work():
            write(change.change(program)[0])
    except ExtractionError as error:
        raise PassFailure(error.op, error.reason, error.remedy) from None
    except PrimitiveError as error:
        raise PassFailure(error.location or function, error.reason, error.remedy) from None


@contextmanager
def bounded_work(op: ir.Operation, most: int) -> Iterator[None]:
    """PassFailure at `op` where isl does more than `most` operations, or fails otherwise."""
    try:
        with limited_work(most):
            yield
    except PrimitiveError as error:
        raise PassFailure(op, error.reason, error.remedy) from None


@contextmanager
def limited_work(most: int | None = None) -> Iterator[None]:
    """PrimitiveError where isl does more than `most` operations, so that a step ends everywhere alike, and for its other errors."""
    most = policy().limits.step_operations if most is None else most
    context = isl.DEFAULT_CONTEXT
    limit = context.get_max_operations()
    context.set_max_operations(most)
    context.reset_operations()
    try:
        yield
    except isl.Error as error:
        text = str(error).split(" in /")[0]
        if "operations exceeded" in text:
            text = f"it does not finish within {most:,} operations"
        raise PrimitiveError(f"isl gives up: {text}", "change less at once") from None
    finally:
        context.set_max_operations(limit)
        context.reset_operations()


def step(program: Program, change: LoopPass) -> Result:
    """`program` after `change`, whose loops can be written; PrimitiveError where they cannot or it is not legal."""
    with limited_work():
        new, loops = change.change(program)
        try_write(new)
    return new, loops


def has_loops(function: ir.Operation) -> bool:
    """Whether there are affine loops at the top level of a function's body."""
    blocks = list(function.regions[0].blocks)
    ops = [op.operation.name for op in blocks[0].operations] if blocks else []
    return "affine.for" in ops or "affine.parallel" in ops


def read(function: ir.Operation, assume_no_alias: bool = False, reassociate: bool = False) -> Program:
    """The program of a function's loops.

    Raises ExtractionError for what it cannot hold or could not be written back, PrimitiveError where isl has too much to do.
    """
    scop = extract(function, assume_no_alias=assume_no_alias)
    refuse_unmovable(scop)
    if not scop.statements:
        raise PrimitiveError("the loops store nothing, so that there is no order to change", "let them store, or take them out")
    with limited_work():
        return Program.of(scop, reassociate=reassociate)


def write(program: Program) -> None:
    """Build the program's loops in place of those that it was made from.

    Raises PrimitiveError, with the IR as it was, where that cannot be done.
    """
    function = program.scop.items[0].parent.operation
    _emitted(program, replace_loops)
    for loop in nested_ops(function) if program.tiles else ():
        if name_of(loop) in program.tiles:
            tile = program.tiles[name_of(loop)]
            loop.attributes[SEARCH if tile is None else SCHEDULE] = ir.UnitAttr.get() if tile is None else tile.attribute()
    used = {access.array for statement in program.scop.statements for access in statement.accesses}
    for array in program.scop.arrays:
        if array.is_local and array not in used and not isinstance(array, Buffer):
            _erase_unused(array.value)


def _erase_unused(memref: ir.Value) -> None:
    """Drop an allocation that a buffer has taken the place of."""
    users = [use.owner.operation for use in memref.uses]
    if not is_allocation(memref) or any(user.name != "memref.dealloc" for user in users):
        return
    for user in users:
        user.erase()
    memref.owner.operation.erase()


def try_write(program: Program) -> None:
    """Raise the PrimitiveError that `write` would raise, if any."""
    _emitted(program, try_loops)


def _emitted(program: Program, emit: Callable[[Scop, isl.Schedule, int | None], None]) -> None:
    try:
        emit(program.scop, program.schedule, None)
    except EmissionError as error:
        raise PrimitiveError(f"the loops cannot be written: {error}", "change less at once", program.location) from None

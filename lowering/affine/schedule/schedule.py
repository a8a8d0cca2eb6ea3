"""Schedules of loops, step by step:

    s = dlc.Schedule(text)
    io, ii = s.split("i", 32)
    s.interchange(["j", ii])
    s.parallelize(io)
    print(s)
    s.apply()

Each step is checked when it is made and refused with a `ScheduleError` where it would change results. The loops are written by
`apply` alone. `trace` holds the steps as passes; `to_python` and `to_transform` print them, `Schedule.replay` reads either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

from dlc._mlir import ir
from dlc.analysis.symbols import functions_of, symbol_name
from dlc.diagnostics import at_location, from_mlir
from dlc.errors import ScheduleError, quoted
from dlc.lowering.affine.polyhedral.model import ExtractionError
from dlc.lowering.affine.schedule.driver import LoopPass, has_loops, read, step, write
from dlc.lowering.affine.schedule.program import PrimitiveError, Program
from dlc.lowering.affine.schedule.schedule_text import as_lines, as_python, read_steps
from dlc.lowering.affine.schedule.steps import Recorded, Steps, require_kinds
from dlc.lowering.affine.schedule.transform_text import as_transform
from dlc.lowering.affine.schedule.tree_text import loop_names, tree_text
from dlc.lowering.pass_base import Pass
from dlc.lowering.registry import find_pass

Source: TypeAlias = str | ir.Module | ir.Operation | ir.OpView


class Schedule:
    """Steps that change the loops of one function; see the module docstring.

    `source` is MLIR text, a module, or a `func.func`. Of a module, `function` names the one that is meant, which may be left
    out where only one has loops. With `assume_no_alias`, distinct memrefs are taken to share no memory; with `reassociate`, sums
    and products of floats may be computed in any order.
    """

    def __init__(self, source: Source, function: str = "", *, assume_no_alias: bool = False, reassociate: bool = False) -> None:
        self.module, self._function = _find(source, function.removeprefix("@"))
        self.assume_no_alias, self.reassociate = assume_no_alias, reassociate
        self.trace: tuple[Recorded, ...] = ()
        self._is_applied = False
        with self._function.context, ir.Location.unknown():
            try:
                self._program: Program = read(self._function, assume_no_alias, reassociate)
            except ExtractionError as error:
                raise _located(error.op.location, error.reason, error.remedy) from None
            except PrimitiveError as error:
                raise _located(self._function.location, error.reason, error.remedy) from None

    # What there is.

    @property
    def function(self) -> str:
        """The function's name."""
        return symbol_name(self._function)

    def loops(self) -> list[str]:
        """What the loops are called, in the order in which they begin."""
        return loop_names(self._program.tree)

    def statements(self) -> list[str]:
        """What the statements are called: S0, S1, ... in the order of the text, then those that steps have made."""
        return [statement.name for statement in self._program.scop.statements]

    def __str__(self) -> str:
        return f"@{self.function}\n{tree_text(self._program)}"

    # Steps. Each returns the loops to go on with.

    def tile(self, loops: Sequence[str], sizes: Sequence[int]) -> tuple[str, ...]:
        """Run a perfect nest tile by tile; returns the loops over tiles, then those inside."""
        return self._step("tile-band", loops=_several("loops", loops), sizes=_several("sizes", sizes))

    def split(self, loop: str, factor: int = 0, *, parts: int = 0) -> tuple[str, ...]:
        """Make two loops of one, which both count from 0; returns the outer and the inner one."""
        return self._step("split-loop", loop=loop, factor=factor, parts=parts)

    def strip_mine(self, loop: str, size: int) -> tuple[str, ...]:
        """Run a loop in strips; returns the loop over strips and the one inside, which has the values of before."""
        return self._step("strip-mine-loop", loop=loop, size=size)

    def interchange(self, loops: Sequence[str]) -> tuple[str, ...]:
        """Put loops of a perfect nest into this order."""
        return self._step("interchange-band", loops=_several("loops", loops))

    def fuse(self, first: str, second: str) -> str:
        """Make one loop of two that follow each other."""
        return self._step("fuse-loops", first=first, second=second)[0]

    def distribute(self, loop: str, before: Sequence[str] = ()) -> tuple[str, ...]:
        """Make a loop for each item of a loop's body, or for groups that begin at the statements `before`."""
        return self._step("distribute-loop", loop=loop, before=_several("before", before))

    fission = distribute

    def skew(self, inner: str, outer: str, factor: int = 1) -> str:
        """Let an inner loop's values move by `factor` with each value of an outer one."""
        return self._step("skew-band", inner=inner, outer=outer, factor=factor)[0]

    def peel(self, loop: str, count: int = 1, *, last: bool = False) -> tuple[str, ...]:
        """Take the first (or last) iterations out; returns both loops in their order."""
        return self._step("peel-loop", loop=loop, count=count, last=last)

    def split_index_set(self, loop: str, at: int | str) -> tuple[str, ...]:
        """Cut a loop in two at the value `at`, an affine expression; returns both loops."""
        return self._step("split-index-set", loop=loop, at=str(at))

    def unroll(self, loop: str, factor: int = 0) -> tuple[str, ...]:
        """Write out `factor` iterations (0: all); returns the loop over groups and those of what is left."""
        return self._step("unroll-loop", loop=loop, factor=factor)

    def unroll_and_jam(self, loop: str, factor: int) -> tuple[str, ...]:
        """Write out `factor` iterations inside the loops within; returns as `unroll`."""
        return self._step("unroll-and-jam-loop", loop=loop, factor=factor)

    def vectorize(self, loop: str, width: int) -> tuple[str, ...]:
        """Make `width` iterations the lanes of vectors; returns the loop over vectors and those of what is left."""
        return self._step("vectorize-loop", loop=loop, width=width)

    def parallelize(self, loop: str) -> str:
        """Let the iterations run in any order."""
        return self._step("parallelize-loop", loop=loop)[0]

    def reverse(self, loop: str) -> str:
        """Run the iterations in the opposite order."""
        return self._step("reverse-loop", loop=loop)[0]

    def shift(self, statement: str, loop: str, distance: int) -> str:
        """Run a statement `distance` iterations later than the rest of a loop's body."""
        return self._step("shift-statement", statement=statement, loop=loop, distance=distance)[0]

    def pack(self, array: str, loop: str = "") -> tuple[str, ...]:
        """Copy what an iteration of `loop` touches of an array (A0, or arg0) into a buffer and back; returns the copies' loops."""
        return self._step("pack-buffer", array=array, loop=loop)

    def compute_at(self, statements: str | Sequence[str], loop: str) -> str:
        """Run producers inside a loop of their consumer; local arrays shrink to what is needed at a time."""
        names = (statements,) if isinstance(statements, str) else _several("statements", statements)
        return self._step("compute-at", statements=names, loop=loop)[0]

    def tile_registers(
        self,
        loop: str,
        lane_loop: str = "",
        lanes: int = 1,
        vectors: int = 1,
        unroll_and_jam: Sequence[str] = (),
        factors: Sequence[int] = (),
        **choices: Any,
    ) -> str:
        """Have a code generator make vectors and register tiles of the nest whose outermost loop is `loop`.

        Other choices: `order`, `unroll`, `prefetch`, `fetch_rows`, `blocks`, `block_sizes`, `pack`, `code_generator`, as in
        `Tile` but with names for loops.
        """
        others = {key: tuple(value) if isinstance(value, list) else value for key, value in choices.items()}
        tile = {"lane_loop": lane_loop, "lanes": lanes, "vectors": vectors}
        jams = {"unroll_and_jam": tuple(unroll_and_jam), "factors": tuple(factors)}
        return self._step("set-register-tile", loop=loop, **tile, **jams, **others)[0]

    def search(self, loop: str) -> str:
        """Leave the nest whose outermost loop is `loop` to the search for register tiles, though steps have changed it."""
        return self._step("search-nest", loop=loop)[0]

    def bind(self, loop: str, unit: str) -> str:
        """Make the iterations of a loop blocks or threads of a GPU's kernel: `block.x`, `thread.y`, ..."""
        return self._step("bind-loop", loop=loop, unit=unit)[0]

    def _step(self, kind: str, **arguments: object) -> tuple[str, ...]:
        found = find_pass(f"affine-{kind}")
        assert found is not None
        return self._do(found(**arguments, **self._where()))

    def _where(self) -> dict[str, Any]:
        """The options that all steps share."""
        return {"function": self.function, "assume_no_alias": self.assume_no_alias, "reassociate": self.reassociate}

    def _do(self, change: Pass) -> tuple[str, ...]:
        self._require_open()
        require_kinds(change)
        with self._function.context, ir.Location.unknown():
            try:
                new, loops = step(self._program, cast(LoopPass, change))
            except PrimitiveError as error:
                raise _located(error.location or self._program.location, error.reason, error.remedy) from None
        self._program = new
        self.trace = (*self.trace, Recorded(change, loops))
        return loops

    def _require_open(self) -> None:
        if self._is_applied:
            raise ScheduleError("the schedule is applied already", "make a new one of the function for further steps")

    # What comes of it.

    def apply(self) -> ir.Module | ir.Operation:
        """Write the loops; returns the module (the function, where the schedule was made of one). No step may follow."""
        self._require_open()
        with self._function.context, ir.Location.unknown():
            try:
                write(self._program)
            except PrimitiveError as error:
                raise _located(error.location or self._function.location, error.reason, error.remedy) from None
        self._is_applied = True
        return self.module

    def to_python(self) -> str:
        """The steps as Python text."""
        return as_python(self._where(), self.trace)

    def to_transform(self) -> str:
        """The steps as a named sequence of the transform dialect."""
        return as_transform(self._where(), self.trace)

    @classmethod
    def replay(cls, text: str, source: Source) -> Schedule:
        """Make the schedule that `to_python` or `to_transform` printed, apply it to `source`, and return it."""
        plan = read_steps(text)
        new = cls(source, **plan.where)
        new.follow(plan)
        new.apply()
        return new

    def follow(self, plan: Steps) -> None:
        """Make the steps of a plan, whatever function they were made for."""
        if not isinstance(plan, Steps):
            raise ScheduleError(f"steps are followed as `read_steps` gives them, not as {quoted(plan)}", "`replay` takes a text")
        variables: dict[str, str] = {}
        for planned in plan.steps:
            change = replace(planned.change(variables), **self._where())
            variables |= dict(zip(planned.targets, self._do(change), strict=False))

    def to_lines(self) -> tuple[str, ...]:
        """The steps as calls, one a line, without the function: what a table of schedules keeps."""
        return as_lines(self._where(), self.trace)

    @property
    def program(self) -> Program:
        """The loops after the steps so far, as the polyhedral model has them."""
        return self._program


def _several(what: str, given: Sequence[Any]) -> tuple[Any, ...]:
    """The entries of an argument that is a list."""
    if not isinstance(given, Iterable):
        raise ScheduleError(f"{what} must be a list, not {quoted(given)}", f"give {what} in brackets")
    return tuple(given)


def _located(location: ir.Location, reason: str, remedy: str) -> ScheduleError:
    message = f"{reason}; {remedy}" if remedy else reason
    return ScheduleError(reason, remedy, [at_location(location, message)])


def _find(source: Source, name: str) -> tuple[ir.Module | ir.Operation, ir.Operation]:
    """What keeps the IR alive, and the function that is meant."""
    if isinstance(source, str):
        source = _parsed(source)
    top = source.operation
    if top.name == "func.func":
        return (source if isinstance(source, ir.Module) else top), top
    functions = functions_of(top)
    called = {symbol_name(op): op for op in functions}
    fitting = [op for key, op in called.items() if key == name or (not name and has_loops(op))]
    if len(fitting) == 1:
        return (source if isinstance(source, ir.Module) else top), fitting[0]
    known = ", ".join(called) or "none"
    if name:
        raise ScheduleError(f"the module has no function '{name}'", f"name one of its functions ({known})")
    raise ScheduleError(f"{len(fitting)} functions of the module have loops", f"name the function that is meant ({known})")


def _parsed(text: str) -> ir.Module:
    from dlc.dialects import make_context

    with make_context(), ir.Location.unknown():
        try:
            return ir.Module.parse(text)
        except ir.MLIRError as error:
            raise ScheduleError("the text is no MLIR", "", [from_mlir(found) for found in error.error_diagnostics]) from None

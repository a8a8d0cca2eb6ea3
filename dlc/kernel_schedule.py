"""The schedule of one kernel of a model: `dlc.Schedule` with the search behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dlc._mlir import ir
from dlc.errors import PassError, ScheduleError, quoted
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.schedule.kernel_loops import KernelLoops
from dlc.lowering.affine.schedule.loop_tree import LoopNode, Path, label, walk
from dlc.lowering.affine.schedule.program import PrimitiveError
from dlc.lowering.affine.schedule.schedule import Schedule

Trial = Callable[[Sequence[str]], None]
"""Applies steps to a copy of the kernel; PassError where a code generator has no code for what they ask."""
Searched = Callable[[Sequence[str], str], Tile | None]
"""What the search chooses for the nest of that loop after those steps; None where no code generator takes it."""


class KernelSchedule(Schedule):
    """Steps that change the loops of a kernel, which `dlc.compile` makes.

    Sums are elements of memory here, and become values again when the kernel is compiled. Loops that no step changes are left to
    the search; others are compiled as the steps leave them, but for nests that `tile_registers` or `search` names.
    """

    def __init__(
        self, kernel: ir.Operation, trial: Trial, searched: Searched, assume_no_alias: bool = False, reassociate: bool = False
    ) -> None:
        super().__init__(KernelLoops.of(kernel).module, assume_no_alias=assume_no_alias, reassociate=reassociate)
        self._trial, self._searched = trial, searched

    def tile_registers(self, loop: str, *given: Any, **choices: Any) -> str:
        """Have a code generator make vectors and register tiles of the nest whose outermost loop is `loop`.

        What is left out is as the search chooses it. `ScheduleError` where the code generator has no code for it.
        """
        name = self._name_of(loop)
        found = self._searched((*self.to_lines(), f"search({loop!r})"), name)
        base = dict(self._named(loop, found)) if found else {}
        given_by_name = dict(zip(("lane_loop", "lanes", "vectors", "unroll_and_jam", "factors"), given, strict=False))
        return self._tried(lambda: Schedule.tile_registers(self, loop, **{**base, **given_by_name, **choices}))

    def search(self, loop: str) -> str:
        """Leave the nest whose outermost loop is `loop` to the search, though steps have changed it."""
        return self._tried(lambda: Schedule.search(self, loop))

    def apply(self) -> ir.Module | ir.Operation:
        """Not for kernels: `dlc.compile` applies what `dlc.kernels` holds."""
        raise ScheduleError("the schedule of a kernel is applied when its model is compiled", "give the kernels to dlc.compile")

    def _tried(self, make: Callable[[], str]) -> str:
        """What `make` returns, once the kernel has been compiled so far; the step is undone where it cannot."""
        program, trace = self._program, self.trace
        made = make()
        try:
            self._trial(self.to_lines())
        except PassError as error:
            self._program, self.trace = program, trace
            raise ScheduleError("; ".join(each.message for each in error.diagnostics) or str(error)) from None
        return made

    def _name_of(self, loop: str) -> str:
        """The name that the loop has, or gets."""
        if not isinstance(loop, str):
            raise ScheduleError(f"a loop is named by a text, not {quoted(loop)}", "name it as the schedule shows it")
        try:
            return self._program.loop(loop).name or self._program.fresh_name(self._program.base_name(self._program.find(loop)))
        except PrimitiveError as error:
            raise ScheduleError(error.reason, error.remedy) from None

    def _named(self, loop: str, found: Tile) -> Iterator[tuple[str, object]]:
        """The fields of `found` as arguments, with names for positions in the nest of `loop`."""
        names = list(_loops_inside(self, self._program.find(loop)))
        yield "lane_loop", names[found.lane_loop]
        yield "unroll_and_jam", tuple(names[place] for place, _ in found.unroll_and_jam)
        yield "factors", tuple(count for _, count in found.unroll_and_jam)
        yield "order", tuple(names[place] for place in found.order)
        yield "blocks", tuple(names[place] for place, _ in found.blocks)
        yield "block_sizes", tuple(size for _, size in found.blocks)
        for field in ("lanes", "vectors", "unroll", "prefetch", "fetch_rows", "pack", "code_generator"):
            yield field, getattr(found, field)


def _loops_inside(schedule: Schedule, top: Path) -> Iterator[str]:
    """What the loops of a nest are called, from the outside in, along the first of the deepest ones."""
    tree = schedule.program.tree
    loops = [path for path, node in walk(tree) if isinstance(node, LoopNode) and path[: len(top)] == top]
    deepest = max(loops, key=schedule.program.depth)
    yield from (label(tree, path) for path in loops if deepest[: len(path)] == path)

"""What each pass of a pipeline does to a module, in numbers: ops before and after, seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.deadline import Progress
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipeline_run import Instrument, Step


@dataclass(frozen=True)
class PassReport:
    """One run of a pass: ops in the module before and after, seconds."""

    name: str
    ops_before: int
    ops_after: int
    seconds: float


class PassRecorder(Instrument):
    """Counts ops and seconds; a pass that runs function by function is one report."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._found: list[PassReport] = []
        self._last: object = None
        self._begin, self._ops = 0.0, 0

    def run(self, pipeline: Pipeline, module: ir.Module) -> None:
        """Run `pipeline` on `module`, and add a report for each pass."""
        with module.context, ir.Location.unknown():
            pipeline.run(module, instruments=[self])

    def before(self, step: Step) -> None:
        if self._progress:
            self._progress(step.name)
        self._ops = _count(step.root)
        self._begin = time.perf_counter()

    def after(self, step: Step) -> None:
        seconds = time.perf_counter() - self._begin
        report = PassReport(step.name, self._ops, _count(step.root), seconds)
        if self._last is step.element:
            last = self._found.pop()
            report = PassReport(step.name, last.ops_before, report.ops_after, last.seconds + seconds)
        self._found.append(report)
        self._last = step.element

    def reports(self) -> tuple[PassReport, ...]:
        """The reports so far, in the order of running."""
        return tuple(self._found)


def _count(module: ir.Operation) -> int:
    """Ops inside the functions of a module."""
    count = 0

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal count
        count += 1
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return count - 1 - len(module.regions[0].blocks[0].operations)

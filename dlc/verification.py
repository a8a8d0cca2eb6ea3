"""Whether the schedules of a model's kernels keep what the kernels compute: each kernel is compared before and after.

    for verdict in dlc.verify_schedules("model.onnx"):
        print(verdict)

The comparison (`lowering/affine/equivalence`) knows nothing of schedules: it reads the loops of both and relates their values, sums
in any order, a fused multiply-add as a product and a sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from dlc._mlir import ir
from dlc.accuracy import Precision
from dlc.errors import ScheduleError
from dlc.lowering.affine.equivalence.equivalence import Assumptions, Refusal, compare
from dlc.lowering.affine.equivalence.plain_vectors import make_plain
from dlc.lowering.affine.ir.op_names import origins
from dlc.lowering.affine.polyhedral.model import ExtractionError
from dlc.lowering.deadline import Progress
from dlc.machines import scheduling_target
from dlc.model_kernels import Kernel, kernels
from dlc.option_values import DEFAULT_TARGET
from dlc.sources import Model, ShapeOverrides
from dlc.targets.schedules import Schedules, kernels_of

Outcome = Literal["proved", "undecided", "illegal"]
_MOST_OPERATIONS = 40_000_000
"""What isl may do for a kernel: convolutions of 3x3 taps take ten seconds, and less than this."""
_ASSUMED = Assumptions(non_negative=True, reassociate=True)


@dataclass(frozen=True)
class Verdict:
    """The outcome for one kernel; `reason` says what could not be compared, or which two iterations change their order."""

    kernel: str
    outcome: Outcome
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.kernel}: {self.outcome}" + (f", {self.reason}" if self.reason else "")


def verdict_of(kernel: Kernel) -> Verdict:
    """Compare a kernel as it was before schedules were chosen with what its schedule makes of it."""
    before, after = kernel.alone(), kernel.scheduled(named=True)
    with after.context, ir.Location.unknown():
        function, changed = kernels_of(before)[kernel.name], kernels_of(after)[kernel.name]
        make_plain(changed)
        try:
            found = compare(function, changed, origins(changed, function), "the schedule", _ASSUMED, _MOST_OPERATIONS)
        except ExtractionError as error:
            return Verdict(kernel.name, "undecided", str(error))
    if found.refusal is None:
        return Verdict(kernel.name, "proved")
    return Verdict(kernel.name, "illegal" if _is_sure(found.refusal) else "undecided", found.refusal.message)


def _is_sure(refusal: Refusal) -> bool:
    """Whether the refusal names a dependence that is not kept, or an element outside of memory.

    Where only values differ they may still be equal: the comparison knows no arithmetic, such as that no number is below -inf.
    """
    return refusal.witness is not None or refusal.is_outside


def verify_schedules(
    model: Model,
    target: str = DEFAULT_TARGET,
    *,
    shapes: ShapeOverrides | None = None,
    schedule: Schedules | None = None,
    winograd: int | None = None,
    precision: Precision | None = None,
    progress: Progress | None = None,
) -> tuple[Verdict, ...]:
    """A verdict for each kernel of a model, with the schedules that `schedule` gives and the search's for the others.

    Options are those of `compile`. `ScheduleError` for the first kernel whose schedule is illegal, with the counterexample;
    `TargetError` for a target that kernels get no schedules for.
    """
    scheduling_target(target)
    found = kernels(model, target, shapes=shapes, schedule=schedule, winograd=winograd, precision=precision)
    return tuple(_required(found, progress))


def _required(found: Mapping[str, Kernel], progress: Progress | None) -> Iterator[Verdict]:
    for number, kernel in enumerate(found.values(), 1):
        if progress:
            progress(f"verify schedules ({number} of {len(found)})")
        verdict = verdict_of(kernel)
        if verdict.outcome == "illegal":
            nodes = f" (node {', '.join(kernel.nodes)})" if kernel.nodes else ""
            raise ScheduleError(f"the schedule of kernel '{kernel.name}'{nodes} is illegal: {verdict.reason}", "leave it out")
        yield verdict


def summary(verdicts: tuple[Verdict, ...]) -> str:
    """How many schedules are proved, and what could not be decided, in lines."""
    proved = sum(verdict.outcome == "proved" for verdict in verdicts)
    others = [str(verdict) for verdict in verdicts if verdict.outcome != "proved"]
    return "\n".join([f"schedules of {proved} of {len(verdicts)} kernels are proved", *others])

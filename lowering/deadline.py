"""The end of a compilation whose time is up: a progress function that raises, and what it can tell others of its time."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from dlc.errors import CompileTimeoutError, InvalidInputError, quoted
from dlc.lowering.pipeline_run import Instrument, Step

Progress = Callable[[str], None]
"""Called with the name of each step as it begins."""

_MOST_SECONDS = 1e12
"""Of a timeout: more do not fit the clock's numbers, and mean none."""


class Deadline:
    """Ends a compilation at the first step that begins `seconds` after `begin`; steps before are handed on to `progress`.

    Each call raises `CompileTimeoutError` from then on. `begin` is a reading of `time.monotonic`, by default now; `subject` is
    what is compiled, for the message.
    """

    def __init__(self, seconds: float, subject: str, progress: Progress | None = None, begin: float | None = None) -> None:
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= _MOST_SECONDS:
            raise InvalidInputError(f"timeout is {quoted(seconds)}; give seconds, more than 0, or None")
        self._seconds, self._subject, self._progress = seconds, subject, progress
        self._end = (monotonic() if begin is None else begin) + seconds
        self._steps: list[str] = []

    def __call__(self, step: str) -> None:
        """Say that `step` begins."""
        self.check(f"before '{step}'")
        self._steps.append(step)
        if self._progress:
            self._progress(step)

    def left(self) -> float:
        """Seconds that are left, 0 at least."""
        return max(0.0, self._end - monotonic())

    def check(self, where: str) -> None:
        """Raise `CompileTimeoutError` if the time is up; `where` says where that ends the compilation."""
        if self.left() > 0:
            return
        last = f", the last one '{self._steps[-1]}'" if self._steps else ""
        raise CompileTimeoutError(
            f"{self._subject}: error: not compiled within {self._seconds:g} s: ended {where}, after {len(self._steps)} steps"
            f"{last}; give more time, or compile again: kernels that are done are taken from the cache",
            tuple(self._steps),
        )


def timed(timeout: float | None, subject: str, progress: Progress | None, begin: float | None = None) -> Progress | None:
    """`progress`, or a `Deadline` around it where there is a `timeout` in seconds."""
    if progress is not None and not callable(progress):
        raise InvalidInputError(f"progress is {quoted(progress)}; give a function that takes the name of each step, or None")
    return progress if timeout is None else Deadline(timeout, subject, progress, begin)


class ProgressReport(Instrument):
    """Reports the name of each pass as it begins."""

    def __init__(self, report: Progress) -> None:
        self._report = report

    def before(self, step: Step) -> None:
        self._report(step.name)


class _Check(Instrument):
    """Ends a run of passes at a deadline, without a word about the passes that begin before."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def before(self, step: Step) -> None:
        self._deadline.check(f"before '{step.name}'")


def deadline_of(progress: Progress | None) -> Deadline | None:
    """The deadline that `progress` ends at, if it does."""
    return progress if isinstance(progress, Deadline) else None


def ending(progress: Progress | None) -> list[Instrument]:
    """The instruments that end the passes of one kernel at the deadline of `progress`; it is not told of them."""
    deadline = deadline_of(progress)
    return [_Check(deadline)] if deadline else []


def reporting(progress: Progress | None) -> list[Instrument]:
    """The instruments that tell `progress` of each pass."""
    return [ProgressReport(progress)] if progress else []

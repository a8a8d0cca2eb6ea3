"""Runs work in a child process, so that a crash in native code, or an interrupt, ends in a message instead of a dead tool.

The parent imports nothing heavy and only waits. The child leads a process group of its own, to which its workers belong: when it
ends, however it does, the parent ends the whole group and removes files that were half written.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType

from dlc.partial_files import PartialFiles

REPORTED, PASS_FAILED = 65, 66
"""Exit statuses of a child that printed its error: of any kind, and of a pass that failed."""

_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_GRACE_SECONDS = 0.6
"""What a child that was asked to stop may still take."""
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux's prctl."""


@dataclass(frozen=True)
class Outcome:
    """How a child ended: its exit status, or the signal that killed it."""

    status: int = 0
    signal: signal.Signals | None = None

    def crashed(self) -> bool:
        """True when it died of its own fault, or left without saying why (as LLVM's fatal errors can)."""
        return self.signal in _CRASHES or (self.signal is None and self.status not in (0, REPORTED, PASS_FAILED))

    def reason(self) -> str:
        """What ended it, in words."""
        if self.signal is None:
            return f"exit status {self.status}"
        hint = ", perhaps out of memory" if self.signal == signal.SIGKILL else ""
        return f"{self.signal.name}{hint}"


class Stopped(BaseException):
    """The tool was told to stop by a signal; its exit status is 128 and the signal's number."""

    def __init__(self, number: signal.Signals) -> None:
        self.status = 128 + number
        super().__init__(number.name)


def run_child(work: Callable[[], int], quiet: bool = False) -> Outcome:
    """Fork, run `work` in the child, and wait for it. Call it before the bindings are imported: threads do not fork.

    `quiet` sends the child's output to nowhere. `Stopped` when a signal told this process to stop; the child is gone by then.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    partial = PartialFiles.create()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    child = os.fork()
    if child == 0:
        partial.note_from_here()
        _run_in_child(work, quiet, before)
    with contextlib.suppress(OSError):  # the child has done it, or has ended
        os.setpgid(child, child)
    watch = _Watch(child)
    try:
        with watch.signals():
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            _, status = os.waitpid(child, 0)
    finally:
        watch.end_group()
        partial.remove()
    if watch.stopped_by is not None:
        raise Stopped(watch.stopped_by)
    if os.WIFSIGNALED(status):
        return Outcome(signal=signal.Signals(os.WTERMSIG(status)))
    return Outcome(os.WEXITSTATUS(status))


@dataclass
class _Watch:
    """Hands the signals that this process gets on to the child's group."""

    child: int
    stopped_by: signal.Signals | None = None
    _before: dict[int, object] = field(default_factory=dict)

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        for number in map(int, (*_STOPS, signal.SIGALRM, signal.SIGTSTP)):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup, and shells for what runs in the background, leave it
                self._before[number] = signal.signal(number, self._handlers()[number])
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in self._before.items():
                signal.signal(number, handler)  # type: ignore[arg-type]

    def _handlers(self) -> dict[int, Callable[[int, FrameType | None], None]]:
        stops: dict[int, Callable[[int, FrameType | None], None]] = dict.fromkeys(_STOPS, self._stop)
        return {**stops, signal.SIGALRM: lambda *_: self.end_group(), signal.SIGTSTP: lambda *_: self._suspend()}

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Ask the child to end, and end its group if it does not, or at the second signal."""
        if self.stopped_by is not None:
            self.end_group()
            return
        self.stopped_by = signal.Signals(number)
        with contextlib.suppress(OSError):
            os.kill(self.child, number)
        signal.setitimer(signal.ITIMER_REAL, _GRACE_SECONDS)

    def _suspend(self) -> None:
        """Stop with the child until a shell lets both go on."""
        with contextlib.suppress(OSError):
            os.killpg(self.child, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        with contextlib.suppress(OSError):
            os.killpg(self.child, signal.SIGCONT)

    def end_group(self) -> None:
        """End the child, if it runs, and all that it has started."""
        with contextlib.suppress(OSError):
            os.killpg(self.child, signal.SIGKILL)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let an interrupt reach the block as `KeyboardInterrupt`, for work whose beginning is worth showing."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def leave_at_once(number: int, frame: FrameType | None) -> None:
    """A handler of signals: ends the process without clean-up, which is the parent's."""
    os._exit(128 + number)


def _run_in_child(work: Callable[[], int], quiet: bool, mask: set[int | signal.Signals]) -> None:
    status = REPORTED
    try:
        os.setpgid(0, 0)
        _die_with_parent()
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            signal.signal(signal.SIGINT, leave_at_once)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if quiet:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        status = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the reader of the output is gone, or the user gave up: nobody to tell
    except OSError as error:
        os.write(2, f"error: cannot write the output: {(error.strerror or str(error)).lower()}\n".encode())
    except BaseException as error:
        os.write(2, f"error: internal error: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(status)  # no clean-up of what the parent owns


def _die_with_parent() -> None:
    """Where Linux can do it, end this process with its parent, should that be killed."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)

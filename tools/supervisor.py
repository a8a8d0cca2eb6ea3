"""Runs work in a child process, so that a crash in native code ends in a message instead of a dead tool."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass

REPORTED, PASS_FAILED = 65, 66
"""Exit statuses of a child that printed its error: of any kind, and of a pass that failed."""

_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}


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


def run_child(work: Callable[[], int], quiet: bool = False) -> Outcome:
    """Fork, run `work` in the child, and wait for it. Call it before the bindings are imported: threads do not fork.

    `quiet` sends the child's output to nowhere. An interrupt from the keyboard reaches both; it leaves as
    `KeyboardInterrupt` once the child ended.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _run_in_child(work, quiet)
    previous = signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    try:
        _, status = os.waitpid(child, 0)
    except KeyboardInterrupt:
        os.waitpid(child, 0)
        raise
    finally:
        signal.signal(signal.SIGTERM, previous)
    if os.WIFSIGNALED(status):
        return Outcome(signal=signal.Signals(os.WTERMSIG(status)))
    return Outcome(os.WEXITSTATUS(status))


def _run_in_child(work: Callable[[], int], quiet: bool) -> None:
    status = REPORTED
    try:
        if quiet:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        status = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the reader of the output is gone, or the user gave up: nobody to tell
    except BaseException as error:
        os.write(2, f"error: internal error: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(status)  # no clean-up of what the parent owns

"""Processes that compile units for another one, which starts them (see `worker_group.py`).

The first loads the compiler and forks the others, each of which answers requests until its caller ends or asks for nothing for a
while.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import select
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

from dlc.targets.cpu.worker_group import ORDER, REPORT

if TYPE_CHECKING:
    from dlc._mlir import ir
    from dlc.lowering.pipeline import Pipeline

IDLE_SECONDS = 60.0
"""After this time without a request a worker gives its memory back."""


_PR_SET_PDEATHSIG = 1
"""Linux's number for it."""
_UNITS_PER_CONTEXT = 64
"""A context keeps the types and attributes of all modules that were in it, so it is not used for ever."""


def main(channels: list[list[int]]) -> None:
    """Fork a worker for each of `channels`, file descriptors of its requests, answers and messages; then watch over them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is the caller's
    from dlc.targets.fingerprint import compiler_fingerprint

    gc.disable()  # a unit leaves little garbage in cycles; it goes with the context
    context = _Context()
    compiler_fingerprint()  # each worker tells it, and finds it out once
    gc.freeze()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])  # the caller's thread may have blocked it
    numbers = {_fork(channels, number, context): number for number in range(len(channels))}
    for end in (end for channel in channels for end in channel):
        os.close(end)
    _watch(numbers, woken)


def _fork(channels: Sequence[Sequence[int]], number: int, context: _Context) -> int:
    """Fork the worker of one channel; returns its process's number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        _end_with_parent()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for end in (end for other in channels if other is not channels[number] for end in other):
            os.close(end)
        requests, answers, messages = channels[number]
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(messages, 1)  # what native code prints must not get between reports
        os.dup2(messages, 2)
        _serve(context, os.fdopen(requests, "rb"), os.fdopen(answers, "wb"))
        status = 0
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)  # nothing of the process that forked ends here


def _end_with_parent() -> None:
    """Let the system kill this process when the one that forked it ends, where it can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _watch(numbers: dict[int, int], woken: int) -> None:
    """Report ends of children and kill those that the caller names, until there are none; all are killed when it ends."""
    while numbers:
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, len(numbers))
            _report(numbers)
        order = os.read(0, ORDER.size) if 0 in ready else None
        if order is None:
            continue
        doomed = ORDER.unpack(order) if len(order) == ORDER.size else tuple(numbers.values())
        for child in [child for child, number in numbers.items() if number in doomed]:
            os.kill(child, signal.SIGKILL)
        if not order:
            return


def _report(numbers: dict[int, int]) -> None:
    """Tell the caller of the children that have ended."""
    for child in list(numbers):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            os.write(1, REPORT.pack(numbers.pop(child), os.waitstatus_to_exitcode(status)))


def _serve(context: _Context, requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until there are no more requests."""
    from dlc.targets.cpu.protocol import receive, send
    from dlc.targets.fingerprint import compiler_fingerprint

    send(answers, {"fingerprint": compiler_fingerprint(), "process": os.getpid()})
    while select.select([requests], [], [], IDLE_SECONDS)[0]:
        request = receive(requests)
        if request is None:
            return
        send(answers, *_answer(context, *request))


class _Context:
    """The context of the next unit. The first one is made, with what every request needs, while the caller is still busy."""

    def __init__(self) -> None:
        import dlc.dialects.linalg  # noqa: F401  # passes import it when they first need it
        from dlc.lowering.pipeline import Pipeline
        from dlc.lowering.pipelines import STAGES
        from dlc.targets.machine import host_facts
        from dlc.targets.units import UNITS

        self._renew()
        Pipeline.between(UNITS, STAGES[-1])
        host_facts()

    def _renew(self) -> None:
        from dlc.dialects import make_upstream_context
        from dlc.lowering.native import keep_managers

        self._context, self._units = make_upstream_context(), 0
        keep_managers(self._context)

    def take(self) -> ir.Context:
        self._units += 1
        if self._units > _UNITS_PER_CONTEXT:
            self._renew()
            gc.collect()
        return self._context


def _answer(context: _Context, record: dict[str, object], bytecode: bytes) -> tuple[dict[str, object], bytes]:
    from dlc.dialects.reading import parse_module
    from dlc.errors import DLCError
    from dlc.targets.cpu.compile_unit import compile_unit
    from dlc.targets.cpu.protocol import error_record

    try:
        module = parse_module(bytecode, str(record["label"]), context.take())
        return {}, compile_unit(module, str(record["symbol"]), _parsed(str(record["pipeline"])), int(str(record["opt_level"])))
    except DLCError as error:
        return {"error": error_record(error)}, b""
    except Exception as error:
        return {"error": error_record(DLCError(f"internal error: {type(error).__name__}: {error}"))}, b""


@functools.lru_cache(maxsize=8)
def _parsed(pipeline: str) -> Pipeline:
    """The pipeline of a text: units of a model share theirs, and reading it takes 5 ms."""
    from dlc.lowering.pipeline import Pipeline

    return Pipeline.parse(pipeline)

"""isl's scheduler under bounds: on operations, which are the same everywhere, and on time, for what isl does not count.

isl counts operations on sets, but not the steps of its integer programs, in which it may spend hours (for `adi` of PolyBench,
14 statements in a loop, it counts fewer than 100 000 in two minutes). So larger problems run in a child process, which can be
ended. The time is generous, so that the same input gives the same loops wherever it is not exceeded by far.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Sequence

import islpy as isl

from dlc.lowering.policy import policy

Solve = Callable[[], Sequence[isl.Schedule]]


class OutOfBoundsError(Exception):
    """isl did not come to a result; the text says which bound it met."""


def within_bounds(context: isl.Context, size: int, solve: Solve, seconds: float | None = None) -> list[isl.Schedule]:
    """What `solve` finds; raises `OutOfBoundsError`. `size` of the problem is loops of statements times pieces of dependences."""
    if size <= policy().limits.scheduler_quick_size or not hasattr(os, "fork"):
        return list(_counted(context, solve))
    limit = policy().limits.scheduler_seconds if seconds is None else seconds
    return [isl.Schedule.read_from_str(context, text) for text in _in_child(lambda: _counted(context, solve), limit)]


def _counted(context: isl.Context, solve: Solve) -> Sequence[isl.Schedule]:
    """What `solve` finds within the bound on operations."""
    limit = context.get_max_operations()
    context.reset_operations()
    context.set_max_operations(policy().limits.scheduler_operations)
    try:
        return solve()
    except isl.Error as error:
        raise OutOfBoundsError(_reason(str(error))) from None
    finally:
        context.set_max_operations(limit)


def _reason(message: str) -> str:
    """Why isl gave up, in words of ours."""
    if "maximal number of operations" in message:
        return f"it took more than {policy().limits.scheduler_operations} operations"
    if "unable to carry dependences" in message:
        return "it found no order with small coefficients"
    return message


def _in_child(solve: Solve, seconds: float) -> list[str]:
    """The texts of what `solve` finds, in a copy of this process that ends after `seconds` at the latest."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(writer, solve)
    os.close(writer)
    try:
        answer = _read(reader, time.monotonic() + seconds)
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if answer is None:
        raise OutOfBoundsError(f"it took more than {seconds:g} s")
    kind, *texts = answer.decode().split("\0")
    if kind != "found":
        raise OutOfBoundsError(texts[0] if texts else "its process ended")
    return texts


def _answer(writer: int, solve: Solve) -> None:
    """Write what `solve` finds, or why nothing, and end this process; texts are separated by zeros."""
    try:
        texts = ["found", *(str(schedule) for schedule in solve())]
    except Exception as error:  # whatever it is, the parent has to hear of it
        texts = ["failed", str(error)]
    try:
        with os.fdopen(writer, "wb") as stream:
            stream.write("\0".join(texts).encode())
    finally:
        os._exit(0)


def _read(reader: int, end: float) -> bytes | None:
    """All that is written until the other side closes; None where it has not by the time `end`."""
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return None
        part = os.read(reader, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)

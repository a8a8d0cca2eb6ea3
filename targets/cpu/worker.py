"""A process that compiles units for another one, which starts it (see `worker_pool.py`).

It reads requests from standard input and answers on standard output until its caller ends or asks for nothing for a while.
"""

from __future__ import annotations

import functools
import gc
import os
import select
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlc._mlir import ir
    from dlc.lowering.pipeline import Pipeline

IDLE_SECONDS = 60.0
"""After this time without a request a worker gives its memory back."""


_UNITS_PER_CONTEXT = 64
"""A context keeps the types and attributes of all modules that were in it, so it is not used for ever."""


def main(turns: int) -> None:
    """Serve until standard input ends. Once it is ready, closing the file `turns` lets the next worker start."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is the caller's
    gc.disable()  # a unit leaves little garbage in cycles; it goes with the context
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what native code prints must not get between the answers
    from dlc.targets.cpu.protocol import receive, send
    from dlc.targets.fingerprint import compiler_fingerprint

    context = _Context()
    os.close(turns)
    send(answers, {"fingerprint": compiler_fingerprint()})
    while select.select([requests], [], [], IDLE_SECONDS)[0]:
        request = receive(requests)
        if request is None:
            return
        send(answers, *_answer(context, *request))


class _Context:
    """The context of the next unit. The first one is made, with what every request needs, while the caller is still busy."""

    def __init__(self) -> None:
        from dlc.lowering.pipeline import Pipeline
        from dlc.lowering.pipelines import STAGES
        from dlc.targets.units import UNITS

        self._renew()
        Pipeline.between(UNITS, STAGES[-1])

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

"""A process that compiles versions of models for another one, which starts it (see `background.py`).

It reads requests from standard input and answers on standard output until its caller ends, or asks for nothing for a while.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Mapping
from typing import Any

_NICE = 10
"""Of Linux: a tenth of a busy processor, so that a version comes where calls keep all of them busy, too."""


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is the caller's
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what native code prints must not get between the answers
    threading.Thread(target=_end_with_caller, args=(requests.fileno(),), daemon=True).start()
    from dlc.targets.cpu.build import use_no_workers
    from dlc.targets.cpu.protocol import receive, send
    from dlc.targets.fingerprint import compiler_fingerprint

    use_no_workers()  # one processor is enough of what calls may want
    send(answers, {"fingerprint": compiler_fingerprint()})
    while (request := receive(requests)) is not None:
        send(answers, *answer(*request))


def _end_with_caller(requests: int) -> None:
    """End this process at once when nobody can ask any more, in the middle of a compilation, too."""
    poll = select.poll()
    poll.register(requests, 0)  # a pipe without a writer is told of anyway
    poll.poll()
    os._exit(1)


def answer(record: Mapping[str, Any], bytecode: bytes) -> tuple[dict[str, Any], bytes]:
    """The record of the model that a request asks for, as bytes; errors of any kind are an answer, too."""
    from dlc.compile_options import CompileOptions
    from dlc.compile_record import compile_record
    from dlc.dialects import make_context
    from dlc.dialects.reading import parse_module
    from dlc.errors import DLCError
    from dlc.lowering.deadline import timed
    from dlc.lowering.dl.simplify.bind_dims import BindDims
    from dlc.lowering.pipeline import Pipeline
    from dlc.sources import Source
    from dlc.targets.cpu.protocol import error_record

    for name in [name for name in os.environ if name.startswith("DLC_")]:
        del os.environ[name]
    os.environ.update(record["environment"])
    try:
        progress = timed(record["timeout"], record["name"], None)
        module = parse_module(bytecode, record["name"], make_context())
        with module.context, module.operation.location:
            Pipeline([BindDims(tuple(record["sizes"]))]).run(module)
        found, report = compile_record(Source(module, {}, record["name"]), CompileOptions(**record["options"]), progress)
        return {"compiled": report.compiled, "whole": report.whole}, found.to_bytes()
    except DLCError as error:
        return {"error": error_record(error)}, b""
    except Exception as error:
        return {"error": error_record(DLCError(f"internal error: {type(error).__name__}: {error}"))}, b""

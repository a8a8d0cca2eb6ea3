"""A process that compiles units for another one, which starts it (see `worker_pool.py`).

It reads requests from standard input and answers on standard output until its caller ends or asks for nothing for a while.
"""

from __future__ import annotations

import os
import select
import signal
import sys

IDLE_SECONDS = 60.0
"""After this time without a request a worker gives its memory back."""


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is the caller's
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what native code prints must not get between the answers
    from dlc.targets.cpu.protocol import receive, send
    from dlc.targets.fingerprint import compiler_fingerprint

    _warm_up()
    send(answers, {"fingerprint": compiler_fingerprint()})
    while select.select([requests], [], [], IDLE_SECONDS)[0]:
        request = receive(requests)
        if request is None:
            return
        send(answers, *_answer(*request))


def _warm_up() -> None:
    """Load what every request needs while the caller is still busy with other passes."""
    from dlc.dialects import make_context
    from dlc.lowering.pipeline import Pipeline

    make_context()
    Pipeline.between("linalg", "llvm")


def _answer(record: dict[str, object], bytecode: bytes) -> tuple[dict[str, object], bytes]:
    from dlc.dialects import make_context
    from dlc.dialects.reading import parse_module
    from dlc.errors import DLCError
    from dlc.lowering.pipeline import Pipeline
    from dlc.targets.cpu.compile_unit import compile_unit
    from dlc.targets.cpu.protocol import error_record

    try:
        module = parse_module(bytecode, str(record["label"]), make_context())
        pipeline = Pipeline.parse(str(record["pipeline"]))
        return {}, compile_unit(module, str(record["symbol"]), pipeline, int(str(record["opt_level"])))
    except DLCError as error:
        return {"error": error_record(error)}, b""
    except Exception as error:
        return {"error": error_record(DLCError(f"internal error: {type(error).__name__}: {error}"))}, b""


if __name__ == "__main__":
    main()
    sys.stdout.flush()

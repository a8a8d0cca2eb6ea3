"""The commands as a shell starts them. Signals come before anything heavy is imported: an interrupt ends them at any moment."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself takes 5 ms to import
import gc
import os
import sys

TYPE_CHECKING = False  # importing typing takes longer than this module
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

_HELD = "held"
"""What the launcher says when it has blocked interrupts; a mask that was there before is not ours to change."""

_OBJECTS = 200_000
"""New objects after which Python looks for garbage in cycles. Importing makes half as many, of which none is garbage."""

if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:
    _signal.signal(_signal.SIGINT, lambda number, frame: os._exit(128 + number))


def start() -> NoReturn:
    """`dlc-entry`, which the launcher starts: its arguments are described there. Does not return."""
    commands = {"dlc": dlc, "dlc-opt": dlc_opt, "dlc-check-proof": check_proof}
    if len(sys.argv) < 4 or sys.argv[1] not in commands:
        os.write(2, f"dlc-entry: error: this is a part of other commands; call {', '.join(commands)}\n".encode())
        os._exit(1)
    gc.set_threshold(_OBJECTS)
    _, command, interrupts, *sys.argv = sys.argv
    if interrupts == _HELD:
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {_signal.SIGINT})
    _show_as(command)
    commands[command]()


def dlc() -> NoReturn:
    """`dlc`; does not return."""
    _end(_dlc() if _serves(sys.argv[1:]) else _supervised("dlc", _dlc))


def dlc_opt() -> NoReturn:
    """`dlc-opt`; does not return."""
    from dlc.tools.dlc_opt import main

    _end(main())


def check_proof() -> NoReturn:
    """`dlc-check-proof`; does not return."""
    _end(_supervised("dlc-check-proof", _check_proof))


def _show_as(command: str) -> None:
    """Let `ps`, `top` and `killall` know this process by the command, where Linux has the file for it."""
    try:
        file = os.open("/proc/self/comm", os.O_WRONLY)
        os.write(file, command.encode())
    except OSError:  # nothing of ours depends on it
        return
    os.close(file)


def _serves(arguments: Sequence[str]) -> bool:
    """`dlc serve` ends by itself when it is told to stop, once all requests are answered: nobody may end it before."""
    return [argument for argument in arguments if argument != "--debug"][:1] == ["serve"]


def _dlc() -> int:
    from dlc.tools.dlc import main

    return _status_of(main)


def _check_proof() -> int:
    from dlc.tools.check_proof import main

    return _status_of(main)


def _status_of(main: Callable[[], object]) -> int:
    """What `main` returns or exits with, as a number."""
    try:
        found = main()
    except SystemExit as end:
        found = end.code
    return found if isinstance(found, int) else 0 if found is None else 1


def _supervised(tool: str, work: Callable[[], int]) -> int:
    """Run `work` in a child; a crash is one message."""
    from dlc.tools.supervisor import Stopped, run_child

    try:
        outcome = run_child(work)
    except Stopped as stop:
        return stop.status
    if outcome.signal is None:
        return outcome.status
    remedy = "dlc-opt on the file tells which pass crashes, and leaves a reproducer"
    print(f"{_input_of(tool)}: error: {tool} crashed ({outcome.reason()}); {remedy}", file=sys.stderr)
    return 1


def _input_of(tool: str) -> str:
    """The first argument that is a file, for messages; else the tool."""
    return next((argument for argument in sys.argv[1:] if os.path.isfile(argument)), tool)  # noqa: PTH113  # pathlib takes 10 ms


def _end(status: int) -> NoReturn:
    """Leave without Python's own end, in which interrupts have their default meaning again."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        status = status or 1  # the reader of the output is gone
    except OSError as error:
        os.write(2, f"<stdout>: error: {(error.strerror or str(error)).lower()}\n".encode())
        status = status or 1
    os._exit(status)

"""A process that has imported dlc, and forks a child for each command of a lit test: 0.01 s to start, not 0.5 (`filecheck` 0.1).

    python test/fork_server.py SOCKET < a pipe whose other end the owner holds

`fork_client.py` sends a command's arguments, folder, environment and its three standard streams, and gets the exit status. The
child runs what `dlc-opt` and `dlc` run (`dlc.tools.entry`), or `filecheck`. The server ends, with all that it has started, when
the pipe closes: when its owner ends, however it does.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

_MOST_BYTES = 1 << 20
"""Of a command with its environment."""


def serve(address: str) -> None:
    """Answer commands at the Unix socket `address` until standard input closes."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the owner
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for children
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        try:
            listener.bind(address)
        except FileNotFoundError:
            return  # the owner is gone, and has taken the folder along
        listener.listen(64)
        gc.freeze()
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            if 0 in ready:
                os.killpg(0, signal.SIGKILL)
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(connection)
            connection.close()


def write_clients(folder: Path, address: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Write commands that ask the server at `address` to `folder`; what their environment needs besides the server's."""
    client = Path(__file__).with_name("fork_client.py").read_text("utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("dlc", "dlc-opt", "filecheck"):
        (folder / name).write_text(f"#!{sys.executable} -ISE\n{client}", "utf-8")
        (folder / name).chmod(0o755)
    return {
        "DLC_TEST_TOOLS": str(Path(sys.executable).parent),
        "DLC_TEST_SOCKET": str(address),
        "DLC_TEST_VARIABLES": variables_of(environment),
    }


def variables_of(environment: Mapping[str, str]) -> str:
    """What dlc reads of an environment, as clients compare it with their own: variables of the tests are none of it."""
    names = sorted(name for name in environment if name.startswith("DLC_") and not name.startswith("DLC_TEST_"))
    return "\n".join(f"{name}={environment[name]}" for name in names)


def _answer(connection: socket.socket) -> NoReturn:
    """Run the command that comes, in a child, and send how it ended: a status, or a signal's number below 0."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, streams, _, _ = socket.recv_fds(connection, _MOST_BYTES, 3)
    child = os.fork()
    if child == 0:
        connection.close()
        _run(json.loads(message), streams)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.send(str(status).encode())
    os._exit(0)


def _run(command: dict[str, object], streams: list[int]) -> NoReturn:
    """Become the command."""
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.environ.clear()
    os.environ.update(command["environment"])  # type: ignore[arg-type]
    os.chdir(str(command["folder"]))
    sys.argv = list(command["arguments"])  # type: ignore[call-overload]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from dlc.tools import entry

    {"dlc": entry.dlc, "dlc-opt": entry.dlc_opt, "filecheck": _filecheck}[os.path.basename(sys.argv[0])]()  # noqa: PTH119
    os._exit(1)  # never reached: commands do not return


def _filecheck() -> NoReturn:
    """Run `filecheck` as its script does."""
    from filecheck.main import main

    # Streams of the server remember whether other files than the command's can seek.
    sys.stdin, sys.stdout, sys.stderr = (open(place, mode, encoding="utf-8", closefd=False) for place, mode in enumerate("rww"))  # noqa: SIM115
    try:
        status = main()
    except SystemExit as end:
        status = end.code
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else status is not None)


def preload() -> None:
    """Import what most commands need."""
    import filecheck.main

    from dlc.dialects import dl
    from dlc.lowering.registry import passes
    from dlc.tools import dlc_opt, opt_driver

    dl.ops()
    for entry in passes().values():
        entry.load()
    del dlc_opt, opt_driver, filecheck


if __name__ == "__main__":
    preload()
    serve(sys.argv[1])

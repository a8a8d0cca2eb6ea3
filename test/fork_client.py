"""Stands for `dlc-opt`, `dlc` or `filecheck` in lit tests: lets the fork server run it, or starts it itself where there is none.

The tool is started by itself, too, where the environment has other `DLC_` variables than the server: importing reads some.
Imports as little as it can.
"""

import os
import sys


def main() -> None:
    """Run the command; does not return."""
    name = os.path.basename(sys.argv[0])  # noqa: PTH119
    tool = os.path.join(os.environ["DLC_TEST_TOOLS"], name)  # noqa: PTH118
    variables = {key: value for key, value in os.environ.items() if not key.startswith("DLC_TEST_")}
    known = sorted(f"{key}={value}" for key, value in variables.items() if key.startswith("DLC_"))
    if known != os.environ["DLC_TEST_VARIABLES"].split("\n"):
        os.execve(tool, [tool, *sys.argv[1:]], variables)
    import json
    import socket

    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(os.environ["DLC_TEST_SOCKET"])
    except OSError:
        os.execve(tool, [tool, *sys.argv[1:]], variables)
    command = {"arguments": sys.argv, "folder": os.getcwd(), "environment": variables}  # noqa: PTH109
    socket.send_fds(connection, [json.dumps(command).encode()], [0, 1, 2])
    status = int(connection.recv(16) or b"1")
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(status)


main()

"""Starting worker processes: one loads the compiler and forks, so that all are ready after the time that loading takes once.

The one that forked stays, and tells how they end. It ends them when its caller ends, however that ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
from typing import IO

REPORT = struct.Struct("<Ii")
"""The number of a worker that has ended, and its exit status as `subprocess` has it."""
ORDER = struct.Struct("<I")
"""The number of a worker to kill."""

_BOOT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from dlc.targets.cpu.worker import main
main(json.loads(sys.argv[2]))
"""


class WorkerGroup:
    """Workers that were forked by one process; each takes requests and answers on pipes of its own."""

    def __init__(self, count: int) -> None:
        """Begin to start `count` workers; does not wait. Raises `OSError` where the system refuses."""
        self._statuses: dict[int, int] = {}
        with contextlib.ExitStack() as opened, contextlib.ExitStack() as given:
            channels = [_Channel(opened, given) for _ in range(count)]
            self._parent = _launch(channels)
            opened.pop_all()
        self.workers = [WorkerProcess(self, number, channel) for number, channel in enumerate(channels)]

    def kill(self, number: int) -> None:
        """Let a worker be killed, if it has not ended."""
        assert self._parent.stdin is not None
        with contextlib.suppress(OSError):
            self._parent.stdin.write(ORDER.pack(number))

    def status(self, number: int, wait: bool) -> int | None:
        """How a worker ended; None where it has not, unless this is to `wait`."""
        assert self._parent.stdout is not None
        while number not in self._statuses:
            if not wait and not select.select([self._parent.stdout], [], [], 0)[0]:
                return None
            report = self._parent.stdout.read(REPORT.size)
            if report and len(report) == REPORT.size:
                ended, status = REPORT.unpack(report)
                self._statuses[ended] = status
            else:
                self._statuses |= {each: -signal.SIGKILL for each in range(len(self.workers)) if each not in self._statuses}
        self._reap()
        return self._statuses[number]

    def forget(self) -> None:
        """Close what a forked child of this process has of the group, which is not its own."""
        self._parent.returncode = 0
        for stream in (self._parent.stdin, self._parent.stdout):
            if stream is not None:
                stream.close()

    def _reap(self) -> None:
        """Let the process that forked end where all its workers have."""
        if len(self._statuses) == len(self.workers) and self._parent.returncode is None:
            self._parent.communicate()


class WorkerProcess:
    """One worker, with as much of the interface of `subprocess.Popen` as its caller needs."""

    def __init__(self, group: WorkerGroup, number: int, channel: _Channel) -> None:
        self._group, self._number = group, number
        self.stdin, self.stdout, self.messages = channel.requests, channel.answers, channel.messages
        """Where it takes requests, answers them, and tells what native code prints."""

    def poll(self) -> int | None:
        """Its exit status, None while it runs."""
        return self._group.status(self._number, wait=False)

    def end(self) -> int:
        """Kill it, if it has not ended; it holds nothing that is worth keeping. Returns its exit status."""
        if self.poll() is None:
            self._group.kill(self._number)
        self.close()
        return self.wait()

    def wait(self) -> int:
        """Wait for its end; returns its exit status."""
        status = self._group.status(self._number, wait=True)
        assert status is not None
        return status

    def forget(self) -> None:
        """Close what a forked child of this process has of it."""
        self.close()
        self._group.forget()

    def close(self) -> None:
        """Close the pipes."""
        for stream in (self.stdin, self.stdout, self.messages):
            with contextlib.suppress(OSError):  # a request that nobody read
                stream.close()


class _Channel:
    """The pipes of one worker; `theirs` are its ends of them."""

    def __init__(self, opened: contextlib.ExitStack, given: contextlib.ExitStack) -> None:
        """`opened` closes this process's ends, and `given` the worker's."""
        taken, requests = os.pipe()
        given.callback(os.close, taken)
        self.requests: IO[bytes] = opened.enter_context(os.fdopen(requests, "wb"))
        answers, made = os.pipe()
        given.callback(os.close, made)
        self.answers: IO[bytes] = opened.enter_context(os.fdopen(answers, "rb"))
        self.messages: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the others
        opened.push(self.messages)
        self.theirs = [taken, made, self.messages.fileno()]


def _launch(channels: list[_Channel]) -> subprocess.Popen[bytes]:
    ends = [channel.theirs for channel in channels]
    command = [sys.executable, "-c", _BOOT, json.dumps([str(entry) for entry in sys.path]), json.dumps(ends)]
    return subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=channels[0].messages,
        pass_fds=[end for each in ends for end in each],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # a process with threads does not fork well
    )

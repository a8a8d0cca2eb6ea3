"""Compiles models in a process beside this one, one at a time, so that calls wait neither for a lock of Python nor for a processor.

The process runs at a low priority, is kept for the next model for a while, and ends with this one, however that ends.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import IO, Any

from dlc.errors import CompileTimeoutError, DLCError
from dlc.targets.cpu.protocol import error_of, receive, send
from dlc.targets.cpu.worker_pool import can_start
from dlc.targets.fingerprint import compiler_fingerprint

_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from dlc.versions.worker import main; main()"
_IDLE_SECONDS = 60.0
_GRACE = 10.0
"""Seconds beyond a timeout, which the process keeps itself, before it is ended."""
_JOIN_SECONDS = 10.0


def _settings() -> dict[str, str]:
    """What dlc reads of the environment, as it is now."""
    return {name: value for name, value in os.environ.items() if name.startswith("DLC_")}


def _has_answer(stream: IO[bytes], seconds: float | None) -> bool:
    """Wait until there is something to read, or the other side has ended: nobody can close a stream that a thread reads."""
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    return bool(poll.poll(None if seconds is None else 1000 * seconds))


class Background:
    """The queue of this Python process, its thread and the process that compiles. All of it begins with the first job."""

    def __init__(self) -> None:
        self._renew()
        self.is_available = can_start()
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forget)

    def _renew(self) -> None:
        self._changed = threading.Condition()
        self._jobs: deque[Callable[[], None]] = deque()
        self._is_busy = self._is_closed = False
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: IO[bytes] | None = None

    def submit(self, job: Callable[[], None]) -> None:
        """Run a job, which raises nothing, after those before it; does not wait."""
        with self._changed:
            if self._is_closed:
                return
            self._jobs.append(job)
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="dlc-specialize", daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until there is no job left; False where that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._jobs and not self._is_busy, seconds)

    def compile(self, record: Mapping[str, Any], bytecode: bytes, timeout: float | None) -> tuple[dict[str, Any], bytes]:
        """What the process answers to a request; for jobs alone. `DLCError` for what goes wrong there, or with it."""
        try:
            process = self._started()
            assert process.stdin is not None and process.stdout is not None
            send(process.stdin, {**record, "environment": _settings()}, bytecode)
            seconds = None if timeout is None else timeout + _GRACE
            if not _has_answer(process.stdout, seconds):
                raise CompileTimeoutError(f"not compiled within {timeout} s", ())
            answer = receive(process.stdout)
        except BaseException:
            self._end()
            raise
        if answer is None:
            raise DLCError(f"the process that compiles in the background has ended: {self._last_words()}")
        if "error" in answer[0]:
            raise error_of(answer[0]["error"])
        return answer

    def close(self) -> None:
        """End the process and the thread; a job that waits for the process fails."""
        with self._changed:
            self._is_closed = True
            self._jobs.clear()
            self._changed.notify_all()
            process, thread = self._process, self._thread
        if process is not None:
            process.kill()
        if thread is not None and thread is not threading.current_thread():
            thread.join(_JOIN_SECONDS)

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
            finally:
                with self._changed:
                    self._is_busy = False
                    self._changed.notify_all()
            del job  # it holds a model

    def _next(self) -> Callable[[], None] | None:
        """The next job; None, and no thread any more, where none comes for a while."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._is_closed, _IDLE_SECONDS)
            if self._jobs and not self._is_closed:
                self._is_busy = True
                return self._jobs.popleft()
            self._thread = None
            self._end()
            return None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        process = self._launched()
        assert process.stdout is not None
        _has_answer(process.stdout, None)
        welcome = receive(process.stdout)
        if welcome is None or welcome[0]["fingerprint"] != compiler_fingerprint():
            self.is_available = False
            reason = self._last_words() if welcome is None else "it is of another version of dlc"
            raise DLCError(f"the process that compiles in the background does not start: {reason}")
        return process

    def _launched(self) -> subprocess.Popen[bytes]:
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        command = [sys.executable, "-c", _BOOT, json.dumps([str(entry) for entry in sys.path])]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._messages)
        with self._changed:
            self._process = process
            if self._is_closed:
                process.kill()
        return process

    def _last_words(self) -> str:
        status = self._process.wait() if self._process is not None else 0
        said = ""
        if self._messages is not None:
            self._messages.seek(0)
            said = self._messages.read().decode(errors="replace").strip()[-500:]
        return f"exit status {status}{f': {said}' if said else ''}"

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, self._messages):
            if stream is not None:
                with contextlib.suppress(OSError):  # a request that nobody read
                    stream.close()

    def _forget(self) -> None:
        """A forked child has no thread, and must not talk to its parent's process."""
        process, messages = self._process, self._messages
        self._renew()
        if process is None:
            return
        process.returncode = 0  # not the child's to wait for
        for stream in (process.stdin, process.stdout, messages):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

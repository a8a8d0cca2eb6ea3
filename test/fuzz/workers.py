"""Worker processes: each is forked from the one that has imported everything, and runs a batch of cases.

A worker tells over a pipe what it begins and how it ended. When it dies or takes too long, the case it was at is the finding, and
a new worker goes on behind it. Its address space is bounded, and its group is killed with it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.cases import HANG, SIGNAL, UNJUDGED, Family, Verdict
from fuzz.judging import frame_in_dump, judge

ORACLE = "oracle"
"""Phases whose name begins so run other tools: a death in them says nothing about dlc."""

MEMORY = 6 << 30
"""Bytes of address space that a worker may take beyond what it begins with."""


@dataclass(frozen=True)
class Limits:
    """Seconds of processor time that a case may take, and of the clock, which other processes share."""

    processor: float = 20.0
    clock: float = 90.0


@dataclass
class Worker:
    """A running batch: the payloads that are left, by number, and what is known of the case that runs."""

    family: Family
    slot: int
    pid: int
    pipe: int
    trace: Path
    left: list[int]
    at: int | None = None
    phase: str = ""
    began: float = 0.0
    processor_then: float = 0.0
    text: bytes = b""
    ended: list[tuple[int, Verdict]] = field(default_factory=list)

    def read(self) -> bool:
        """Take in what the worker wrote; False at the end of the pipe."""
        data = os.read(self.pipe, 1 << 16)
        self.text += data
        *lines, self.text = self.text.split(b"\n")
        for line in lines:
            self._take(json.loads(line))
        return bool(data)

    def _take(self, event: list[str | int]) -> None:
        if event[0] == "begin":
            self.at, self.phase, self.began, self.processor_then = int(event[1]), "", time.monotonic(), self.processor()
        elif event[0] == "phase":
            self.phase = str(event[1])
        else:
            number, kind, key, detail = event[1:]
            self.left.remove(int(number))
            self.ended.append((int(number), Verdict(str(kind), str(key), str(detail))))
            self.at = None

    def processor(self) -> float:
        """Seconds of processor time that the worker and its ended children took."""
        try:
            words = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            return 0.0
        return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")

    def is_late(self, limits: Limits) -> bool:
        """Whether the case that runs has used up its time."""
        if self.at is None:
            return False
        return self.processor() - self.processor_then > limits.processor or time.monotonic() - self.began > limits.clock

    def close(self, kill: bool) -> None:
        """Reap the worker with all that it started; a case that it was at is a finding."""
        if kill:
            os.kill(self.pid, signal.SIGUSR1)  # faulthandler writes where it is
            time.sleep(0.3)
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pipe)
        _kill_group(self.pid)
        dump = self.trace.read_text(encoding="utf-8", errors="replace")
        self.trace.unlink()
        if self.at is not None:
            self.left.remove(self.at)
            self.ended.append((self.at, self._verdict_on_death(status, kill, dump)))

    def _verdict_on_death(self, status: int, late: bool, dump: str) -> Verdict:
        if os.WIFSIGNALED(status):
            end = signal.Signals(os.WTERMSIG(status)).name
        else:
            end = f"exit status {os.WEXITSTATUS(status)}"
        if self.phase.startswith(ORACLE):
            return Verdict(UNJUDGED, f"{self.phase} {'hangs' if late else 'dies'}", dump[-2000:])
        key = f"{self.phase} @ {frame_in_dump(dump)}"
        return Verdict(HANG, key, dump[-3000:]) if late else Verdict(SIGNAL, f"{end} in {key}", dump[-3000:])


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def start(family: Family, payload_of: Callable[[int], bytes], numbers: Sequence[int], slot: int = 0) -> Worker:
    """Fork a worker for the cases `numbers`, whose bytes `payload_of` makes there; `slot` chooses its processor.

    With one processor, dlc compiles in the worker itself and starts no helpers.
    """
    reader, writer = os.pipe()
    handle, trace = tempfile.mkstemp(prefix="dlc-fuzz-", suffix=".trace")
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        known = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {known[slot % len(known)]})
        _work(family, payload_of, numbers, writer, handle)
    os.close(writer)
    os.close(handle)
    return Worker(family, slot, pid, reader, Path(trace), list(numbers))


def _work(family: Family, payload_of: Callable[[int], bytes], numbers: Sequence[int], pipe: int, trace: int) -> None:
    try:
        os.setpgid(0, 0)
        _bound_memory()
        faulthandler.enable(trace)
        faulthandler.register(signal.SIGUSR1, trace)
        _silence()
        for number in numbers:
            _tell(pipe, "begin", number)
            verdict = _verdict(family, payload_of(number), pipe)
            _tell(pipe, "end", number, verdict.kind, verdict.key, verdict.detail)
    finally:
        os._exit(0)


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _verdict(family: Family, payload: bytes, pipe: int) -> Verdict:
    try:
        return family.execute(payload, lambda name: _tell(pipe, "phase", name))
    except BaseException as error:
        return judge(error)


def _bound_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _tell(pipe: int, *event: str | int) -> None:
    os.write(pipe, json.dumps(event).encode() + b"\n")


def wait(workers: Sequence[Worker], limits: Limits) -> list[Worker]:
    """Take in what workers tell; those that ended, or were ended because their case takes too long."""
    ready = select.select([worker.pipe for worker in workers], [], [], 0.5)[0]
    done = []
    for worker in workers:
        if worker.pipe in ready and not worker.read():
            worker.close(kill=False)
            done.append(worker)
        elif worker.is_late(limits):
            worker.close(kill=True)
            done.append(worker)
    return done


def run_all(family: Family, payloads: Sequence[bytes], limits: Limits) -> list[Verdict]:
    """The verdicts on some payloads, one worker after the other."""
    found: dict[int, Verdict] = {}
    left: Sequence[int] = range(len(payloads))
    while left:
        worker = start(family, lambda number: payloads[number], left)
        while not wait([worker], limits):
            pass
        found.update(worker.ended)
        left = worker.left
    return [found[number] for number in range(len(payloads))]

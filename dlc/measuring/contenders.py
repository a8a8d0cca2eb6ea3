"""Engines in processes of their own, timed by turns.

with Contender("dlc", threads=1) as ours, Contender("onnxruntime", threads=1) as theirs:
    for one in (ours, theirs):
        one.load(file, inputs, LoadOptions())
    times = interleave([ours, theirs], Effort())
    median_ratio(times["onnxruntime"].rounds, times["dlc"].rounds)
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from dlc.errors import DLCError
from dlc.measuring.engines import Arrays, LoadOptions
from dlc.measuring.worker import pack_arrays, unpack_arrays
from dlc.targets.cpu.protocol import error_of, receive, send

_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from dlc.measuring.worker import main; main(sys.argv[2])"
_BOOT_THERE = "import sys; from dlc.measuring.worker import main; main(sys.argv[1])"
_POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_MOST_CALLS = 100_000
_PAUSE = 0.002
"""Seconds between two engines with several threads, after which the pools of the last one sleep."""


@dataclass(frozen=True)
class Effort:
    """How long to measure: `rounds` turns of `slot` seconds (one call at least) each, fewer when `seconds` are over, but three.

    Before, `probes` calls say how many fit a slot, after one that warms up; a single one does both, and is enough where it fills
    the slot.
    """

    rounds: int = 20
    slot: float = 0.05
    seconds: float = 20.0
    least_rounds: int = 3
    probes: int = 3


@dataclass(frozen=True)
class Times:
    """Seconds of a call: the median of each round, and every call."""

    rounds: list[float]
    calls: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)


class Timed(Protocol):
    """What `interleave` needs of a contender."""

    engine: str
    threads: int

    def time(self, calls: int, warm: int = 0) -> list[float]:
        """Seconds of each of `calls` calls, after `warm` others."""
        ...


class Contender:
    """An engine in a process of its own, known to others by `label` where that is not the engine's name.

    `checkout` is the folder of another checkout of dlc, whose environment the process runs in. Raises `DLCError` for what goes
    wrong there.
    """

    def __init__(self, engine: str, threads: int = 1, label: str = "", checkout: Path | None = None) -> None:
        self.engine = label or engine
        self.threads = threads
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115, closed with the process
        environment = os.environ | dict.fromkeys(_POOLS, str(threads))
        self._process = subprocess.Popen(
            _command(engine) if checkout is None else _command_there(engine, checkout),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
            env=environment,
        )

    def load(self, file: Path, inputs: Arrays, options: LoadOptions) -> float:
        """Load a model in place of the one before, with the inputs of all calls; the seconds that took."""
        record = {"do": "load", "file": str(file.resolve()), "options": _options_record(options)}
        return float(self._ask(record, pack_arrays(inputs))[0]["seconds"])

    def run(self) -> list[np.ndarray]:
        """The outputs of one call."""
        return list(unpack_arrays(self._ask({"do": "run"})[1]).values())

    def time(self, calls: int, warm: int = 0) -> list[float]:
        """Seconds of each of `calls` calls, after `warm` others."""
        return list(self._ask({"do": "time", "calls": calls, "warm": warm})[0]["seconds"])

    def _ask(self, record: Mapping[str, Any], content: bytes = b"") -> tuple[dict[str, Any], bytes]:
        if self._process.stdin is None or self._process.stdout is None:
            raise DLCError(f"error: {self.engine}: the process has no pipes")
        with contextlib.suppress(BrokenPipeError):
            send(self._process.stdin, record, content)
        answer = receive(self._process.stdout)
        if answer is None:
            raise DLCError(f"error: {self.engine} ended while it was asked to {record['do']} a model: {self._last_words()}")
        if "error" in answer[0]:
            raise DLCError(f"error: {self.engine} cannot {record['do']} the model: {error_of(answer[0]['error'])}")
        return answer

    def _last_words(self) -> str:
        status = self._process.wait()
        self._messages.seek(0)
        lines = self._messages.read().decode(errors="replace").strip().split("\n")
        reason = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return f"{reason}: {lines[-1]}" if lines[-1] else reason

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._messages):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def __enter__(self) -> Contender:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _command(engine: str) -> list[str]:
    path = [str(Path(entry).resolve()) for entry in sys.path]
    return [sys.executable, "-c", _BOOT, json.dumps(path), engine]


def _command_there(engine: str, checkout: Path) -> list[str]:
    python = python_of(checkout)
    if not python.is_file():
        raise DLCError(f"error: {checkout} has no environment; run 'make check' or 'make demo' there first")
    return [str(python), "-c", _BOOT_THERE, engine]


def python_of(checkout: Path) -> Path:
    """The Python of the environment that a checkout of dlc makes for itself."""
    return checkout.resolve() / ".venv" / "bin" / "python"


def _options_record(options: LoadOptions) -> dict[str, Any]:
    """The options that are not the defaults, and `donate`: an older checkout knows no newer ones."""
    record, default = dataclasses.asdict(options), dataclasses.asdict(LoadOptions())
    return {name: value for name, value in record.items() if name == "donate" or value != default[name]}


def interleave(contenders: Sequence[Contender], effort: Effort, failures: dict[str, DLCError] | None = None) -> dict[str, Times]:
    """Times of each loaded contender by its engine's name, one after the other in every round.

    So the machine's moods meet all of them. Each turn begins with a call that is not timed, since the others have been in
    the caches; a call that is as long as the slot needs none after the first turn. One that fails leaves the rounds to the
    others and is in `failures`; without that, its error is raised.
    """
    race = _Race(list(contenders), failures)
    counts = {one.engine: _calls_of(seconds, effort.slot) for one, (seconds,) in race.turns(lambda _: (1, 0))}
    if effort.probes > 1:
        probed = race.turns(lambda name: (effort.probes if counts[name] > 1 else 0, 0))
        counts |= {one.engine: _calls_of(min(seconds), effort.slot) for one, seconds in probed}
    times: dict[str, Times] = {one.engine: Times([], []) for one in contenders}
    end = time.perf_counter() + effort.seconds
    for index in range(effort.rounds):
        if index >= effort.least_rounds and time.perf_counter() > end:
            break
        for one, found in race.turns(lambda name: (counts[name], int(counts[name] > 1)), pause=True):
            times[one.engine].rounds.append(statistics.median(found))
            times[one.engine].calls.extend(found)
    return {one.engine: times[one.engine] for one in race.running}


@dataclass
class _Race:
    """Those that have not failed yet."""

    running: list[Contender]
    failures: dict[str, DLCError] | None

    def turns(self, asked: Callable[[str], tuple[int, int]], pause: bool = False) -> Iterator[tuple[Contender, list[float]]]:
        """Let each take `asked` calls, after so many others, or none; those that do, with their seconds."""
        for one in list(self.running):
            calls, warm = asked(one.engine)
            if not calls:
                continue
            if pause and one.threads > 1:
                time.sleep(_PAUSE)
            try:
                found = one.time(calls, warm)
            except DLCError as error:
                if self.failures is None:
                    raise
                self.failures[one.engine] = error
                self.running.remove(one)
                continue
            yield one, found


def _calls_of(seconds: float, slot: float) -> int:
    return max(1, min(_MOST_CALLS, round(slot / max(seconds, 1e-7))))

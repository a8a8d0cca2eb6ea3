"""Runs cases of several families on worker processes, counts how they end, and reduces and saves what is found."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.cases import CANDIDATES, FINDINGS, HANG, Case, Family, Verdict
from fuzz.judging import ROOT
from fuzz.reducing import reduce
from fuzz.workers import Limits, Worker, run_all, start, wait

_REDUCE_SECONDS = 10.0
_LISTED = 40


@dataclass(frozen=True)
class Plan:
    """What to run: a seed, for each family how many cases, or seconds for all; where findings are saved, and limits of a case."""

    seed: int
    folder: Path
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    workers: int = os.cpu_count() or 1
    limits: Limits = field(default_factory=Limits)
    reduces: bool = True


@dataclass(frozen=True)
class Found:
    """A finding, the first case that shows it, and how often it was seen."""

    case: Case
    verdict: Verdict
    file: Path
    payload: bytes


@dataclass
class Tally:
    """How the cases of each family ended, and what was found, by kind and key."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    found: dict[tuple[str, str, str], Found] = field(default_factory=dict)
    times: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    @property
    def findings(self) -> list[Found]:
        return [found for (_, kind, _), found in self.found.items() if kind in FINDINGS]

    def report(self, seconds: float) -> str:
        """Counts by family, then candidates and findings with the command that replays each."""
        lines = []
        for name, counts in self.counts.items():
            total = sum(counts.values())
            lines.append(f"{name}: {total} cases, " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
        for title, kinds in (("to look at", CANDIDATES), ("findings", FINDINGS)):
            shown = [key for key, _ in self.times.most_common() if key[1] in kinds]
            lines.append(f"{title}: {len(shown)}")
            lines += [self._line(key) for key in (shown if kinds is FINDINGS else shown[:_LISTED])]
        return "\n".join([*lines, f"{seconds:.0f} s"])

    def _line(self, key: tuple[str, str, str]) -> str:
        return f"  {self.times[key]:5d} x {key[0]}: {key[1]}: {key[2]}\n          {replay_command(self.found[key].file)}"


def replay_command(file: Path) -> str:
    """The command that runs a saved case again."""
    shown = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
    return f"PYTHONPATH=test .venv/bin/python -m fuzz --replay {shown}"


class Runner:
    """One run of a plan; `say` gets a line for each new finding."""

    def __init__(self, families: Sequence[Family], plan: Plan, say: Callable[[str], None] = print) -> None:
        self._families = {family.name: family for family in families}
        self._plan, self._say = plan, say
        self._next: Counter[str] = Counter()
        self._waiting: list[tuple[Family, list[int]]] = []
        self._began = time.monotonic()
        self.tally = Tally({family.name: Counter() for family in families})

    def run(self) -> Tally:
        """Run until the counts are reached or the time is over; unfinished batches are ended then."""
        running: list[Worker] = []
        while True:
            for slot in set(range(self._plan.workers)) - {worker.slot for worker in running}:
                if (batch := self._batch()) is not None:
                    running.append(self._start(*batch, slot))
            if not running:
                self._reduce_all()
                return self.tally
            ended = wait(running, self._plan.limits)
            for worker in running:
                self._count(worker)
            for worker in ended:
                running.remove(worker)
                if worker.left and not self._is_over():
                    self._waiting.append((worker.family, worker.left))

    def _is_over(self) -> bool:
        return self._plan.seconds is not None and time.monotonic() - self._began > self._plan.seconds

    def _batch(self) -> tuple[Family, list[int]] | None:
        if self._is_over():
            return None
        if self._waiting:
            return self._waiting.pop()
        open_ = [family for family in self._families.values() if self._left(family) > 0]
        if not open_:
            return None
        family = min(open_, key=lambda item: self._next[item.name] / item.weight)
        begin = self._next[family.name]
        self._next[family.name] += min(family.batch, self._left(family))
        return family, list(range(begin, self._next[family.name]))

    def _left(self, family: Family) -> int:
        if self._plan.seconds is not None:
            return family.batch
        return self._plan.counts.get(family.name, 0) - self._next[family.name]

    def _start(self, family: Family, numbers: list[int], slot: int) -> Worker:
        return start(family, lambda number: family.make(self._case(family, number).random()), numbers, slot)

    def _case(self, family: Family, number: int) -> Case:
        return Case(family.name, self._plan.seed, number)

    def _count(self, worker: Worker) -> None:
        ended, worker.ended = worker.ended, []
        for number, verdict in ended:
            self.tally.counts[worker.family.name][verdict.kind] += 1
            if verdict.kind in FINDINGS or verdict.kind in CANDIDATES:
                self._note(worker.family, number, verdict)

    def _note(self, family: Family, number: int, verdict: Verdict) -> None:
        key = (family.name, verdict.kind, verdict.key)
        self.tally.times[key] += 1
        if key in self.tally.found:
            return
        case = self._case(family, number)
        payload = family.make(case.random())
        file = self._save(family, case, verdict, payload)
        self.tally.found[key] = Found(case, verdict, file, payload)
        if verdict.kind in FINDINGS:
            self._say(f"{family.name} {number}: {verdict.kind}: {verdict.key}\n  {replay_command(file)}")

    def _reduce_all(self) -> None:
        """Make the cases of findings smaller; hangs stay as they are."""
        keys = [key for key in self.tally.found if key[1] in FINDINGS and key[1] != HANG]
        for key in keys if self._plan.reduces else []:
            self._reduce(self._families[key[0]], key)

    def _reduce(self, family: Family, key: tuple[str, str, str]) -> None:
        found = self.tally.found[key]

        def first_that_fails(payloads: Sequence[bytes]) -> bytes | None:
            verdicts = run_all(family, payloads, self._plan.limits)
            return next((payload for payload, verdict in zip(payloads, verdicts, strict=True) if verdict.same(found.verdict)), None)

        payload = reduce(found.payload, family.smaller, first_that_fails, _REDUCE_SECONDS)
        file = self._save(family, found.case, found.verdict, payload)
        self.tally.found[key] = Found(found.case, found.verdict, file, payload)

    def _save(self, family: Family, case: Case, verdict: Verdict, payload: bytes) -> Path:
        self._plan.folder.mkdir(parents=True, exist_ok=True)
        kind = "".join(letter if letter.isalnum() else "_" for letter in verdict.kind)
        file = self._plan.folder / f"{family.name}-{kind}-{case.seed}-{case.index}{family.suffix}"
        file.write_bytes(payload)
        text = f"{verdict.kind}\n{verdict.key}\nfamily {case.family}, seed {case.seed}, index {case.index}\n\n{verdict.detail}\n"
        file.with_suffix(f"{family.suffix}.txt").write_text(text, encoding="utf-8")
        return file

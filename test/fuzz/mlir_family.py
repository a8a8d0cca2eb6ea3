"""Mutated MLIR: through the passes of the test that it comes from, or compiled, run and compared where it is a model of dl ops.

A case is a line of flags for dlc-opt, or `@compile`, above the text.
"""

from __future__ import annotations

import contextlib
import io
import shlex
from collections.abc import Iterator
from random import Random

from dlc.errors import DLCError, PassError
from dlc.lowering.pipeline_elements import NativePass
from dlc.lowering.pipeline_run import Instrument, Step
from dlc.lowering.stages import stage_of
from dlc.sources import read_source
from dlc.tools.opt_driver import OptDriver
from dlc.tools.opt_options import OptOptions, parse_arguments
from fuzz.cases import ACCEPTED, CLEAN, GOOD, Phase, Verdict
from fuzz.judging import judge, judge_text
from fuzz.mlir_corpus import Seed, seeds
from fuzz.mlir_edits import mutated, tokens_of
from fuzz.numbers import compile_and_compare
from fuzz.reducing import without_parts

NATIVE_PHASE = "native pass"
_COMPILE = "@compile"
_ENDS = ("--compile-to=linalg", "--compile-to=affine", "--compile-to=llvm")


class MlirFamily:
    """All of the repository's lit tests."""

    name, suffix, batch, weight = "mlir", ".mlir", 100, 20

    def prepare(self) -> None:
        for seed in seeds()[:40]:  # imports what every case needs
            _lower(["--compile-to=llvm"], seed.text.encode(), lambda name: None)

    def make(self, random: Random) -> bytes:
        seed, other = random.choice(seeds()), random.choice(seeds())
        return f"{_mode(random, seed)}\n".encode() + mutated(random, seed.text, other.text)

    def execute(self, payload: bytes, phase: Phase) -> Verdict:
        flags, _, data = payload.partition(b"\n")
        words = shlex.split(flags.decode(errors="replace"))
        return _compile(data, phase) if words == [_COMPILE] else _lower(words, data, phase)

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        head, _, data = payload.partition(b"\n")
        flags = shlex.split(head.decode(errors="replace"))
        if flags != [_COMPILE]:
            for kept in without_parts(flags):
                yield shlex.join(kept).encode() + b"\n" + data
        text = data.decode(errors="surrogateescape")
        for parts, joint in ((text.split("\n"), "\n"), (tokens_of(text), "")):
            if len(parts) < 600:
                for rest in without_parts(parts):
                    yield head + b"\n" + joint.join(rest).encode(errors="surrogateescape")


def _mode(random: Random, seed: Seed) -> str:
    choice = random.random()
    if seed.is_dl and choice < 0.35:
        return _COMPILE
    if choice < 0.85:
        return shlex.join(random.choice(seed.flags))
    return random.choice(_ENDS) if choice < 0.97 else ""


def _compile(data: bytes, phase: Phase) -> Verdict:
    phase("read")
    try:
        text = data.decode(errors="replace")
        source = read_source(f"{text}\n", params={})
        if stage_of(source.module) != "dl":
            return Verdict(ACCEPTED)
        return compile_and_compare(source, phase)
    except DLCError as error:
        return judge(error)


class _Watcher(Instrument):
    """Tells which pass runs, and keeps the error of the one that failed."""

    def __init__(self, phase: Phase) -> None:
        self._phase = phase
        self.error: PassError | None = None

    def before(self, step: Step) -> None:
        kind = NATIVE_PHASE if isinstance(step.element, NativePass) else "pass"
        self._phase(f"{kind} {step.name}")

    def after(self, step: Step) -> None:
        self._phase("between passes")

    def failed(self, step: Step, error: PassError) -> None:
        self.error = error


class _Driver(OptDriver):
    """dlc-opt's driver with a watcher."""

    def __init__(self, options: OptOptions, data: bytes, watcher: _Watcher) -> None:
        super().__init__(options, data)
        self._watcher = watcher

    def _instruments(self) -> list[Instrument]:
        return [*super()._instruments(), self._watcher]


def _lower(flags: list[str], data: bytes, phase: Phase) -> Verdict:
    phase("read")
    watcher, errors = _Watcher(phase), io.StringIO()
    try:
        options = parse_arguments([*flags, "input.mlir"])
        with contextlib.redirect_stderr(errors):
            driver = _Driver(options, data, watcher)
            driver.run()
    except DLCError as error:
        return judge(error)
    if watcher.error is not None:
        verdict = judge(watcher.error)
        if verdict.kind not in GOOD:
            return verdict
    verdict = judge_text(int(driver.failed), errors.getvalue())
    if verdict.kind != CLEAN:
        return verdict
    return Verdict(CLEAN if driver.failed else ACCEPTED)

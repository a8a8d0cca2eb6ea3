"""Speed of whole models against onnxruntime, both on one thread and timed in turns.

python -m bench models [name-part ...] [--rounds 10] [--json results.json]
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import dlc
from bench.networks import bert, gpt2, light, mobilenet_v2, resnet50, vit
from dlc.tools.commands.checks import difference

Call = Callable[[], list[np.ndarray]]

_TOLERANCE = 1e-4
_WARM_UP_CALLS = 2
_LEAST_ROUNDS = 3


def _light(name: str) -> onnx.ModelProto:
    return light.seeded(light.load(name))


MODELS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "resnet50": resnet50.build,
    "mobilenet_v2": mobilenet_v2.build,
    "bert-base seq 128": bert.build,
    "gpt2 seq 128": gpt2.build,
    "vit-b16": vit.build,
    **{f"light_{name}": partial(_light, name) for name in light.names()},
}


@dataclass(frozen=True)
class Timing:
    """Medians of one model. `ratio` is dlc's time over onnxruntime's, `error` relative to the largest output."""

    model: str
    compile_seconds: float
    dlc_ms: float
    onnxruntime_ms: float
    ratio: float
    error: float

    @property
    def correct(self) -> bool:
        return self.error <= _TOLERANCE

    def row(self) -> str:
        """A row of the Markdown table."""
        error = f"{self.error:.1e}" if self.correct else f"**{self.error:.1e}**"
        times = f"{self.dlc_ms:.2f} | {self.onnxruntime_ms:.2f} | {self.ratio:.2f}"
        return f"| {self.model} | {times} | {self.compile_seconds:.1f} | {error} |"


HEADER = "| model | dlc, ms | onnxruntime, ms | ratio | compile, s | largest relative error |\n|:---|---:|---:|---:|---:|---:|"


def measure(name: str, model: onnx.ModelProto, rounds: int, seconds: float) -> Timing:
    """Compile a model and time it: `rounds` turns, or fewer (three at least) where they take longer than `seconds`."""
    begin = time.perf_counter()
    compiled = dlc.compile(model, num_threads=1)
    compile_seconds = time.perf_counter() - begin
    inputs = dlc.random_inputs(compiled.inputs)
    reference = _reference(model, inputs)
    calls: tuple[Call, Call] = (lambda: compiled(inputs), reference)
    found = [difference(*pair).relative for pair in zip(calls[0](), calls[1](), strict=True)]
    ours, theirs = _medians(calls, rounds, seconds)
    return Timing(name, compile_seconds, ours * 1e3, theirs * 1e3, ours / theirs, max(found))


def _reference(model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Call:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: list(session.run(None, dict(inputs)))


def _medians(calls: Sequence[Call], rounds: int, seconds: float) -> list[float]:
    """Median seconds of each call, one after the other in every round, so that the machine's moods meet all of them."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(_WARM_UP_CALLS):
        for call in calls:
            call()
    end = time.perf_counter() + seconds
    for index in range(rounds):
        if index >= _LEAST_ROUNDS and time.perf_counter() > end:
            break
        for call, taken in zip(calls, times, strict=True):
            begin = time.perf_counter()
            call()
            taken.append(time.perf_counter() - begin)
    return [statistics.median(taken) for taken in times]


def main() -> int:
    """Print the table; status 1 when a result is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench models", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="name-part", help="only models whose names hold one of these")
    parser.add_argument("--rounds", type=int, default=20, help="timed calls of each side (default: 20)")
    parser.add_argument("--seconds", type=float, default=20.0, help="time for the rounds of one model (default: 20)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file, too")
    arguments = parser.parse_args()
    timings = []
    print(HEADER, flush=True)
    for name, build in MODELS.items():
        if arguments.parts and not any(part in name for part in arguments.parts):
            continue
        timings.append(measure(name, build(), arguments.rounds, arguments.seconds))
        print(timings[-1].row(), flush=True)
        gc.collect()
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(timing) for timing in timings], indent=2) + "\n", encoding="utf-8")
    return int(not all(timing.correct for timing in timings))


if __name__ == "__main__":
    raise SystemExit(main())

"""Engine files: how long they take to load and to run once, and the memory of the process, beside an onnxruntime session.

    python -m bench engines [name-part ...]

Each figure is the best of three processes that import nothing but what they time. `base` is a process with NumPy alone; memory is
resident after the first call, beyond the base, and its ratio to the bytes of the engine's weights.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HEADER = (
    "| model | engine, MB | load, ms | first call, ms | memory, MB | of weights | peak of base "
    "| onnxruntime: load, ms | first call, ms | memory, MB |\n|:---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)
_PROCESSES = 3


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def run_once(engine: str, file: str, inputs: str) -> None:
    """Load a model, run it once and print what that took."""
    import numpy as np

    given = dict(np.load(inputs))
    base, base_peak = resident(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    load = _loader(engine)
    begin = time.perf_counter()
    call = load(file)
    loaded = time.perf_counter()
    call(given)
    ended = time.perf_counter()
    forbidden = [name for name in ("torch_mlir", "onnx", "llvmlite") if name in sys.modules]
    assert engine != "dlc" or not forbidden, forbidden
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"load": loaded - begin, "call": ended - loaded, "memory": resident() - base, "peak": peak / base_peak}))


def _loader(engine: str) -> Any:
    if engine == "dlc":
        from dlc.runtime.engine import load

        return load
    import onnxruntime

    def session(file: str) -> Any:
        made = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        return lambda given: made.run(None, given)

    return session


def measure(name: str) -> str:
    """A row of the table."""
    import numpy as np
    import onnx

    import dlc
    from bench.models import MODELS

    with tempfile.TemporaryDirectory() as folder:
        source, engine, inputs = (str(Path(folder) / file) for file in ("m.onnx", "m.dlce", "inputs.npz"))
        onnx.save(MODELS[name](), source)
        model = dlc.compile(source)
        model.save(engine)
        np.savez(inputs, **dlc.random_inputs(model.inputs))
        ours, theirs = (_best(kind, file, inputs) for kind, file in (("dlc", engine), ("onnxruntime", source)))
        size = Path(engine).stat().st_size
        weights = dlc.load(engine).manifest["weights"]["size"]
    times = f"{ours['load'] * 1e3:.1f} | {ours['call'] * 1e3:.0f}"
    memory = f"{ours['memory'] / 1e6:.0f} | {ours['memory'] / weights:.2f} | {ours['peak']:.2f}"
    other = f"{theirs['load'] * 1e3:.0f} | {theirs['call'] * 1e3:.0f} | {theirs['memory'] / 1e6:.0f}"
    return f"| {name} | {size / 1e6:.0f} | {times} | {memory} | {other} |"


def _best(engine: str, file: str, inputs: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench", "engines", "--once", engine, file, inputs]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(_PROCESSES)]
    return {key: min(run[key] for run in runs) for key in runs[0]}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench engines", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="name-part", help="only models whose names hold one of these")
    parser.add_argument("--once", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        run_once(*arguments.once)
        return
    from bench.models import MODELS

    print(HEADER, flush=True)
    for name in MODELS:
        if not arguments.parts or any(part in name for part in arguments.parts):
            print(measure(name), flush=True)


if __name__ == "__main__":
    main()

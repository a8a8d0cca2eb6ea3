"""Times compiling: the first time, and again from the cache on disk.

    python -m bench compile [name-part ...]

Each row is a process of its own for each of the two times, with an empty cache at the first. Times are from an imported model
to one that is ready to run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HEADER = "| model | kernels | cold, s | warm, s |\n|:---|---:|---:|---:|"


def compile_once(name: str) -> None:
    """Compile one model and print the seconds and the number of kernels."""
    import dlc
    from bench.models import MODELS

    source = dlc.import_onnx(MODELS[name]())
    begin = time.perf_counter()
    compiled = dlc.compile(source)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "kernels": compiled.build_report.kernels}))


def measure(name: str) -> str:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"DLC_CACHE_DIR": folder}
        command = [sys.executable, "-m", "bench", "compile", "--once", name]
        runs = [subprocess.run(command, env=environment, check=True, capture_output=True, text=True) for _ in range(2)]
    cold, warm = (json.loads(run.stdout) for run in runs)
    return f"| {name} | {cold['kernels']} | {cold['seconds']:.2f} | {warm['seconds']:.2f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench compile", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="name-part", help="only models whose names hold one of these")
    parser.add_argument("--once", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        compile_once(arguments.once)
        return
    from bench.models import MODELS

    print(HEADER, flush=True)
    for name in MODELS:
        if not arguments.parts or any(part in name for part in arguments.parts):
            print(measure(name), flush=True)


if __name__ == "__main__":
    main()

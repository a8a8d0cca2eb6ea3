"""Times dlc-opt: its start, a trivial run, and 10,000 dl ops parsed, verified, canonicalised, CSE'd and printed.

python -m bench driver
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OPS = 10_000
ROUNDS = 7


def chain(count: int) -> str:
    """A function with `count` dl ops, each on the result of the one before."""
    kind = "tensor<4x64xf32>"
    lines = [f"func.func @chain(%x: {kind}) -> {kind} {{"]
    value = "%x"
    for index in range(count):
        if index % 2:
            lines.append(f'  %{index} = "dl.add"({value}, %x) : ({kind}, {kind}) -> {kind}')
        else:
            lines.append(f'  %{index} = "dl.softmax"({value}) {{axis = 1 : i64}} : ({kind}) -> {kind}')
        value = f"%{index}"
    return "\n".join([*lines, f"  return {value} : {kind}", "}", ""])


def seconds(command: list[str]) -> float:
    """Wall time of one run of a command that must succeed."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    """Print medians of interleaved runs; the start of Python alone is the measure of the machine."""
    tool = str(Path(sys.executable).with_name("dlc-opt"))
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.mlir", Path(folder) / "large.mlir"
        small.write_text(chain(1), encoding="utf-8")
        large.write_text(chain(OPS), encoding="utf-8")
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "dlc-opt --version": [tool, "--version"],
            "dlc-opt, one op": [tool, str(small)],
            f"dlc-opt --canonicalize --cse, {OPS} ops": [tool, str(large), "--canonicalize", "--cse"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                times[name].append(seconds(command))
    print("| what | seconds |\n|---|---|")
    for name, found in times.items():
        print(f"| {name} | {statistics.median(found):.3f} |")


if __name__ == "__main__":
    main()

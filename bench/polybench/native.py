"""C compilers of this machine: the C of a kernel to code in this process."""

from __future__ import annotations

import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.polybench.compiled import NativeFunction
from bench.polybench.suite import Kernel
from dlc.errors import DLCError, InvalidInputError

FLAGS = ("-O3", "-march=native", "-ffp-contract=fast", "-std=c99", "-fPIC", "-shared")
"""PolyBench's usual ones; multiply-adds may be fused. Not -ffast-math: sums keep their order."""
POLLY_FLAGS = ("-mllvm", "-polly", "-mllvm", "-polly-vectorizer=stripmine")
"""Polly tiles by itself, by 32."""


class CompilerMissing(DLCError):
    """A compiler is not installed, or cannot do what it is asked for."""


@dataclass(frozen=True)
class Compiler:
    """A C compiler: its name in tables, the programs that it may be, in order, and flags beside `FLAGS`."""

    name: str
    programs: tuple[str, ...]
    extra: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """The program with all flags; raises `CompilerMissing`."""
        found = next((path for path in map(shutil.which, self.programs) if path), None)
        if found is None:
            raise CompilerMissing(
                f"error: {self.name}: none of {', '.join(self.programs)} is installed; install one, or leave it out of --vs"
            )
        return [found, *FLAGS, *self.extra]

    def describe(self) -> str:
        """Version and flags, in one line."""
        command = self.command()
        first = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
        return f"{self.name}: {first.strip()}, {' '.join(flag for flag in command[1:] if flag not in FLAGS[3:])}"

    def compile(self, source: str, symbol: str) -> NativeFunction:
        """The function `symbol` of C `source`; raises `CompilerMissing` where the compiler fails, with its first error."""
        command = self.command()
        with tempfile.TemporaryDirectory(prefix="dlc-polybench-") as folder:
            file, library = Path(folder) / "kernel.c", Path(folder) / "kernel.so"
            file.write_text(source, encoding="utf-8")
            done = subprocess.run([*command, str(file), "-o", str(library), "-lm"], capture_output=True, text=True, check=False)
            if done.returncode:
                raise CompilerMissing(f"error: {self.name}: {command[0]} failed: {_first_error(done.stderr)}")
            loaded = ctypes.CDLL(str(library))
        address = ctypes.cast(getattr(loaded, symbol), ctypes.c_void_p).value
        return NativeFunction(address or 0, loaded)


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if re.search(r"error|unknown", line, re.IGNORECASE)), lines[0] if lines else "no message")


_CLANGS = (*(f"clang-{version}" for version in (19, 22, 21, 20, 18, 17, 16)), "clang")

COMPILERS: Mapping[str, Compiler] = {
    each.name: each
    for each in (
        Compiler("clang", _CLANGS),
        Compiler("polly", _CLANGS, POLLY_FLAGS),
        Compiler("gcc", ("gcc", "cc")),
    )
}
"""What `--vs` may name."""


def find_compilers(names: Sequence[str], threads: int = 1) -> tuple[list[Compiler], list[str]]:
    """The compilers called `names` that are installed, and a line for each of the others. gcc stands in for clang.

    They make code for one thread, but for Polly. Raises `InvalidInputError` for a name that is none.
    """
    found, missing = [], []
    for name in names:
        if name not in COMPILERS:
            raise InvalidInputError(f"error: no compiler is called '{name}'; --vs takes {', '.join(COMPILERS)}")
        try:
            COMPILERS[name].command()
            found.append(_on_threads(COMPILERS[name], threads))
        except CompilerMissing as error:
            missing.append(str(error))
    if "clang" in names and not any(each.name in ("clang", "gcc") for each in found):
        others, _ = find_compilers(["gcc"])
        missing += ["note: gcc stands in for clang" for _ in others]
        found = [*others, *found]
    return found, missing


def _on_threads(each: Compiler, threads: int) -> Compiler:
    if each.name != "polly" or threads == 1:
        return each
    parallel = ("-mllvm", "-polly-parallel", "-mllvm", f"-polly-num-threads={threads}", "-lgomp")
    return replace(each, extra=(*each.extra, *parallel))


def compile_c(kernel: Kernel, size: str, dtype: str, compiler: Compiler) -> NativeFunction:
    """The loops of `kernel` as C, compiled; raises `CompilerMissing`."""
    return compiler.compile(kernel_source(kernel, size, dtype), kernel.symbol)


@functools.lru_cache(maxsize=4)
def kernel_source(kernel: Kernel, size: str, dtype: str) -> str:
    """The C of a kernel, its arguments named as in its text."""
    from bench.polybench.c_source import c_source
    from dlc._mlir import ir
    from dlc.dialects import make_context

    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(kernel.text(size, dtype))
        return c_source(module.body.operations[0].operation, kernel.argument_names())

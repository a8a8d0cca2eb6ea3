"""Kernels compiled by dlc: through a pipeline to code in this process."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.polybench.meanings.meaning import Arguments
from bench.polybench.suite import Kernel
from dlc.errors import TargetError
from dlc.measuring.contenders import python_of

AS_THEY_ARE = "affine-to-llvm"
"""The passes that leave loops as they are written."""
DEFAULT_PIPELINE = f"affine-optimize,{AS_THEY_ARE}"
"""Passes from the affine function of a kernel to the llvm dialect."""

_PATIENCE = 600.0
"""Seconds that another checkout may take to compile a kernel."""

_C_SCALARS = {np.dtype(np.float64): ctypes.c_double, np.dtype(np.float32): ctypes.c_float}


@dataclass(frozen=True)
class NativeFunction:
    """A function of C in this process: arrays by address, scalars by value. `keepalive` keeps its code."""

    address: int
    keepalive: object

    def bind(self, arguments: Arguments) -> Callable[[], None]:
        """The call with these arguments, which it keeps; the arrays are written in place."""
        kinds = [ctypes.c_void_p if isinstance(value, np.ndarray) else _C_SCALARS[value.dtype] for value in arguments]
        function = ctypes.CFUNCTYPE(None, *kinds)(self.address)
        given = [kind(_word_of(value)) for kind, value in zip(kinds, arguments, strict=True)]

        def call(keep: object = (self, arguments)) -> None:
            function(*given)

        return call


def _word_of(value: np.ndarray | np.generic) -> object:
    return value.ctypes.data if isinstance(value, np.ndarray) else value.item()


def compile_kernel(kernel: Kernel, size: str, dtype: str, pipeline: str, checkout: Path | None = None) -> NativeFunction:
    """The kernel through `pipeline` (pipeline text) to native code, by the dlc of another `checkout` where one is given.

    Raises `PassError` or `TargetError`.
    """
    text = kernel.text(size, dtype)
    if checkout is None:
        return compile_text(text, kernel.symbol, pipeline)
    return _linked(_emitted_by(checkout, text, kernel.symbol, pipeline), kernel.symbol)


def compile_text(text: str, symbol: str, pipeline: str) -> NativeFunction:
    """The first function of a module of level affine, called `symbol`, as `compile_kernel`."""
    from bench.polybench.emit_kernel import emit_kernel

    return _linked(emit_kernel(text, symbol, pipeline), symbol)


def _emitted_by(checkout: Path, text: str, symbol: str, pipeline: str) -> bytes:
    program = (Path(__file__).parent / "emit_kernel.py").read_text(encoding="utf-8")
    command = [python_of(checkout), "-c", program, symbol, pipeline]
    done = subprocess.run(command, input=text.encode(), capture_output=True, cwd=checkout, timeout=_PATIENCE, check=False)
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines() or ["it ended without a word"]
        raise TargetError(f"the dlc of {checkout} compiles no '{symbol}': {reason[-1]}")
    return done.stdout


def _linked(content: bytes, symbol: str) -> NativeFunction:
    from dlc.targets.cpu.link import LinkedCode

    code = LinkedCode([content], [symbol])
    return NativeFunction(code.address(symbol), code)

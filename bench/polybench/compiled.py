"""Kernels compiled by dlc: through a pipeline to code in this process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.polybench.meanings.meaning import Arguments
from bench.polybench.suite import Kernel
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

AS_THEY_ARE = "affine-to-llvm"
"""The passes that leave loops as they are written."""
DEFAULT_PIPELINE = f"affine-optimize,{AS_THEY_ARE}"
"""Passes from the affine function of a kernel to the llvm dialect."""

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


def compile_kernel(kernel: Kernel, size: str, dtype: str, pipeline: str) -> NativeFunction:
    """The kernel through `pipeline` (pipeline text) to native code; raises `PassError` or `TargetError`.

    It is compiled like a kernel of a model: buffers come as bare pointers, which do not alias where the function says so.
    """
    return compile_text(kernel.text(size, dtype), kernel.symbol, pipeline)


def compile_text(text: str, symbol: str, pipeline: str) -> NativeFunction:
    """The first function of a module of level affine, called `symbol`, as `compile_kernel`."""
    from dlc.targets.cpu.emit import emit_unit
    from dlc.targets.cpu.link import LinkedCode

    passes = Pipeline.parse(pipeline)
    with make_context() as context, ir.Location.unknown():
        module = ir.Module.parse(text)
        function = next(op.operation for op in module.body.operations if op.operation.name == "func.func")
        function.attributes["dl.kernel"] = ir.UnitAttr.get(context)
        passes.run(module)
        content = emit_unit(module, symbol)
    code = LinkedCode([content], [symbol])
    return NativeFunction(code.address(symbol), code)

"""Compiles `y[i] = f(x0[i], x1[i], ...)` loops with the passes under test, and measures results in units of last place."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np

from dlc._mlir import execution_engine, ir, runtime
from dlc.lowering.affine_to_llvm.convert_affine_to_llvm import ConvertAffineToLlvm
from dlc.lowering.affine_to_llvm.math.legalize_float_truncations import LegalizeFloatTruncations
from dlc.lowering.affine_to_llvm.math.math_expand_functions import MathExpandFunctions

NUMPY = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
}  # fmt: skip


class ElementwiseKernel:
    """A compiled loop over `body`, MLIR text that computes %y from %x0, %x1, ...

    `inputs` and `result` are element types; with lanes > 0 every value is a vector of so many lanes, and in `body` the
    text `<t>` stands for such a value's type.
    """

    def __init__(self, body: str, inputs: Sequence[str], result: str, lanes: int = 0) -> None:
        self.lanes = max(lanes, 1)
        self.result = result
        with ir.Context(), ir.Location.unknown():
            module = ir.Module.parse(_loop(body, inputs, result, lanes))
            MathExpandFunctions().run(module.operation)
            module.operation.verify()
            LegalizeFloatTruncations().run(module.operation)
            ConvertAffineToLlvm().run(module.operation)
            self._engine = execution_engine.ExecutionEngine(module, opt_level=2)
        self._engine.lookup("kernel")

    def __call__(self, *arrays: np.ndarray) -> np.ndarray:
        """The results for arrays of one length, which is padded to a multiple of the lanes."""
        count = arrays[0].size
        padding = -count % self.lanes
        buffers = [np.concatenate([array, np.ones(padding, array.dtype)]) for array in arrays]
        buffers.append(np.zeros(count + padding, NUMPY[self.result]))
        descriptors = [ctypes.pointer(ctypes.pointer(runtime.get_ranked_memref_descriptor(b))) for b in buffers]
        self._engine.invoke("kernel", *descriptors)
        return buffers[-1][:count]

    def object_code(self, folder: Path) -> bytes:
        """The compiled object file."""
        path = folder / "kernel.o"
        self._engine.dump_to_object_file(str(path))
        return path.read_bytes()


def _loop(body: str, inputs: Sequence[str], result: str, lanes: int) -> str:
    kinds = [*inputs, result]
    arguments = ", ".join(f"%m{i}: memref<?x{kind}>" for i, kind in enumerate(kinds))
    load, store = ("vector.load", "vector.store") if lanes else ("memref.load", "memref.store")
    values = [f"vector<{lanes}x{kind}>" if lanes else kind for kind in kinds]
    suffix = [f", {value}" if lanes else "" for value in values]
    loads = "\n".join(f"%x{i} = {load} %m{i}[%i] : memref<?x{kind}>{suffix[i]}" for i, kind in enumerate(inputs))
    last = len(inputs)
    return f"""func.func @kernel({arguments}) attributes {{llvm.emit_c_interface}} {{
      %c0 = arith.constant 0 : index
      %step = arith.constant {max(lanes, 1)} : index
      %n = memref.dim %m0, %c0 : memref<?x{inputs[0]}>
      scf.for %i = %c0 to %n step %step {{
        {loads}
        {body.replace("<t>", values[0])}
        {store} %y, %m{last}[%i] : memref<?x{result}>{suffix[last]}
      }}
      return
    }}"""


def ulp_errors(got: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """|got - reference| in units of last place of `got`'s type; 0 for equal values and for NaN matching NaN.

    `reference` is wider than `got`. Infinite for a NaN or an infinity on one side only.
    """
    limits = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        rounded = reference.astype(got.dtype)
        spacing = np.spacing(np.minimum(np.abs(rounded), limits.max)).astype(reference.dtype)
        errors = np.abs(got.astype(reference.dtype) - reference) / spacing
    errors[(got == rounded) | (np.isnan(got) & np.isnan(rounded))] = 0
    errors[np.isnan(errors)] = np.inf
    return errors

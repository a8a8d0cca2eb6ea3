"""Engines for GPUs: onnxruntime with CUDA, and PyTorch as it is or compiled by Inductor. Inputs and outputs lie on the GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from dlc.errors import InvalidInputError
from dlc.measuring.engines import Arrays, LoadedModel, LoadOptions, OnnxRuntime, onnx_model

_CUDA = "CUDAExecutionProvider"


class _OnnxRuntimeCuda(OnnxRuntime):
    """Ops that its provider for CUDA lacks run on the CPU."""

    providers = (_CUDA, "CPUExecutionProvider")
    device = "cuda"


class _Torch:
    """The model by onnx2torch; a call ends when the GPU is done. `is_compiled` is Inductor, with a call as one CUDA graph."""

    def __init__(self, file: Path, inputs: Arrays, options: LoadOptions, is_compiled: bool) -> None:
        import onnx2torch
        import torch

        from dlc.measuring.torch_graph import with_known_numbers

        if not torch.cuda.is_available():
            raise InvalidInputError("torch finds no GPU; leave it out of --vs, or install a build with CUDA")
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        module = with_known_numbers(onnx2torch.convert(onnx_model(file, options)).eval()).to("cuda")
        self._torch: Any = torch
        self._module: Any = module
        self._inputs = [self._tensor(values).to("cuda") for values in inputs.values()]
        self._results: Any = None
        if is_compiled:
            self._compile()

    def _compile(self) -> None:
        """Without Inductor's patterns where these fail, as one of attention does in graphs of batch 1 (torch 2.11 to 2.13)."""
        from torch._inductor import config

        module = self._module
        for has_patterns in (True, False):
            config.pattern_matcher = has_patterns
            self._torch.compiler.reset()
            self._module = self._torch.compile(module, mode="reduce-overhead")
            try:
                self.call()
                return
            except Exception:  # of many types, which the compiler's own modules have
                if not has_patterns:
                    raise

    def call(self) -> None:
        with self._torch.inference_mode():
            self._results = self._module(*self._inputs)
        self._torch.cuda.synchronize()

    def outputs(self) -> list[np.ndarray]:
        results = self._results if isinstance(self._results, tuple | list) else [self._results]
        return [self._array(result.cpu()) for result in results]

    def _tensor(self, values: np.ndarray) -> Any:
        """On the host. NumPy's bfloat16, which torch does not know, goes by its bits."""
        array = np.ascontiguousarray(values)
        if array.dtype != ml_dtypes.bfloat16:
            return self._torch.from_numpy(array)
        return self._torch.from_numpy(array.view(np.int16)).view(self._torch.bfloat16)

    def _array(self, tensor: Any) -> np.ndarray:
        """The inverse."""
        is_bf16 = tensor.dtype == self._torch.bfloat16
        bits: np.ndarray = (tensor.view(self._torch.int16) if is_bf16 else tensor).numpy()
        return bits.view(ml_dtypes.bfloat16) if is_bf16 else bits


def load_on_gpu(engine: str, file: Path, inputs: Arrays, options: LoadOptions) -> LoadedModel:
    """A model in the engine `onnxruntime-cuda`, `torch` or `inductor`; `InvalidInputError` where it has no GPU."""
    if engine != "onnxruntime-cuda":
        return _Torch(file, inputs, options, is_compiled=engine == "inductor")
    import onnxruntime

    if _CUDA not in onnxruntime.get_available_providers():
        raise InvalidInputError("this onnxruntime has no provider for CUDA; pip install onnxruntime-gpu, or leave it out of --vs")
    return _OnnxRuntimeCuda(file, inputs, options)

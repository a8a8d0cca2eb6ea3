"""Kernels and networks on this machine's GPU: times, and shares of its measured peak and of the bandwidth that a copy reaches.

python -m bench gpu [name-part ...] [--vs onnxruntime-cuda,torch,inductor] [--json FILE]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import onnx

from bench import nodes
from bench.cases import Case
from bench.comparing import Show, run_table
from bench.models import CASES as MODELS
from bench.networks import resnet50
from bench.options import Settings, read_settings
from dlc.errors import TargetError
from dlc.measuring.comparison import OURS, Comparison
from dlc.measuring.contenders import Effort
from dlc.measuring.engines import find_engines
from dlc.measuring.gpu_peaks import GpuPeaks, measure_gpu_peaks

_TARGET = "gpu"
_SQUARES = (512, 1024, 2048, 4096)
_CONVOLUTIONS: tuple[tuple[str, Sequence[int], Sequence[int], Sequence[int], dict[str, list[int]]], ...] = (
    ("3x3 56x56x64", (1, 64, 56, 56), (64, 64, 3, 3), (1, 64, 56, 56), {"pads": [1, 1, 1, 1]}),
    ("3x3 14x14x256 batch 8", (8, 256, 14, 14), (256, 256, 3, 3), (8, 256, 14, 14), {"pads": [1, 1, 1, 1]}),
    ("1x1 56x56 64 to 256", (1, 64, 56, 56), (256, 64, 1, 1), (1, 256, 56, 56), {}),
    ("7x7 stride 2 224x224", (1, 3, 224, 224), (64, 3, 7, 7), (1, 64, 112, 112), {"pads": [3, 3, 3, 3], "strides": [2, 2]}),
)
_ATTENTION = ((12, 128, 128, 64), (12, 512, 512, 64), (8, 4096, 4096, 64))
"""Heads, queries, keys, width."""
_LONG_ATTENTION = ((16, 4096, 4096, 64, "bf16"), (16, 4096, 4096, 128, "bf16"))
_SHORT = 3e-2
"""Tolerance of results of 16 bits, relative to the largest."""
_ROWS = ((4096, 1024), (16384, 4096))
_NETWORKS = ("resnet50", "bert-base seq 128", "bert-base seq 128 batch 8", "mobilenet_v2", "vit-b16", "gpt2 decode, past 511")


@dataclass(frozen=True)
class GpuCase(Case):
    """With the type of what is multiplied; None for that of the table's precision."""

    multiplied: str | None = None


def _product(m: int, n: int, k: int) -> Case:
    return Case(f"gemm {m}x{n}x{k}", partial(nodes.matmul, m, n, k), 2.0 * m * n * k, nodes.size_of((m, k), (k, n), (m, n)))


def _short_product(m: int, n: int, k: int, dtype: str) -> Case:
    moved = nodes.size_of((m, k), (k, n), (m, n)) / 2
    build = partial(nodes.product, (), m, n, k, is_transposed=False, dtype=dtype)
    return GpuCase(f"gemm {m}x{n}x{k} {dtype}", build, 2.0 * m * n * k, moved, tolerance=_SHORT, multiplied=dtype)


def _convolution(name: str, x: Sequence[int], weight: Sequence[int], y: Sequence[int], attributes: dict[str, list[int]]) -> Case:
    flops = 2.0 * weight[1] * weight[2] * weight[3] * y[0] * y[1] * y[2] * y[3]
    return Case(f"conv {name}", partial(nodes.conv, x, weight, y, attributes), flops, nodes.size_of(x, weight, y))


def _attention(heads: int, queries: int, keys: int, width: int) -> Case:
    flops = 4.0 * heads * queries * keys * width
    moved = nodes.size_of((heads, queries, width), (heads, keys, width), (heads, keys, width), (heads, queries, width))
    return Case(f"attention {heads}x{queries}x{keys}x{width}", partial(nodes.attention, heads, queries, keys, width), flops, moved)


def _short_attention(heads: int, queries: int, keys: int, width: int, dtype: str) -> Case:
    plain = _attention(heads, queries, keys, width)
    build = partial(nodes.attention, heads, queries, keys, width, dtype)
    return GpuCase(f"{plain.name} {dtype}", build, plain.flops, plain.moved / 2, tolerance=_SHORT, multiplied=dtype)


def _by_bandwidth(name: str, build: Callable[[int, int], onnx.ModelProto], rows: int, columns: int, passes: int = 2) -> Case:
    return Case(f"{name} {rows}x{columns}", partial(build, rows, columns), 0.0, passes * nodes.size_of((rows, columns)))


def _softmax(rows: int, columns: int) -> onnx.ModelProto:
    return nodes.unary("Softmax", (rows, columns), axis=-1)


def _silu(rows: int, columns: int) -> onnx.ModelProto:
    return nodes.silu((rows, columns))


def _add_relu(rows: int, columns: int) -> onnx.ModelProto:
    return nodes.add_relu((rows, columns))


CASES = (
    *(_product(size, size, size) for size in _SQUARES),
    _product(128, 3072, 768),
    _product(1, 4096, 4096),
    *(_short_product(size, size, size, "bf16") for size in _SQUARES),
    _short_product(128, 3072, 768, "bf16"),
    _short_product(32, 4096, 4096, "bf16"),
    *(_convolution(*each) for each in _CONVOLUTIONS),
    *(_attention(*shape) for shape in _ATTENTION),
    *(_short_attention(*shape) for shape in _LONG_ATTENTION),
    *(_by_bandwidth("softmax", _softmax, *shape) for shape in _ROWS),
    *(_by_bandwidth("layer norm", nodes.layer_norm, *shape) for shape in _ROWS),
    *(_by_bandwidth("rms norm", nodes.rms_norm, *shape) for shape in _ROWS),
    *(_by_bandwidth("silu", _silu, *shape) for shape in _ROWS),
    *(_by_bandwidth("add relu", _add_relu, *shape, passes=3) for shape in _ROWS),
    *(case for case in MODELS if case.name in _NETWORKS),
    Case("resnet50 batch 8", partial(resnet50.build, batch=8)),
)


@dataclass(frozen=True)
class _Shares:
    """Columns with shares of what the GPU reaches."""

    peaks: GpuPeaks
    precision: str

    def columns(self) -> dict[str, Show]:
        return {"of peak": self._of_peak, "of copy": self._of_copy}

    def _of_peak(self, case: Case, result: Comparison) -> str:
        ours = result.of(OURS)
        multiplied = case.multiplied if isinstance(case, GpuCase) and case.multiplied else self.precision
        return f"{case.flops / ours.median / self.peaks.flops[multiplied]:.0%}" if ours and case.flops else ""

    def _of_copy(self, case: Case, result: Comparison) -> str:
        ours = result.of(OURS)
        return f"{case.moved / ours.median / self.peaks.bandwidth:.0%}" if ours and case.moved else ""


def main() -> int:
    """Print the table; status 1 when a result is wrong, 2 without a GPU."""
    about = (__doc__ or "").split("\n")[0]
    installed = [engine.name for engine in find_engines(["onnxruntime-cuda", "torch", "inductor"]) if engine.installed]
    effort = Effort(rounds=10, slot=0.02, seconds=3.0)
    settings: Settings = replace(read_settings("gpu", about, ",".join(installed), effort, sys.argv[1:]), target=_TARGET)
    try:
        peaks = measure_gpu_peaks()
    except TargetError as error:
        print(f"python -m bench gpu: error: {error}", file=sys.stderr)
        return 2
    print(peaks)
    cases = [replace(case, donate=()) for case in CASES]
    return run_table(cases, settings, more=_Shares(peaks, settings.precision).columns())


if __name__ == "__main__":
    raise SystemExit(main())

"""What this machine's GPU can do at most: multiply-adds of f32 by its figures, and the bandwidth that a copy reaches, measured."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import dlc
from dlc.measuring.peaks import peaks_of
from dlc.runtime.gpu_model import device_facts
from dlc.targets.machine import GpuMachine
from dlc.targets.registry import find_target

_COPY = """
func.func @main(%x: tensor<{count}xf32> {{dl.name = "x"}}) -> (tensor<{count}xf32> {{dl.name = "y"}}) {{
  %0 = "dl.neg"(%x) : (tensor<{count}xf32>) -> tensor<{count}xf32>
  return %0 : tensor<{count}xf32>
}}
"""
"""Reads each element and writes one: a copy that computes next to nothing, with the result in the caller's memory."""
_TARGET = "gpu"
_COUNT = 64 << 20
_CALLS, _WARM = 9, 3
_ITEM = 4


@dataclass(frozen=True)
class GpuPeaks:
    """Operations a second by the GPU's clock and units, and bytes a second of a copy on it.

    `flops` are by what is multiplied: f32 without tensor cores, others on them.
    """

    name: str
    flops: Mapping[str, float]
    bandwidth: float

    def __str__(self) -> str:
        rates = ", ".join(f"{rate * 1e-12:.1f} of {kind}" for kind, rate in self.flops.items())
        return f"{self.name}: {rates} TFLOP/s by its figures, a copy moves {self.bandwidth * 1e-9:.0f} GB/s"


def measure_gpu_peaks() -> GpuPeaks:
    """The peaks of the first GPU; `TargetError` where there is none."""
    device = device_facts()
    model = dlc.compile(_COPY.format(count=_COUNT), _TARGET)
    x = model.on_device(dlc.random_inputs(model.inputs)["x"])
    (out,) = model(x)
    times = []
    for _ in range(_WARM + _CALLS):
        begin = time.perf_counter()
        model.run([x], [out])
        times.append(time.perf_counter() - begin)
    moved = 2.0 * _ITEM * _COUNT
    facts = find_target(_TARGET).machine(_TARGET)
    assert isinstance(facts, GpuMachine)
    return GpuPeaks(device.name, flops_of(facts), moved / statistics.median(times[_WARM:]))


def flops_of(facts: GpuMachine) -> dict[str, float]:
    """Operations a second, by what is multiplied."""
    rate = 2e6 * facts.clock_mhz * facts.multiprocessors
    warpgroup = asdict(facts.warpgroup_rates)
    tensor = {kind: rate * max(each, warpgroup[kind]) for kind, each in asdict(facts.tensor_rates).items()}
    return {"f32": peaks_of(facts).flops} | tensor

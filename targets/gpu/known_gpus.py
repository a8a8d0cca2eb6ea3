"""GPUs by name: rows of a table, so that code for one can be made on any machine.

Sources: limits of a compute capability from the CUDA C++ Programming Guide (technical specifications per compute capability),
shapes of products from the PTX ISA. Clocks, bandwidths and rates of tensor cores are from NVIDIA's whitepaper of the part that is
named beside each row.
"""

from __future__ import annotations

from collections.abc import Mapping

from dlc.targets.machine import GpuMachine, TensorRates

_KIB, _MIB = 1024, 1024**2
_VOLTA = frozenset({"m8n8k4.f16"})
_TURING = frozenset({"m16n8k8.f16", "m8n8k16.i8"})
_AMPERE = GpuMachine().tensor_shapes
_ADA = _AMPERE | {"m16n8k32.e4m3", "m16n8k32.e5m2"}

KNOWN_GPUS: Mapping[str, GpuMachine] = {
    # V100 SXM2: 900 GB/s
    "sm_70": GpuMachine(
        "sm_70",
        60,
        80,
        2048,
        clock_mhz=1530,
        shared_per_multiprocessor=96 * _KIB,
        l2_bytes=6 * _MIB,
        l2_bytes_per_cycle=2048.0,
        memory_bytes_per_cycle=588.0,
        tensor_shapes=_VOLTA,
        tensor_rates=TensorRates(512, 0, 0, 0),
    ),
    # T4: 320 GB/s
    "sm_75": GpuMachine(
        "sm_75",
        63,
        40,
        1024,
        most_resident_blocks=16,
        clock_mhz=1590,
        shared_per_multiprocessor=64 * _KIB,
        l2_bytes=4 * _MIB,
        l2_bytes_per_cycle=1024.0,
        memory_bytes_per_cycle=201.0,
        tensor_shapes=_TURING,
        tensor_rates=TensorRates(512, 0, 0, 1024),
    ),
    # A100 SXM4 40 GB: 1555 GB/s
    "sm_80": GpuMachine("sm_80", 70, 108, 2048),
    # A40: 696 GB/s
    "sm_86": GpuMachine(
        "sm_86",
        71,
        84,
        1536,
        most_resident_blocks=16,
        clock_mhz=1740,
        shared_per_multiprocessor=100 * _KIB,
        fma_per_cycle=128,
        l2_bytes=6 * _MIB,
        l2_bytes_per_cycle=1536.0,
        memory_bytes_per_cycle=400.0,
        tensor_rates=TensorRates(512, 512, 256, 1024),
    ),
    # RTX 4090: 1008 GB/s
    "sm_89": GpuMachine(
        "sm_89",
        78,
        128,
        1536,
        most_resident_blocks=24,
        clock_mhz=2520,
        shared_per_multiprocessor=100 * _KIB,
        fma_per_cycle=128,
        l2_bytes=72 * _MIB,
        l2_bytes_per_cycle=2048.0,
        memory_bytes_per_cycle=400.0,
        tensor_shapes=_ADA,
        tensor_rates=TensorRates(256, 256, 128, 1024),
    ),
    # H100 SXM5: 3350 GB/s; by `mma.sync`, tensor cores reach 63 % of what they do by `wgmma` (arXiv:2402.13499)
    "sm_90": GpuMachine(
        "sm_90",
        80,
        132,
        2048,
        clock_mhz=1830,
        shared_per_multiprocessor=228 * _KIB,
        fma_per_cycle=128,
        l2_bytes=50 * _MIB,
        memory_bytes_per_cycle=1831.0,
        tensor_rates=TensorRates(1290, 1290, 645, 2580),
        warpgroup_rates=TensorRates(2048, 2048, 1024, 4096),
        tensor_shapes=_AMPERE | {"m16n8k4.f64", "m16n8k8.f64", "m16n8k16.f64"},
    ),
    # B200: 8000 GB/s; the clock is that of its 75 TFLOPS of f32 (NVIDIA Blackwell datasheet)
    "sm_100": GpuMachine(
        "sm_100",
        86,
        148,
        2048,
        clock_mhz=1980,
        shared_per_multiprocessor=228 * _KIB,
        fma_per_cycle=128,
        l2_bytes=126 * _MIB,
        memory_bytes_per_cycle=4040.0,
        tensor_rates=TensorRates(4096, 4096, 2048, 8192),
        tensor_shapes=_ADA | {"m16n8k4.f64", "m16n8k8.f64", "m16n8k16.f64"},
    ),
}
"""By LLVM's name of the compute capability."""


def known_gpu(name: str) -> GpuMachine | None:
    """The GPU called `sm_90`; None for a name that no row has."""
    return KNOWN_GPUS.get(name)


def capability_of(facts: GpuMachine) -> int:
    """The compute capability as a number: 90 for `sm_90`."""
    return int(facts.chip.removeprefix("sm_"))

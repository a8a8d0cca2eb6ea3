"""CPUs by name: rows of a table, so that code for one can be made on any machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dlc.targets.cpu import microarchitectures as design
from dlc.targets.cpu.microarchitectures import Microarchitecture
from dlc.targets.machine import Cache, Machine

_V1 = ("sse", "sse2")
_V2 = (*_V1, "ssse3", "sse4_1", "sse4_2")
_AVX = (*_V2, "avx", "f16c")
_V3 = (*_AVX, "avx2", "fma")
_V4 = (*_V3, "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl")
_VNNI = (*_V4, "avx512_vnni")
_AMX = (*_VNNI, "avx512vbmi", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "amx_int8", "amx_bf16")
_ZEN4 = (*_VNNI, "avx512vbmi", "avx512_bf16")
_ARMV8 = ("asimd",)
_ARMV82 = (*_ARMV8, "asimdhp", "asimddp")
_NEOVERSE_V = (*_ARMV82, "i8mm", "bf16", "sve")


@dataclass(frozen=True)
class Row:
    """A CPU: LLVM's name of the processor, features as Linux names them, and a typical part's sizes in KiB.

    `fma_ports` is how many multiply-adds of the widest vectors start in a cycle, `l2_ways` how many lines a set of L2 holds;
    `sharing` cores have the last cache together. `timing` is that of the design of its cores.
    """

    processor: str
    features: tuple[str, ...]
    fma_ports: int
    cores: int
    l1: int
    l2: int
    l3: int
    arch: str = "x86_64"
    line: int = 64
    l2_ways: int = 8
    timing: Microarchitecture = design.SSE
    sharing: int = 0
    """Cores that share the last cache; 0 for all."""


KNOWN_CPUS: Mapping[str, Row] = {
    "x86-64": Row("x86-64", _V1, 1, 4, 32, 256, 4096, timing=design.SSE),
    "x86-64-v2": Row("x86-64-v2", _V2, 1, 4, 32, 256, 4096, timing=design.SSE),
    "x86-64-v3": Row("x86-64-v3", _V3, 2, 4, 32, 256, 8192, timing=design.HASWELL),
    "x86-64-v4": Row("x86-64-v4", _V4, 2, 8, 32, 1024, 8192, l2_ways=16, timing=design.SKYLAKE_SERVER),
    "ivybridge": Row("ivybridge", _AVX, 1, 4, 32, 256, 8192, timing=design.AVX),
    "haswell": Row("haswell", _V3, 2, 4, 32, 256, 8192, timing=design.HASWELL),
    "skylake": Row("skylake", _V3, 2, 4, 32, 256, 8192, l2_ways=4, timing=design.SKYLAKE),
    "skylake-avx512": Row("skylake-avx512", _V4, 2, 16, 32, 1024, 22528, l2_ways=16, timing=design.SKYLAKE_SERVER),
    "cascadelake": Row("cascadelake", _VNNI, 2, 16, 32, 1024, 22528, l2_ways=16, timing=design.SKYLAKE_SERVER),
    "icelake-server": Row(
        "icelake-server", (*_VNNI, "avx512vbmi"), 2, 32, 48, 1280, 49152, l2_ways=20, timing=design.ICELAKE_SERVER
    ),
    "sapphirerapids": Row("sapphirerapids", _AMX, 2, 32, 48, 2048, 61440, l2_ways=16, timing=design.SAPPHIRE_RAPIDS),
    "alderlake": Row("alderlake", (*_V3, "avx_vnni"), 2, 8, 48, 1280, 30720, l2_ways=10, timing=design.GOLDEN_COVE),
    "znver2": Row("znver2", _V3, 2, 8, 32, 512, 16384, timing=design.ZEN2, sharing=4),
    "znver3": Row("znver3", _V3, 2, 8, 32, 512, 32768, timing=design.ZEN3),
    "znver4": Row("znver4", _ZEN4, 1, 8, 32, 1024, 32768, timing=design.ZEN4),
    "znver5": Row("znver5", (*_ZEN4, "avx_vnni"), 2, 8, 48, 1024, 32768, l2_ways=16, timing=design.ZEN5),
    "cortex-a72": Row("cortex-a72", _ARMV8, 1, 4, 32, 1024, 1024, "aarch64", l2_ways=16, timing=design.CORTEX_A72),
    "neoverse-n1": Row("neoverse-n1", _ARMV82, 2, 16, 64, 1024, 32768, "aarch64", timing=design.NEOVERSE),
    "neoverse-v1": Row("neoverse-v1", _NEOVERSE_V, 4, 32, 64, 1024, 32768, "aarch64", timing=design.NEOVERSE_V),
    "neoverse-v2": Row("neoverse-v2", _NEOVERSE_V, 4, 32, 64, 2048, 65536, "aarch64", timing=design.NEOVERSE_V),
    "apple-m1": Row("apple-m1", _ARMV82, 4, 4, 128, 12288, 12288, "aarch64", 128, l2_ways=12, timing=design.FIRESTORM),
}

ALIASES: Mapping[str, str] = {"generic": "x86-64"}
"""Other names of rows."""


def known_cpu(name: str) -> Machine | None:
    """The CPU called `haswell`; None for a name that no row has."""
    row = KNOWN_CPUS.get(ALIASES.get(name, name))
    if row is None:
        return None
    timing, sharing = row.timing, row.sharing or row.cores
    l1_ways = row.l1 // 4 if row.arch == "x86_64" else 4  # x86 indexes by the bits within a page
    return Machine(
        processor=row.processor,
        arch=row.arch,
        features=frozenset(row.features),
        fma_ports=row.fma_ports,
        scheduler_entries=timing.scheduler_entries,
        cores=row.cores,
        instructions=timing.instructions,
        l1=timing.l1.in_cache(Cache(row.l1 * 1024, l1_ways, row.line)),
        l2=timing.l2.in_cache(Cache(row.l2 * 1024, row.l2_ways, row.line)),
        l3=timing.l3.in_cache(Cache(row.l3 * 1024, 16, row.line, shared_by=sharing)),
        memory=timing.memory,
        tlb=timing.tlb,
    )

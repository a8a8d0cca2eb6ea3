"""Timing of CPUs by microarchitecture: what differs from the defaults of `Machine`, from published tables.

Instructions: Agner Fog's instruction tables, uops.info, and LLVM's scheduling model of Zen 4 (X86ScheduleZnver4.td), for vectors of
the full width. Schedulers: Agner Fog's manual of microarchitectures. Caches and TLBs: Intel's and AMD's optimization manuals, and
measurements of 7-cpu.com. A cache's bytes a cycle are what one core reads in order; from the second level on that is less than
manuals say. Those of a busy last cache were fitted to times of Winograd's tiles. Memory depends on the system: typical modules at a
typical clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dlc.targets.machine import Cache, Instruction, Instructions, Memory, Tlb

_NOTHING, _MEMORY, _TLB = Instructions(), Memory(), Tlb()


@dataclass(frozen=True)
class CacheLevel:
    """Bytes a cycle and latency of a cache, and bytes a cycle while others use it (0: as many); sizes differ from part to part."""

    bytes_per_cycle: float
    latency: float
    busy_bytes_per_cycle: float = 0.0

    def in_cache(self, cache: Cache) -> Cache:
        """`cache` with this timing."""
        return replace(cache, **vars(self))


@dataclass(frozen=True)
class Microarchitecture:
    """Timing of the cores of one design and of what is around them."""

    instructions: Instructions = _NOTHING
    l1: CacheLevel = CacheLevel(64.0, 5.0)
    l2: CacheLevel = CacheLevel(32.0, 14.0)
    l3: CacheLevel = CacheLevel(8.0, 50.0, 8.0)
    memory: Memory = _MEMORY
    tlb: Tlb = _TLB
    scheduler_entries: int = 97
    """Instructions on vectors that wait for operands at once, in all queues; those of Skylake to Golden Cove by default."""


SSE = Microarchitecture(l1=CacheLevel(16.0, 4.0), l2=CacheLevel(16.0, 12.0), tlb=Tlb(512))
AVX = Microarchitecture(l1=CacheLevel(32.0, 5.0), l2=CacheLevel(24.0, 12.0), l3=CacheLevel(8.0, 30.0, 8.0), tlb=Tlb(512))
HASWELL = Microarchitecture(
    Instructions(
        fma_f32=Instruction(5.0),
        fma_f64=Instruction(5.0),
        divide_f32=Instruction(19.0, 13.0),
        divide_f64=Instruction(30.0, 24.0),
        sqrt_f32=Instruction(20.0, 13.0),
        gather_f32=Instruction(22.0, 12.0),
    ),
    l2=CacheLevel(32.0, 12.0),
    l3=CacheLevel(8.0, 36.0, 8.0),
    memory=Memory(4.0, 7.0, 230.0),
    tlb=Tlb(1024),
    scheduler_entries=60,
)
SKYLAKE = Microarchitecture(l2=CacheLevel(32.0, 12.0), l3=CacheLevel(8.0, 42.0, 8.0), memory=Memory(4.0, 9.0, 260.0))
SKYLAKE_SERVER = Microarchitecture(
    Instructions(divide_f32=Instruction(18.0, 10.0), divide_f64=Instruction(24.0, 16.0), sqrt_f32=Instruction(20.0, 12.0)),
    l1=CacheLevel(128.0, 5.0),
    l2=CacheLevel(48.0, 14.0),
    l3=CacheLevel(8.0, 70.0, 8.0),
    memory=Memory(4.0, 45.0, 260.0),
)
ICELAKE_SERVER = replace(SKYLAKE_SERVER, memory=Memory(4.0, 65.0, 300.0), tlb=Tlb(2048))
SAPPHIRE_RAPIDS = replace(
    SKYLAKE_SERVER,
    # vdpbf16ps starts once a cycle, where multiply-adds start twice: as many products a cycle
    instructions=replace(SKYLAKE_SERVER.instructions, dot_bf16=Instruction(6.0, 1.0)),
    l2=CacheLevel(48.0, 15.0),
    l3=CacheLevel(8.0, 110.0, 8.0),
    memory=Memory(4.0, 100.0, 350.0),
    tlb=Tlb(2048),
)
GOLDEN_COVE = Microarchitecture(
    l1=CacheLevel(96.0, 5.0),
    l2=CacheLevel(48.0, 15.0),
    l3=CacheLevel(8.0, 65.0, 8.0),
    memory=Memory(6.0, 16.0, 350.0),
    tlb=Tlb(2048),
)
ZEN2 = Microarchitecture(
    Instructions(
        fma_f32=Instruction(5.0),
        fma_f64=Instruction(5.0),
        add_f32=Instruction(3.0),
        divide_f32=Instruction(10.0, 6.0),
        divide_f64=Instruction(13.0, 10.0),
        gather_f32=Instruction(20.0, 16.0),
        masked_store=Instruction(0.0, 12.0),  # microcode: 19 operations of 128 bits, 42 of 256
    ),
    l2=CacheLevel(28.0, 12.0),
    l3=CacheLevel(24.0, 39.0, 16.0),
    memory=Memory(6.0, 12.0, 300.0),
    tlb=Tlb(2048),
    scheduler_entries=100,
)
ZEN3 = replace(
    ZEN2,
    instructions=replace(
        ZEN2.instructions,
        fma_f32=Instruction(4.0),
        fma_f64=Instruction(4.0),
        divide_f32=Instruction(10.0, 5.0),
        gather_f32=Instruction(20.0, 8.0),
    ),
    l3=CacheLevel(26.0, 46.0, 16.0),
    scheduler_entries=128,
)
ZEN4 = Microarchitecture(
    # vectors of 512 bits are one operation that takes both halves of two pipes of 256 bits
    Instructions(
        fma_f32=Instruction(4.0, 1.0),
        fma_f64=Instruction(4.0, 1.0),
        add_f32=Instruction(3.0, 1.0),
        divide_f32=Instruction(11.0, 6.0),
        divide_f64=Instruction(13.0, 9.0),
        sqrt_f32=Instruction(15.0, 10.0),
        dot_bf16=Instruction(6.0, 1.0),
        dot_i8=Instruction(4.0, 1.0),
        dot_i16=Instruction(3.0, 1.0),
        shuffle_f32=Instruction(5.0, 1.0),
        gather_f32=Instruction(34.0, 17.0),
        load=Instruction(7.0, 1.0),
        store=Instruction(0.0, 2.0),
        masked_store=Instruction(0.0, 2.0),
    ),
    l1=CacheLevel(64.0, 5.0),
    l2=CacheLevel(32.0, 14.0),
    l3=CacheLevel(26.0, 50.0, 16.0),
    memory=Memory(7.0, 16.0, 400.0),
    tlb=Tlb(3072),
    scheduler_entries=128,
)
ZEN5 = replace(
    ZEN4,
    instructions=Instructions(
        fma_f32=Instruction(4.0, 0.5),
        fma_f64=Instruction(4.0, 0.5),
        add_f32=Instruction(3.0, 0.5),
        divide_f32=Instruction(11.0, 5.0),
        divide_f64=Instruction(13.0, 9.0),
        load=Instruction(7.0, 0.5),
    ),
    l1=CacheLevel(128.0, 5.0),
    l2=CacheLevel(48.0, 14.0),
    tlb=Tlb(4096),
    scheduler_entries=210,
)
CORTEX_A72 = Microarchitecture(l1=CacheLevel(16.0, 4.0), l2=CacheLevel(16.0, 18.0), l3=CacheLevel(8.0, 18.0, 8.0), tlb=Tlb(1024))
NEOVERSE = Microarchitecture(
    l1=CacheLevel(32.0, 4.0),
    l2=CacheLevel(32.0, 11.0),
    l3=CacheLevel(8.0, 60.0, 8.0),
    memory=Memory(6.0, 60.0, 300.0),
    tlb=Tlb(1280),
)
NEOVERSE_V = replace(NEOVERSE, l1=CacheLevel(48.0, 4.0), l2=CacheLevel(48.0, 10.0), memory=Memory(8.0, 100.0, 330.0), tlb=Tlb(2048))
FIRESTORM = Microarchitecture(
    l1=CacheLevel(48.0, 4.0),
    l2=CacheLevel(32.0, 18.0),
    l3=CacheLevel(16.0, 18.0, 16.0),
    memory=Memory(18.0, 20.0, 320.0),
    tlb=Tlb(3072, 16384),
)

_ZEN_BY_FAMILY: Mapping[str, Microarchitecture] = {"23": ZEN2, "25": ZEN3, "26": ZEN5}
_ZEN4_MODELS = (range(16, 32), range(96, 128), range(160, 192))
"""Models of AMD's family 25 with cores of Zen 4: Genoa, Raphael and Phoenix, Bergamo."""

_INTEL_BY_MODEL: Mapping[int, Microarchitecture] = {
    **dict.fromkeys((58, 62, 42, 45), AVX),
    **dict.fromkeys((60, 63, 69, 70, 61, 71, 79, 86), HASWELL),
    **dict.fromkeys((78, 94, 142, 158, 165, 166), SKYLAKE),
    85: SKYLAKE_SERVER,
    **dict.fromkeys((106, 108), ICELAKE_SERVER),
    **dict.fromkeys((143, 207), SAPPHIRE_RAPIDS),
    **dict.fromkeys((151, 154, 183, 186, 191), GOLDEN_COVE),
}
"""By the model of Intel's family 6."""


def microarchitecture_of(vendor: str, family: str, model: str) -> Microarchitecture | None:
    """That of a processor, as the system numbers it; None for one that no row has."""
    number = int(model) if model.isdigit() else -1
    if vendor == "GenuineIntel" and family == "6":
        return _INTEL_BY_MODEL.get(number)
    if vendor != "AuthenticAMD":
        return None
    is_zen4 = family == "25" and any(number in models for models in _ZEN4_MODELS)
    return ZEN4 if is_zen4 else _ZEN_BY_FAMILY.get(family)

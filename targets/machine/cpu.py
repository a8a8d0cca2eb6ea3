"""What code generation knows of a CPU."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from dlc.targets.llvm_features import LLVM_FEATURES
from dlc.targets.machine.instructions import Instruction, Instructions, default_instruction
from dlc.targets.machine.memory import Cache, Memory, Tlb

L1_WAY_BYTES = 4096
"""Lines a multiple of so many bytes apart share a set of the first-level cache, which is indexed by the bits within a page."""

L1_LEAST_WAYS = 8
"""Lines that a set of the first-level cache holds at least."""

LINE_BYTES = 64
"""Bytes of a cache line where no machine is at hand; of all rows but Apple's."""

PAGE_BYTES = 4096
"""Bytes of a page where no machine is at hand."""

VECTOR_BITS = (128, 256, 512)
"""Widths of vector registers that there are."""

MANY_REGISTERS = 32
"""Vector registers from which on tiles have 48 columns and more."""

_VECTOR_BITS = (("avx512f", 512), ("avx", 256), ("sse2", 128), ("asimd", 128))

_TILE_ROWS = 6
"""Rows of a register tile, which multiply the same vectors of weights."""

_NO_INSTRUCTIONS, _MEMORY, _TLB = Instructions(), Memory(), Tlb()
_L1 = Cache(32 * 1024, 8, 64, 64.0, 5.0)
_L2 = Cache(512 * 1024, 8, 64, 32.0, 14.0)
_L3 = Cache(4 * 1024**2, 16, 64, 8.0, 50.0, 1, 8.0)

FLAT = ("l1_bytes", "l2_bytes", "l3_bytes", "line_bytes", "l2_ways", "sum_cycles", "l3_line_cycles")
"""Whole numbers that stand for members of records, in the order in which `override` takes them."""


@dataclass(frozen=True)
class Machine:
    """A CPU: the only physical numbers that lowering reads. Sizes are in bytes, times in cycles; `override` makes a variation.

    `processor` is LLVM's name of it, empty for the machine that compiles; `features` are named as Linux does; `fma_ports` is
    how many multiply-adds of the widest vectors start in a cycle, `scheduler_entries` how many instructions on vectors wait for
    operands at once. `instructions` holds what is stated of single instructions; `instruction` fills in the rest. `fork_cycles`
    is what it takes to start all threads of the pool and to wait for them.
    """

    processor: str = ""
    arch: str = "x86_64"
    features: frozenset[str] = frozenset({"sse", "sse2"})
    fma_ports: int = 2
    scheduler_entries: int = 97
    cores: int = 1
    instructions: Instructions = _NO_INSTRUCTIONS
    l1: Cache = _L1
    l2: Cache = _L2
    l3: Cache = _L3
    memory: Memory = _MEMORY
    tlb: Tlb = _TLB
    fork_cycles: float = 4000.0

    @property
    def l1_bytes(self) -> int:
        return self.l1.bytes

    @property
    def l2_bytes(self) -> int:
        return self.l2.bytes

    @property
    def l3_bytes(self) -> int:
        return self.l3.bytes

    @property
    def line_bytes(self) -> int:
        return self.l1.line

    @property
    def l2_ways(self) -> int:
        """Lines that lie a multiple of `l2_way_bytes` apart and are in the second-level cache at once."""
        return self.l2.ways

    @property
    def l2_way_bytes(self) -> int:
        """Bytes of the second-level cache, the line after which falls on the place of the first."""
        return self.l2.way_bytes

    @property
    def sum_cycles(self) -> int:
        """Cycles until a sum of floats is there."""
        return round(self.instruction("add_f32").latency)

    @property
    def l3_line_cycles(self) -> int:
        """Cycles after which the last cache, which others use, gives a core that reads one line after the other the next line."""
        return self.l3.busy_line_cycles

    @property
    def caches(self) -> tuple[Cache, Cache, Cache]:
        """The levels from the nearest on."""
        return self.l1, self.l2, self.l3

    @property
    def vector_bits(self) -> int:
        """Width of a vector register; 64 without any vector unit."""
        return next((bits for feature, bits in _VECTOR_BITS if feature in self.features), 64)

    @property
    def vector_registers(self) -> int:
        """Number of vector registers."""
        return 32 if self.arch == "aarch64" or "avx512f" in self.features else 16

    @property
    def has_many_registers(self) -> bool:
        """Whether there are registers for tiles of 48 columns and more."""
        return self.vector_registers >= MANY_REGISTERS

    @property
    def has_mask_registers(self) -> bool:
        """Whether an instruction stores some lanes of a vector as fast as all of them."""
        return "avx512f" in self.features

    @property
    def has_slow_masks(self) -> bool:
        """Whether masks are no registers; vectors of 128 bits are not measured with masks."""
        return self.vector_bits > VECTOR_BITS[0] and not self.has_mask_registers

    @property
    def has_split_units(self) -> bool:
        """Whether twice as many multiply-adds start in a cycle where vectors have half the width."""
        return "avx512f" in self.features and self.fma_ports == 1

    @property
    def has_fma(self) -> bool:
        """Whether one instruction multiplies and adds."""
        return self.arch == "aarch64" or "fma" in self.features or "avx512f" in self.features

    @property
    def has_vnni(self) -> bool:
        """Whether one instruction adds four products of u8 and i8 to each i32 of the widest vector."""
        wide = "avx512f" in self.features
        return "avx512_vnni" in self.features if wide else "avx_vnni" in self.features

    @property
    def has_bf16_dot(self) -> bool:
        """Whether one instruction adds two products of bf16 to each f32 of the widest vector."""
        return ("bf16" if self.arch == "aarch64" else "avx512_bf16") in self.features

    @property
    def prefers_bf16_dot(self) -> bool:
        """Whether dot products of bf16 are there, and no slower than multiply-adds of f32 with weights of bf16.

        The latter widen a vector of weights once for the rows of a tile. What rounds the other side does so once for all columns.
        """
        widened = self.cycles("fma_f32") + self.cycles("integer_i32") / _TILE_ROWS
        return self.has_bf16_dot and self.cycles("dot_bf16") / 2 <= widened

    @property
    def prefers_vnni(self) -> bool:
        """Whether dot products of bytes are there, and no slower than two products of i16 with the sum that takes them."""
        pairs = self.cycles("dot_i16") + self.cycles("integer_i32")
        return self.has_vnni and self.cycles("dot_i8") / 4 <= pairs / 2

    @property
    def llvm_features(self) -> tuple[str, ...]:
        """The features in LLVM's notation (`+avx2`), sorted; vectors of 512 bits are used where there are any."""
        names = LLVM_FEATURES.get(self.arch, {})
        found = sorted(f"+{names[feature]}" for feature in self.features if feature in names)
        return (*found, "-prefer-256-bit") if "avx512f" in self.features else tuple(found)

    def instruction(self, name: str) -> Instruction:
        """Timing of an instruction on the widest vectors, by the member name of `Instructions`; it need not be there."""
        stated: Instruction = getattr(self.instructions, name)
        return stated.over(default_instruction(name, self.fma_ports, self.vector_bits))

    def cycles(self, name: str) -> float:
        """The reciprocal throughput of an instruction."""
        return self.instruction(name).cycles

    def streamed_bytes_per_cycle(self, working_set: float) -> float:
        """What a core gets that reads so many bytes in order, again and again: the rate of the first level that holds them all."""
        level = next((cache for cache in self.caches if working_set <= cache.bytes), self.memory)
        return level.bytes_per_cycle

    def lanes(self, element_bits: int) -> int:
        """How many elements of this width one vector register holds."""
        return max(1, self.vector_bits // element_bits)

    def missing_in(self, other: Machine) -> list[str]:
        """What a machine with the facts `other` lacks to run code for this one; empty when it can."""
        if self.arch != other.arch:
            return [self.arch]
        return sorted(self.features - other.features)

    def override(self, **changes: object) -> Machine:
        """The same CPU with other facts, by field name or by one of `FLAT`."""
        fields: Any = {name: value for name, value in changes.items() if name not in FLAT}
        found = dataclasses.replace(self, **fields)
        for name in FLAT:
            if name in changes:
                found = _with_flat(found, name, int(str(changes[name])))
        return found


def _with_flat(machine: Machine, name: str, value: int) -> Machine:
    """The same CPU with a member of a record, or that of all caches, by its flat name."""
    change = dataclasses.replace
    if name == "line_bytes":
        l1, l2, l3 = (change(cache, line=value) for cache in machine.caches)
        return change(machine, l1=l1, l2=l2, l3=l3)
    if name == "sum_cycles":
        add = change(machine.instructions.add_f32, latency=float(value))
        return change(machine, instructions=change(machine.instructions, add_f32=add))
    if name == "l3_line_cycles":
        return change(machine, l3=change(machine.l3, busy_bytes_per_cycle=machine.l3.line / max(1, value)))
    level, _, member = name.partition("_")
    cache: Cache = getattr(machine, level)
    if member == "ways":
        return change(machine, **{level: change(cache, ways=value)})  # type: ignore[arg-type]
    return change(machine, **{level: change(cache, bytes=value)})  # type: ignore[arg-type]

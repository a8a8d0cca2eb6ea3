"""What a target tells of the kernels that it makes of a module, without running any."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceKernel:
    """A kernel of a device: the function of the host that launches it, its grid and block (x first; 0 for a size that is known at
    run time only), and its use of memory and of a multiprocessor.

    `accesses` are those of global memory, of which `uncoalesced` move more than twice what is asked for, and `gathers` go where
    data says; `used_share` is the part of what memory moves that is asked for. `bank_ways` are passes of the worst access of shared
    memory (1: no conflict; 0: none is used). `tensor_cores` names the products of one instruction of theirs (`m16n8k16.f16`), empty
    for kernels that do without. An assembler tells `registers` of a thread, `spill_bytes` of instructions that spill,
    `shared_bytes` of a block, `occupancy` (the share of a multiprocessor's threads) and its `limit`. They are None where none is
    installed, except for the shared memory that launches ask for.
    """

    name: str
    function: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    accesses: int
    uncoalesced: int
    gathers: int
    used_share: float
    bank_ways: int
    tensor_cores: str = ""
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    occupancy: float | None = None
    limit: str | None = None


@dataclass(frozen=True)
class DeviceReport:
    """The kernels of a module; functions that stay on the host, with the reason; the device's peaks, by operations of f32 and bytes
    of memory a second, and sentences that one should read."""

    device: str
    kernels: tuple[DeviceKernel, ...]
    on_host: dict[str, str]
    flops_per_second: float
    bytes_per_second: float
    notes: tuple[str, ...] = ()

    @property
    def ridge(self) -> float:
        """Operations for each byte from which on arithmetic bounds a kernel, not memory (Williams et al., "Roofline", 2009)."""
        return self.flops_per_second / self.bytes_per_second

    def seconds(self, flops: float, size: float) -> float:
        """The least time for so many operations and bytes."""
        return max(flops / self.flops_per_second, size / self.bytes_per_second)

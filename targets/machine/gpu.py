"""What code generation knows of a GPU."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

MATRIX_ROWS = 8
"""Rows of a matrix that `ldmatrix` reads; eight lanes give the address of one each (PTX ISA)."""
MATRIX_ROW_BYTES = 16
"""Bytes of such a row, and the most that a thread's `cp.async` copies."""
MATRICES = 4
"""Matrices that one `ldmatrix` reads, a register of each thread each."""
TRANSPOSED_BYTES = 2
"""Size of the elements that `ldmatrix` and `wgmma` transpose on their way (PTX ISA)."""
ASYNC_COPY_BYTES = (16, 8, 4)
"""What one `cp.async` may copy (PTX ISA)."""
VECTOR_BYTES = 16
"""The most that one load or store of a thread moves: `ld.global.v4.b32` (PTX ISA)."""
VECTOR_READ_PASSES = 2
"""Passes of shared memory in which a warp reads `VECTOR_BYTES` a lane where many lanes read the same: one for each half of it."""
REGISTER_BYTES = 4
MOST_THREAD_REGISTERS = 255
"""Registers that a thread may have (CUDA C++ Programming Guide, "Compute Capabilities")."""
REGISTER_STEP = 8
"""What the registers of a thread are a multiple of where a warpgroup changes their number (PTX ISA, `setmaxnreg`)."""
WARPGROUP_WARPS = 4
"""Warps that a `wgmma` multiplies in together, sixteen rows each."""
SWIZZLE_ROWS = 8
"""Rows of a panel after which the swizzle of `wgmma` repeats (PTX ISA, "Strides")."""
SWIZZLE_BYTES = (128, 64, 32)
"""Bytes of a panel's row that `wgmma` knows swizzles of."""
SUM_NEIGHBOURS = 2
"""Neighbours of a row that a thread holds of each fragment of sums (PTX ISA, "Matrix fragments for mma")."""
FRAGMENT_LANES = 4
"""Lanes that hold the columns of a row of such a fragment, neighbours each."""
FRAGMENT_HALVES = 2
"""Rows of such a fragment that a thread holds, half of all rows apart."""

BARRIER_BYTES = 8
"""Bytes of an `mbarrier` in shared memory (PTX ISA, "Size and alignment of mbarrier object")."""
BARRIER_WAIT = 10_000_000
"""Nanoseconds after which a thread that waits at one looks again, as MLIR's lowering of `nvgpu` has them."""
TENSOR_MAP_BYTES = 128
"""Size of a `CUtensorMap`; for this and what follows: CUDA Driver API, `cuTensorMapEncodeTiled`."""
TENSOR_MAP_ELEMENTS = {"i8": 0, "f16": 6, "f32": 7, "bf16": 9}
"""Numbers of element types (`CUtensorMapDataType`)."""
TENSOR_MAP_DIMS = 5
"""Dims of a tensor map at most."""
TENSOR_MAP_ALIGNMENT = 16
"""Bytes that the address of what a tensor map describes and its strides are multiples of."""
TENSOR_BOX_SIDE = 256
"""Elements of a box of a tensor map along each dim, at most."""

_AMPERE_SHAPES = frozenset({"m16n8k16.bf16", "m16n8k16.f16", "m16n8k32.i8", "m16n8k4.tf32", "m16n8k8.tf32", "m8n8k4.f64"})


@dataclass(frozen=True)
class TensorRates:
    """Multiply-adds that the tensor cores of one multiprocessor start in a cycle, by the type of what is multiplied; sums are of
    f32 and i32. Those of dense products; 0 for a type that they do not take. The defaults are an A100's: 312 TFLOPS of f16."""

    f16: int = 1024
    bf16: int = 1024
    tf32: int = 512
    i8: int = 2048


@dataclass(frozen=True)
class GpuMachine:
    """A GPU as seen by the mapping of loops to blocks and threads. Sizes are in bytes, rates in bytes a cycle of `clock_mhz`.

    `chip` is LLVM's name of it, `ptx` the version of PTX, times ten. A multiprocessor runs `threads_per_multiprocessor` threads at
    a time; a warp's threads run in step. A block has `block_threads` threads where its loops allow, never more than `most_threads`.
    The defaults are an A100's (NVIDIA A100 whitepaper, 2020).
    """

    chip: str = "sm_80"
    ptx: int = 70
    multiprocessors: int = 108
    threads_per_multiprocessor: int = 2048
    shared_bytes: int = 48 * 1024
    """What a block may have of shared memory without asking the driver."""
    warp_threads: int = 32
    block_threads: int = 256
    most_threads: int = 1024
    most_blocks_y: int = 65535
    """Blocks that a grid has at most along y and z; along x there are 2^31 - 1."""
    most_resident_blocks: int = 32
    """Blocks that one multiprocessor holds at a time, at most."""
    sector_bytes: int = 32
    """What memory moves at least."""
    clock_mhz: int = 1410
    registers_per_multiprocessor: int = 65536
    """Of 32 bits each."""
    shared_per_multiprocessor: int = 164 * 1024
    shared_bytes_per_cycle: float = 128.0
    """Of one multiprocessor: a word of each of its banks."""
    shared_banks: int = 32
    bank_bytes: int = 4
    schedulers: int = 4
    """Parts of a multiprocessor, each with tensor cores of its own, that a warp runs in one of."""
    fma_per_cycle: int = 64
    """Multiply-adds of f32 that one multiprocessor starts in a cycle."""
    l2_bytes: int = 40 * 1024**2
    l2_bytes_per_cycle: float = 5120.0
    memory_bytes_per_cycle: float = 1103.0
    """1555 GB/s at 1410 MHz."""
    tensor_shapes: frozenset[str] = _AMPERE_SHAPES
    """Products of one `mma.sync` as `m16n8k16.bf16`, by the type of what is multiplied (PTX ISA, "Matrix fragments for mma")."""
    tensor_rates: TensorRates = TensorRates()
    warpgroup_rates: TensorRates = TensorRates(0, 0, 0, 0)
    """The same for `wgmma`, which the four warps of a warpgroup issue together on operands in shared memory."""
    reserved_shared_bytes: int = 1024
    """Of each block, for the driver (CUDA C++ Programming Guide, "Shared Memory" of compute capability 8.x and 9.0)."""

    @property
    def most_shared_bytes(self) -> int:
        """What a block may have of shared memory where the driver is asked (`cuFuncSetAttribute`)."""
        return self.shared_per_multiprocessor - self.reserved_shared_bytes

    @property
    def own_chip(self) -> str:
        """LLVM's name of it with the instructions that no later GPU has: code for `sm_90a` runs on compute capability 9.0 alone."""
        return f"{self.chip}a"

    @property
    def threads(self) -> int:
        """Threads that run at a time."""
        return self.multiprocessors * self.threads_per_multiprocessor

    @property
    def has_async_copies(self) -> bool:
        """Whether `cp.async` copies global to shared memory past the registers (PTX ISA: from sm_80 on)."""
        return int(self.chip.removeprefix("sm_")) >= 80

    def tensor_rate(self, dtype: str) -> int:
        """Multiply-adds of a type that tensor cores of a multiprocessor start in a cycle at most; 0 for one they do not take."""
        return max(int(getattr(rates, dtype, 0)) for rates in (self.tensor_rates, self.warpgroup_rates))

    def override(self, **changes: object) -> GpuMachine:
        """The same GPU with other facts, by field name."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

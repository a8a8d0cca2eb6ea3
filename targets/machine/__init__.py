"""What code generation knows of a machine. Made from data, so any machine can be described on any other.

Passes ask `facts_of(op)` and `gpu_facts_of(op)`: a module states its CPU in the attribute `dlc.target` and its GPU in `dlc.gpu`.
Without the first, the machine that compiles is meant (beside a GPU, one processor on all machines, so that kernels are the same),
without the second `GpuMachine()`. Lowering sees nothing else of `targets/`.

`cpu.py` and `gpu.py` hold the two records, `instructions.py` and `memory.py` their parts, `attributes.py` the text form on
a module, `lookup.py` the ways to a machine by module and by name. This folder imports `dlc._mlir` and `dlc.errors` alone, and asks
the registry and `targets/cpu` when a name or this machine is wanted.
"""

from dlc.targets.machine.attributes import GPU, TARGET
from dlc.targets.machine.cpu import L1_LEAST_WAYS, L1_WAY_BYTES, LINE_BYTES, MANY_REGISTERS, PAGE_BYTES, VECTOR_BITS, Machine
from dlc.targets.machine.gpu import (
    ASYNC_COPY_BYTES,
    BARRIER_BYTES,
    BARRIER_WAIT,
    FRAGMENT_HALVES,
    FRAGMENT_LANES,
    MATRICES,
    MATRIX_ROW_BYTES,
    MATRIX_ROWS,
    MOST_THREAD_REGISTERS,
    REGISTER_BYTES,
    REGISTER_STEP,
    SUM_NEIGHBOURS,
    SWIZZLE_BYTES,
    SWIZZLE_ROWS,
    TENSOR_BOX_SIDE,
    TENSOR_MAP_ALIGNMENT,
    TENSOR_MAP_BYTES,
    TENSOR_MAP_DIMS,
    TENSOR_MAP_ELEMENTS,
    TRANSPOSED_BYTES,
    VECTOR_BYTES,
    VECTOR_READ_PASSES,
    WARPGROUP_WARPS,
    GpuMachine,
    TensorRates,
)
from dlc.targets.machine.instructions import Instruction, Instructions
from dlc.targets.machine.lookup import (
    facts_of,
    gpu_facts_of,
    host_facts,
    is_for_gpu,
    module_of,
    set_gpu,
    set_target,
    state_target,
    target_facts,
)
from dlc.targets.machine.memory import Cache, Memory, Tlb

__all__ = [
    "ASYNC_COPY_BYTES",
    "BARRIER_BYTES",
    "BARRIER_WAIT",
    "FRAGMENT_HALVES",
    "FRAGMENT_LANES",
    "GPU",
    "L1_LEAST_WAYS",
    "L1_WAY_BYTES",
    "LINE_BYTES",
    "MANY_REGISTERS",
    "MATRICES",
    "MATRIX_ROWS",
    "MATRIX_ROW_BYTES",
    "MOST_THREAD_REGISTERS",
    "PAGE_BYTES",
    "REGISTER_BYTES",
    "REGISTER_STEP",
    "SUM_NEIGHBOURS",
    "SWIZZLE_BYTES",
    "SWIZZLE_ROWS",
    "TARGET",
    "TENSOR_BOX_SIDE",
    "TENSOR_MAP_ALIGNMENT",
    "TENSOR_MAP_BYTES",
    "TENSOR_MAP_DIMS",
    "TENSOR_MAP_ELEMENTS",
    "TRANSPOSED_BYTES",
    "VECTOR_BITS",
    "VECTOR_BYTES",
    "VECTOR_READ_PASSES",
    "WARPGROUP_WARPS",
    "Cache",
    "GpuMachine",
    "Instruction",
    "Instructions",
    "Machine",
    "Memory",
    "TensorRates",
    "Tlb",
    "facts_of",
    "gpu_facts_of",
    "host_facts",
    "is_for_gpu",
    "module_of",
    "set_gpu",
    "set_target",
    "state_target",
    "target_facts",
]

"""convert-kernels-to-nvvm: the bodies of kernels to the llvm and nvvm dialects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, argument_marks, defining_op, has_strides, nested_ops, root_of
from dlc.analysis.symbols import symbol_name
from dlc.lowering.gpu_to_nvvm.aligned_vectors import align_vectors
from dlc.lowering.gpu_to_nvvm.device_functions import PREFIX, use_instructions
from dlc.lowering.gpu_to_nvvm.rolled_loops import keep_loops
from dlc.lowering.gpu_to_nvvm.symbols import name_apart
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import Pass, PassFailure
from dlc.lowering.policy import policy
from dlc.targets.machine import (
    MOST_THREAD_REGISTERS,
    SWIZZLE_BYTES,
    SWIZZLE_ROWS,
    TENSOR_MAP_BYTES,
    VECTOR_BYTES,
    GpuMachine,
    gpu_facts_of,
)

_LOWERING = (
    "convert-vector-to-scf{full-unroll=true}",
    "fold-memref-alias-ops",
    "expand-strided-metadata",
    "convert-nvgpu-to-nvvm",
    "lower-affine",
    "convert-scf-to-cf",
    "canonicalize",
    "cse",
    "convert-vector-to-llvm",
)
_LAST = ("convert-math-to-llvm", "convert-nvvm-to-llvm", "reconcile-unrealized-casts", "canonicalize", "cse")
_MATH = {
    *("math.absf", "math.absi", "math.ceil", "math.copysign", "math.ctlz", "math.ctpop", "math.cttz", "math.floor", "math.fma"),
    *("math.isfinite", "math.isinf", "math.isnan", "math.round", "math.roundeven", "math.sqrt", "math.trunc"),
}
"""Functions that the GPU has instructions for, or LLVM a sequence of them."""

_OWN = "nvvm.wgmma."
"""Instructions that only code for `sm_90a` may have."""
_OF_WARPS = frozenset({"nvgpu.mma.sync", "nvvm.wgmma.mma_async", "nvvm.ex2"})
"""What kernels have whose warps compute tiles in registers: products on tensor cores, and the exponentials of attention."""
_SIMT_PRODUCTS = {"nvgpu.device_async_copy", "math.fma"}
"""What kernels of `convert-contractions-to-simt` have, whose threads keep tiles of results."""
_DYNAMIC = "__dynamic_shmem__"
"""The beginning of upstream's name of dynamic shared memory."""
_NOALIAS = "llvm.noalias"
_TENSOR_COPY = "nvvm.cp.async.bulk.tensor.shared.cluster.global"
"""A copy by TMA: where to, by which tensor map, and more."""
_LEAST_BLOCKS = "nvvm.minctasm"
"""Attribute of a kernel: how many of its blocks a multiprocessor has to hold at a time."""


@dataclass(frozen=True)
class ConvertKernelsToNvvm(Pass):
    """Lower every `gpu.module` to llvm and nvvm, and state the GPU of `dlc.gpu` on it.

    before: gpu.module @f_kernel { gpu.func @f_kernel(%A: memref<64xf32>) kernel { %t = gpu.thread_id x ... } }
    after:  gpu.module @f_kernel [#nvvm.target<chip = "sm_90">] {
              llvm.func @f_kernel(%A: !llvm.ptr {llvm.noalias}) attributes {nvvm.kernel} { %t = nvvm.read.ptx.sreg.tid.x ... } }

    Kernels with `wgmma` are for the GPU's own instructions (`sm_90a`), which no later one runs.
    Memrefs of static shape come as bare pointers, others as descriptors. An argument is `llvm.noalias` where the host knows that
    no other one shares its memory; tensor maps, which TMA copies by, come by value. Symbols of two modules have different names,
    so that one text can hold all kernels. Loops around products on tensor cores are marked as not to be unrolled. Kernels are
    outlined first (`gpu-kernel-outlining`), functions of the C math library expanded (`math-expand-functions`).
    """

    def run(self, op: ir.Operation) -> None:
        facts = gpu_facts_of(op)
        modules = [inner.operation for inner in op.regions[0].blocks[0].operations if inner.operation.name == "gpu.module"]
        alone, chip = _arguments_alone(op), _chip(modules, facts)
        for module in modules:
            _lower(module, alone, facts)
        name_apart(op, modules)
        for inner in nested_ops(op):
            if inner.name == "gpu.launch":
                raise PassFailure(inner, "a kernel lies inside of a function", "run --gpu-kernel-outlining first")
        if modules:
            run_native(op, f"nvvm-attach-target{{chip={chip} features=+ptx{facts.ptx} O=3}}")


def _chip(modules: Sequence[ir.Operation], facts: GpuMachine) -> str:
    """What all kernels are compiled for, as one text holds them: the GPU's own instructions where one of them has some."""
    is_own = any(op.name.startswith(_OWN) for module in modules for op in nested_ops(module))
    return facts.own_chip if is_own else facts.chip


def _lower(module: ir.Operation, alone: Mapping[str, Sequence[bool]], facts: GpuMachine) -> None:
    kernels = [op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "gpu.func"]
    for inner in nested_ops(module):
        _require_instructions(inner)
    for kernel in kernels:
        _require_strides(kernel)
    name = symbol_name(module)
    is_bare = all(_is_plain(value.type) for kernel in kernels for value in kernel.regions[0].blocks[0].arguments)
    pointers = {symbol_name(kernel): _pointers(kernel, alone, f"@{name}::", is_bare) for kernel in kernels}
    blocks = {symbol_name(kernel): count for kernel in kernels if (count := _blocks_at_a_time(kernel, facts))}
    bare = "true" if is_bare else "false"
    align_vectors(nested_ops(module))
    run_native(module, *_LOWERING, f"convert-gpu-to-nvvm{{index-bitwidth=64 use-bare-ptr-memref-call-conv={bare}}}", *_LAST)
    use_instructions(nested_ops(module))
    for inner in nested_ops(module):
        _require_known(inner)
        if inner.name.split(".")[0] not in ("llvm", "nvvm", "gpu") or (inner.name.startswith("gpu.") and inner != module):
            raise PassFailure(inner, f"'{inner.name}' has no form in nvvm", "compute it on the host, or in other ops")
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "llvm.mlir.global":
            _place(op.operation)
        if op.operation.name == "llvm.func" and symbol_name(op) in pointers:
            _mark(op.operation, pointers[symbol_name(op)])
            keep_loops(op.operation)
        if op.operation.name == "llvm.func" and symbol_name(op) in blocks:
            number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32, module.context), blocks[symbol_name(op)])
            op.attributes[_LEAST_BLOCKS] = number


def _place(memory: ir.Operation) -> None:
    """Let shared memory and constants begin where vectors may; a launch decides on the size of dynamic shared memory."""
    alignment = VECTOR_BYTES
    if symbol_name(memory).startswith(_DYNAMIC):
        memory.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>", memory.context)
        alignment = SWIZZLE_ROWS * SWIZZLE_BYTES[0]  # swizzled panels start at multiples of it
    memory.attributes["alignment"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, memory.context), alignment)


def _blocks_at_a_time(kernel: ir.Operation, facts: GpuMachine) -> int:
    """Blocks that are to fit a multiprocessor, for kernels whose threads have tiles of results; 0 for others.

    Without, `ptxas` spills some of a tile's registers to fit in one more block; below sm_90 it needs more of them, and so do sums
    over several loops, as those of convolutions, whose addresses it keeps.
    """
    if "known_block_size" not in kernel.attributes:
        return 0
    names = {op.name for op in nested_ops(kernel)}
    if names & _OF_WARPS:
        return 1
    sizes, side = list(ir.DenseI32ArrayAttr(kernel.attributes["known_block_size"])), policy().gpu.tile_threads
    if names >= _SIMT_PRODUCTS:
        return _simt_blocks(kernel, "arith.remui" in names, prod(sizes), facts)
    if sizes[:2] != [side, side]:
        return 0
    if int(facts.chip.removeprefix("sm_")) < policy().gpu.frugal_chip or _loop_depth(kernel) > policy().gpu.frugal_loops:
        return 1
    return facts.registers_per_multiprocessor // (policy().gpu.tile_registers * prod(sizes))


def _simt_blocks(kernel: ir.Operation, divides: bool, threads: int, facts: GpuMachine) -> int:
    """The same for kernels of `convert-contractions-to-simt`.

    Places that are found by division, and descriptors, take some registers more: where blocks are many, there is one warp less for
    them in each part of a multiprocessor. Extents that run time knows are kept beside all that.
    """
    is_frugal = int(facts.chip.removeprefix("sm_")) >= policy().gpu.frugal_chip or not divides
    is_frugal &= not any(isinstance(value.type, ir.IndexType) for value in kernel.regions[0].blocks[0].arguments)
    registers = policy().gpu.tile_registers if is_frugal and not _multiplies_doubles(kernel) else MOST_THREAD_REGISTERS
    blocks = facts.registers_per_multiprocessor // (registers * threads)
    has_more = divides or not all(_is_plain(value.type) for value in kernel.regions[0].blocks[0].arguments)
    return blocks - max(1, facts.schedulers * facts.warp_threads // threads) if has_more and blocks > 2 else blocks


def _multiplies_doubles(kernel: ir.Operation) -> bool:
    """Whether sums are f64, which take two registers each."""
    return any(op.name == "math.fma" and isinstance(op.results[0].type, ir.F64Type) for op in nested_ops(kernel))


def _loop_depth(op: ir.Operation) -> int:
    """How many loops lie in each other below `op`, at most; conditions between them may be hundreds."""
    deepest, waiting = 0, [(op, 0)]
    while waiting:
        current, depth = waiting.pop()
        deepest = max(deepest, depth)
        inside = [inner.operation for region in current.regions for block in region.blocks for inner in block.operations]
        waiting.extend((inner, depth + (inner.name == "affine.for")) for inner in inside)
    return deepest


def _require_instructions(op: ir.Operation) -> None:
    if op.name.startswith("math.") and op.name not in _MATH:
        raise PassFailure(op, f"the GPU has no instruction for '{op.name}'", "run --math-expand-functions first")
    if op.name == "arith.remf":
        raise PassFailure(op, "the GPU has no exact remainder of floats", "compute it on the host")


def _require_strides(kernel: ir.Operation) -> None:
    for kind in [value.type for value in kernel.regions[0].blocks[0].arguments]:
        if isinstance(kind, ir.MemRefType) and not has_strides(kind):
            raise PassFailure(kernel, f"no strides find the elements of an argument, {kind}", "run --normalize-memrefs first")


def _require_known(op: ir.Operation) -> None:
    """`math` ops that are in the list, but in a type that LLVM has no instruction for."""
    if op.name == "llvm.call" and "callee" in op.attributes:
        name = str(op.attributes["callee"].value)
        if name.startswith(PREFIX):
            raise PassFailure(op, f"the GPU has no instruction for '{name}'", "compute it on the host, or in other ops")


def _is_plain(kind: ir.Type) -> bool:
    """Whether a bare pointer says all that there is to know of a value of that type."""
    if not isinstance(kind, ir.MemRefType):
        return not isinstance(kind, ir.UnrankedMemRefType)
    strides, offset = kind.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    return kind.has_static_shape and offset == 0 and dynamic not in strides


def _pointers(kernel: ir.Operation, alone: Mapping[str, Sequence[bool]], prefix: str, is_bare: bool) -> list[int]:
    """Positions, after lowering, of the data pointers of arguments that share no memory with others."""
    marks = alone.get(f"{prefix}@{ir.StringAttr(kernel.attributes['sym_name']).value}", ())
    found, position = [], 0
    for argument, mark in zip(kernel.regions[0].blocks[0].arguments, marks, strict=False):
        ranked = isinstance(argument.type, ir.MemRefType)
        found += [position + (not is_bare)] if ranked and mark else []
        position += 3 + 2 * argument.type.rank if ranked and not is_bare else 1
    return found


def _mark(function: ir.Operation, positions: Sequence[int]) -> None:
    """State of a kernel's arguments which share no memory (`positions`), and which are tensor maps: they come by value."""
    arguments, unit = list(function.regions[0].blocks[0].arguments), ir.UnitAttr.get(function.context)
    size = ir.Type.parse(f"!llvm.array<{TENSOR_MAP_BYTES} x i8>", function.context)
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, function.context), TENSOR_MAP_BYTES // 2)
    by_value = {"llvm.byval": ir.TypeAttr.get(size), "llvm.align": alignment, "nvvm.grid_constant": unit}
    marks = [by_value if _is_tensor_map(each) else {_NOALIAS: unit} if at in positions else {} for at, each in enumerate(arguments)]
    if any(marks):
        attributes = [ir.DictAttr.get(mark, function.context) for mark in marks]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes, function.context)


def _is_tensor_map(argument: ir.BlockArgument) -> bool:
    return any(use.owner.operation.name == _TENSOR_COPY and use.operand_number == 1 for use in argument.uses)


def _arguments_alone(module: ir.Operation) -> dict[str, list[bool]]:
    """By kernel, which of its arguments are memory that no other argument shares, in every launch."""
    found: dict[str, list[bool]] = {}
    for launch in _launches(module):
        sizes = list(ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"]))
        start = sum(sizes[:-2])
        given = list(launch.operands)[start : start + sizes[-2]]
        roots = [root_of(value) for value in given]
        marks = [isinstance(root.type, ir.MemRefType) and roots.count(root) == 1 and _is_alone(root) for root in roots]
        name = str(launch.attributes["kernel"])
        found[name] = [one and other for one, other in zip(marks, found.get(name, marks), strict=False)]
    return found


def _launches(module: ir.Operation) -> Iterator[ir.Operation]:
    return (op for op in nested_ops(module) if op.name == "gpu.launch_func")


def _is_alone(root: ir.Value) -> bool:
    """Whether the memory is fresh, or of an argument that is marked `llvm.noalias`."""
    source = defining_op(root)
    if source is not None:
        return source.name in ALLOCATIONS or source.name == "gpu.alloc"
    marks = argument_marks(root)
    return marks is not None and _NOALIAS in marks

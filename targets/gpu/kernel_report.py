"""What the kernels of a GPU come to, by analyses and by NVIDIA's assembler; no GPU is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.analysis.symbols import functions_of, symbol_name
from dlc.lowering.affine_to_gpu.affine_map_to_gpu import ON_CPU
from dlc.lowering.affine_to_gpu.tensor_cores.convert_attention_to_mma import NOT_FUSED
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import tensor_products
from dlc.lowering.affine_to_gpu.warp_accesses import summary_of, warp_accesses
from dlc.lowering.gpu_to_llvm.gpu_place_copies import COPY, DELIVER, DOWNLOAD, UPLOAD
from dlc.targets.device_kernels import DeviceKernel, DeviceReport
from dlc.targets.gpu.occupancy import occupancy_of
from dlc.targets.gpu.ptxas import KernelUsage
from dlc.targets.machine import GpuMachine
from dlc.targets.units import KERNEL_ATTRIBUTE

_NO_ASSEMBLER = "registers, spills and occupancy take NVIDIA's ptxas, which is not installed: pip install 'dlc[ptxas]'"

_NO_LOOPS = "it has no loops"
_ON_HOST = "nothing of the model has a kernel for the GPU: all of it runs on the host"


def kernels_of(module: ir.Module, facts: GpuMachine) -> Iterator[DeviceKernel]:
    """The kernels of a module at level gpu, in order, as far as analyses tell."""
    launches: dict[str, tuple[str, ir.Operation]] = {}
    for function in [op.operation for op in module.body.operations if op.operation.name == "func.func"]:
        for op in nested_ops(function):
            if op.name == "gpu.launch_func":
                launches.setdefault(str(op.attributes["kernel"]), (symbol_name(function), op))
    for gpu_module in [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]:
        for kernel in [op.operation for op in gpu_module.regions[0].blocks[0].operations if op.operation.name == "gpu.func"]:
            found = launches.get(f"@{symbol_name(gpu_module)}::@{symbol_name(kernel)}")
            if found is not None:
                yield _kernel(symbol_name(gpu_module), kernel, found, facts)


def _kernel(name: str, kernel: ir.Operation, launched: tuple[str, ir.Operation], facts: GpuMachine) -> DeviceKernel:
    function, launch = launched
    segments, operands = list(ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"])), list(launch.operands)
    sizes = [_number(value) for value in operands[segments[0] : segments[0] + 6]]
    *before, has_shared, _, _ = segments
    return DeviceKernel(
        name,
        function,
        tuple(sizes[:3]),
        tuple(sizes[3:]),
        **vars(summary_of(warp_accesses(kernel, facts))),
        tensor_cores=tensor_products(kernel),
        shared_bytes=_number(operands[sum(before)]) if has_shared else None,
    )


def _number(value: ir.Value) -> int:
    source = defining_op(value)
    return ir.IntegerAttr(source.attributes["value"]).value if source is not None and source.name == "arith.constant" else 0


def report_of(
    module: ir.Module,
    kernels: tuple[DeviceKernel, ...],
    usage: Mapping[str, KernelUsage] | None,
    facts: GpuMachine,
    copies: tuple[str, ...] = (),
) -> DeviceReport:
    """The report on `kernels` of `module`; `usage` is by the names of kernels in PTX, None without an assembler.

    `copies` are sentences of `copies_of`.
    """
    rate = facts.clock_mhz * 1e6
    return DeviceReport(
        facts.chip,
        tuple(_with_usage(kernel, usage, facts) for kernel in kernels),
        host_functions_of(module),
        2.0 * facts.fma_per_cycle * facts.multiprocessors * rate,
        facts.memory_bytes_per_cycle * rate,
        (*copies, *_not_fused(module), *(() if kernels else (_ON_HOST,)), *(() if usage is not None else (_NO_ASSEMBLER,))),
    )


def host_functions_of(module: ir.Module) -> dict[str, str]:
    """The kernels of the model that run on the host, at level gpu or below, and why."""
    found = {}
    for function in functions_of(module.operation):
        is_kernel = KERNEL_ATTRIBUTE in function.attributes and len(function.regions[0].blocks) > 0
        if ON_CPU in function.attributes:
            found[symbol_name(function)] = ir.StringAttr(function.attributes[ON_CPU]).value
        elif is_kernel and not any(op.name == "gpu.launch_func" for op in nested_ops(function)):
            found[symbol_name(function)] = _NO_LOOPS
    return found


def _not_fused(module: ir.Module) -> list[str]:
    """A sentence on each attention that is no single kernel."""
    marked = [function for function in functions_of(module.operation) if NOT_FUSED in function.attributes]
    reasons = [(symbol_name(function), ir.StringAttr(function.attributes[NOT_FUSED]).value) for function in marked]
    return [f"attention in {name} is not one kernel: {reason}" for name, reason in reasons]


def copies_of(module: ir.Module) -> tuple[str, ...]:
    """A sentence on the copies of a call, for a module at level gpu whose copies are placed."""
    ways = Counter(ir.StringAttr(op.attributes[COPY]).value for op in nested_ops(module.operation) if COPY in op.attributes)
    between = ways[UPLOAD] + ways[DOWNLOAD]
    text = f"a call copies its inputs to the GPU and {ways[DELIVER]} results back"
    if between:
        moved = f"{ways[DOWNLOAD]} buffers to the host and {ways[UPLOAD]} to the GPU"
        text += f", and between kernels {moved}, for functions that stay on the host"
    return (text,)


def _with_usage(kernel: DeviceKernel, usage: Mapping[str, KernelUsage] | None, facts: GpuMachine) -> DeviceKernel:
    found = (usage or {}).get(kernel.name)
    if found is None:
        return kernel
    shared = found.shared_bytes + (kernel.shared_bytes or 0)
    occupancy = occupancy_of(facts, max(1, prod(kernel.block)), found.registers, shared)
    return replace(
        kernel,
        registers=found.registers,
        spill_bytes=found.spill_store_bytes + found.spill_load_bytes,
        shared_bytes=shared,
        occupancy=occupancy.share,
        limit=occupancy.limit,
    )

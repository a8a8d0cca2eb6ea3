"""convert-launches-to-calls: what the host asks of a GPU becomes calls of the runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, defining_op, is_memref, nested_ops, root_of, strides_of
from dlc.analysis.symbols import callee_of, functions_of, symbol_name
from dlc.lowering.func.profile_calls import CHARGE, START
from dlc.lowering.gpu_to_llvm.buffer_uses import buffer_of, refuse_asynchronous
from dlc.lowering.gpu_to_llvm.gpu_place_copies import ARGUMENT, COPY, DELIVER, DOWNLOAD, RESULT, UPLOAD, WITHIN
from dlc.lowering.gpu_to_llvm.runtime_calls import (
    RuntimeCalls,
    address_of,
    array_of,
    bytes_of,
    constant,
    long,
    memref_at,
    sizes_of,
    word_of,
)
from dlc.lowering.gpu_to_llvm.tensor_map_calls import TENSOR_MAP, convert_tensor_map, is_tensor_map
from dlc.lowering.pass_base import Pass, PassFailure

_COPIES = {UPLOAD: "dlc_gpu_upload", DOWNLOAD: "dlc_gpu_download", WITHIN: "dlc_gpu_copy"}
_GPU_OPS = ("gpu.launch_func", "gpu.alloc", "gpu.dealloc", "gpu.memcpy", TENSOR_MAP)


@dataclass(frozen=True)
class ConvertLaunchesToCalls(Pass):
    """Let the host's functions call the runtime where they launch kernels, and take and copy memory of the GPU.

    before: gpu.launch_func @k::@k blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1) args(%x : memref<64xf32>)
            gpu.memcpy %h, %x {dlc.copy = "download"} : memref<64xf32>, memref<64xf32>
    after:  call @dlc_gpu_launch(%name, %sizes, %shared, %words, %count)
            call @dlc_gpu_download(%h_address, %x_address, %bytes)

    Public functions that do so, and the entry of a model, begin with `dlc_gpu_begin` and end with `dlc_gpu_finish`. Kernels, which
    are at level nvvm by now, leave the module. Arguments of kernels become 64-bit words: addresses where all memrefs of a kernel
    are of static shape, else the fields of MLIR's descriptors. Tensor maps (`nvgpu.tma.create.descriptor`) come from the
    runtime. Run `gpu-place-copies` first.
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        counts = dict(_argument_counts(op))
        calls = RuntimeCalls(op)
        functions = [function for function in functions_of(op) if len(function.regions[0].blocks)]
        for function in functions:
            inner = [each for each in nested_ops(function) if each.name in _GPU_OPS]
            inner.sort(key=lambda each: each.name != "gpu.alloc")  # what says how to replace one are the copies, which go later
            is_public = "sym_visibility" not in function.attributes
            if (inner and is_public) or symbol_name(function) == _entry_of(op):
                _bracket(function, calls)
            for each in inner:
                refuse_asynchronous(each)
                with ir.InsertionPoint(each), each.location:
                    _convert(each, calls, counts)
        calls.finish()
        for each in [each.operation for each in op.regions[0].blocks[0].operations if each.operation.name == "gpu.module"]:
            each.erase()


def _entry_of(module: ir.Operation) -> str | None:
    """The name of the function that calls of a model run; None for a module that says nothing of one."""
    signature = module.attributes.get("dl.signature")
    entry = signature["entry"] if isinstance(signature, ir.DictAttr) and "entry" in signature else None
    return entry.value if isinstance(entry, ir.StringAttr) else None


def _argument_counts(module: ir.Operation) -> Iterator[tuple[str, int]]:
    """The arguments of each kernel, by the name that launches know it by."""
    for each in module.regions[0].blocks[0].operations:
        if each.operation.name == "gpu.module":
            for kernel in each.operation.regions[0].blocks[0].operations:
                if kernel.operation.name == "llvm.func" and len(kernel.operation.regions[0].blocks):
                    count = len(kernel.operation.regions[0].blocks[0].arguments)
                    yield f"@{symbol_name(each.operation)}::@{symbol_name(kernel.operation)}", count


def _bracket(entry: ir.Operation, calls: RuntimeCalls) -> None:
    """Let an entry begin and finish; charges of its profile are those of the GPU, too."""
    blocks = list(entry.regions[0].blocks)
    charges = [op for op in nested_ops(entry) if op.name == "func.call" and callee_of(op) in (START, CHARGE)]
    with ir.InsertionPoint.at_block_begin(blocks[0]), entry.location:
        calls.call("dlc_gpu_begin", calls.model())
    for op in [op for op in charges if callee_of(op) == CHARGE and len(op.operands) == 1]:
        with ir.InsertionPoint.after(op), op.location:
            calls.call("dlc_gpu_charge", op.operands[0])
    for end in [block.operations[len(block.operations) - 1].operation for block in blocks]:
        if end.name == "func.return":
            with ir.InsertionPoint(end), end.location:
                calls.call("dlc_gpu_finish")


def _convert(op: ir.Operation, calls: RuntimeCalls, counts: dict[str, int]) -> None:
    """Replace one op by calls, at the current place."""
    if op.name == "gpu.launch_func":
        _launch(op, calls, counts)
    elif op.name == TENSOR_MAP:
        convert_tensor_map(op, calls)
        return  # with the views that it is made of
    elif op.name == "gpu.dealloc":
        calls.call("dlc_gpu_release", address_of(op.operands[-1]))
    elif op.name == "gpu.memcpy":
        _copy(op, calls)
    elif not _is_argument(op.results[0]):
        kind = ir.MemRefType(op.results[0].type)
        sizes = _allocated_sizes(op)
        result = _result_of(op.results[0])
        size = bytes_of(op, kind, sizes)
        address = (
            calls.call("dlc_gpu_take", size, gives=True)
            if result is None
            else calls.call("dlc_gpu_take_result", constant(result), size, gives=True)
        )
        op.results[0].replace_all_uses_with(memref_at(kind, address, sizes))
    else:
        return  # its copy takes its place
    op.erase()


def _allocated_sizes(alloc: ir.Operation) -> list[ir.Value]:
    kind, given = ir.MemRefType(alloc.results[0].type), iter(alloc.operands)
    return [word_of(next(given)) if kind.is_dynamic_dim(axis) else constant(kind.shape[axis]) for axis in range(kind.rank)]


def _is_argument(memref: ir.Value) -> bool:
    """Whether an allocation is for the copy of an argument."""
    return any(_way(use.owner.operation) == ARGUMENT and use.operand_number == 0 for use in memref.uses)


def _result_of(memref: ir.Value) -> int | None:
    """Which result an allocation is for; None for others, and for one that is several."""
    delivered = [use.owner.operation for use in memref.uses if _way(use.owner.operation) == DELIVER and use.operand_number == 1]
    return _delivered(delivered[0]) if len(delivered) == 1 else None


def _delivered(op: ir.Operation) -> int:
    """Which result a copy delivers."""
    number = op.attributes.get(RESULT)
    if not isinstance(number, ir.IntegerAttr) or number.type != long():
        raise PassFailure(op, f"a delivery does not say of which result it is ('{RESULT}', of i64)", "run gpu-place-copies first")
    return int(number.value)


def _way(op: ir.Operation) -> str:
    way = op.attributes.get(COPY) if op.name == "gpu.memcpy" else None
    return way.value if isinstance(way, ir.StringAttr) else ""


def _copy(op: ir.Operation, calls: RuntimeCalls) -> None:
    target, source = list(op.operands)[-2:]
    way = _way(op)
    kind = ir.MemRefType(source.type)
    sizes = sizes_of(source)
    size = bytes_of(op, kind, sizes)
    if way == ARGUMENT:
        alloc = defining_op(target)
        if alloc is None or alloc.name not in ("gpu.alloc", *ALLOCATIONS) or root_of(source) == target:
            raise PassFailure(op, "the copy of an argument does not go to an allocation of its own", "run gpu-place-copies first")
        name = "dlc_gpu_device_of" if alloc.name == "gpu.alloc" else "dlc_gpu_host_of"
        address = calls.call(name, address_of(source), size, gives=True)
        target.replace_all_uses_with(memref_at(ir.MemRefType(target.type), address, sizes))
        op.operands[0] = source
        alloc.erase()
    elif way == DELIVER:
        calls.call("dlc_gpu_deliver", constant(_delivered(op)), address_of(target), address_of(source), size)
    elif way in _COPIES:
        calls.call(_COPIES[way], address_of(target), address_of(source), size)
    else:
        raise PassFailure(op, "a copy does not say which way it goes", "run gpu-place-copies first")


def _require_device(launch: ir.Operation, given: Sequence[ir.Value]) -> None:
    """Kernels get memory of the GPU: what the host has for itself would be an illegal access there, or undefined numbers."""
    for value in given:
        if isinstance(value.type, ir.UnrankedMemRefType):
            raise PassFailure(launch, "a kernel gets a memref without rank", "give it a ranked type")
        source = defining_op(buffer_of(value)) if is_memref(value) else None
        if source is not None and (source.name == "memref.get_global" or source.name in ALLOCATIONS):
            raise PassFailure(launch, f"a kernel gets memory of the host ('{source.name}')", "run gpu-place-copies first")


def _launch(op: ir.Operation, calls: RuntimeCalls, counts: dict[str, int]) -> None:
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    *_, cluster, _, _, has_shared, count, _ = segments
    start = sum(segments[:-2])
    operands = list(op.operands)
    first = segments[0]
    name = str(op.attributes["kernel"])
    if name not in counts:
        raise PassFailure(op, f"the kernel {name} is not at level nvvm", "run convert-kernels-to-nvvm first")
    given = operands[start : start + count]
    _require_device(op, given)
    is_bare = counts[name] == len(given)
    words = [word for value in given for word in _words(value, is_bare)]
    if len(words) != counts[name]:
        raise PassFailure(
            op, f"the kernel {name} takes {counts[name]} arguments, and the launch gives {len(words)}", "report this model"
        )
    if cluster:
        raise PassFailure(
            op, "the launch has clusters of blocks, which the runtime does not launch", "map the kernel without clusters"
        )
    shared = word_of(operands[start - 1]) if has_shared else constant(0)
    sizes = array_of([word_of(value) for value in operands[first : first + 6]], op)
    calls.call(
        "dlc_gpu_launch",
        calls.text(name.rpartition("@")[2]),
        sizes,
        shared,
        array_of(words, op),
        constant(len(words)),
        constant(_tensor_maps(op, given, is_bare)),
    )


def _tensor_maps(op: ir.Operation, given: Sequence[ir.Value], is_bare: bool) -> int:
    """The bits of parameters that are tensor maps, in a number that is not negative."""
    counts = [_word_count(value, is_bare) for value in given]
    places = [sum(counts[:at]) for at, value in enumerate(given) if is_tensor_map(value)]
    if any(place >= long().width - 1 for place in places):
        raise PassFailure(op, f"parameter {places[-1]} of a kernel is a tensor map", "report this model")
    return sum(1 << place for place in places)


def _word_count(value: ir.Value, is_bare: bool) -> int:
    """Parameters for one argument of a kernel."""
    return 3 + 2 * ir.MemRefType(value.type).rank if is_memref(value) and not is_bare else 1


def _words(value: ir.Value, is_bare: bool) -> list[ir.Value]:
    """The parameters that stand for one argument of a kernel."""
    if not is_memref(value):
        return [word_of(value)]
    address = address_of(value)
    if is_bare:
        return [address]
    kind = ir.MemRefType(value.type)
    index = ir.IndexType.get()
    strides, offset = strides_of(kind)
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if dynamic not in strides and offset != dynamic:
        return [address, address, constant(offset), *sizes_of(value), *map(constant, strides)]
    base = ir.MemRefType.get([], kind.element_type)
    results = [base, *[index] * (1 + 2 * kind.rank)]
    fields = list(ir.Operation.create("memref.extract_strided_metadata", results, [value]).results)
    return [address, address, *(word_of(field) for field in fields[1:])]

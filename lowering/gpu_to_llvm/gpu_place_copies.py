"""gpu-place-copies: the buffers of an entry get places on the GPU or the host, and copies between them."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, defining_op, is_memref, nested_ops
from dlc.analysis.symbols import functions_of
from dlc.lowering.gpu_to_llvm.buffer_uses import UNTOUCHED, BufferUses, Callee, buffer_of, callees_of, touched_operands
from dlc.lowering.pass_base import Pass, PassFailure

COPY = "dlc.copy"
"""Attribute of a `gpu.memcpy`: which way it goes."""
UPLOAD, DOWNLOAD, WITHIN, DELIVER, ARGUMENT = "upload", "download", "within", "deliver", "argument"
"""To the GPU, to the host, within the GPU, a result to whoever gets it, and an argument to where it is used, unless it is there."""
RESULT = "dlc.result"
"""Attribute of a delivery: which result it is."""
_OF_MEMORY = {
    *("memref.dealloc", "memref.dim", "memref.extract_aligned_pointer_as_index", "memref.extract_strided_metadata"),
}
"""Ops on the memory that a function of the host has returned, which others free."""
_PRECOMPUTE = "dl.precompute"
_TAKING = ("gpu.alloc", "memref.view")
"""What takes memory beside `ALLOCATIONS`: on the GPU, and of an arena."""


@dataclass(frozen=True)
class GpuPlaceCopies(Pass):
    """Let what kernels touch live on the GPU, and copy where the host needs it.

    before: %a = memref.alloc() : memref<8xf32>
            call @kernel(%x, %a)      // launches
            call @on_cpu(%a, %b)      // has `dlc.on_cpu`, and writes %b
            return %b
    after:  %xd = gpu.alloc () : memref<8xf32>   gpu.memcpy %xd, %x {dlc.copy = "argument"}
            %a = gpu.alloc () : memref<8xf32>    %ah = memref.alloc() : memref<8xf32>
            call @kernel(%xd, %a)
            gpu.memcpy %ah, %a {dlc.copy = "download"}
            call @on_cpu(%ah, %b)
            return %b

    A buffer that kernels touch lives on the GPU, and so do those that take its place in loops; the host has a copy of its own where
    it reads or writes one. That copy is taken again after a kernel may have written, and given back right after the host has.
    Buffers that only the host touches stay there. Results are delivered at the end. Where nothing
    launches, inputs that lie on the GPU come to the host.
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the public functions of the module `op`."""
        callees = callees_of(op)
        for function in functions_of(op):
            is_public = "sym_visibility" not in function.attributes and _PRECOMPUTE not in function.attributes
            if len(function.regions[0].blocks) and is_public:
                _Placement(function, callees).run()


class _Placement:
    """Rewrites one entry."""

    def __init__(self, entry: ir.Operation, callees: dict[str, Callee]) -> None:
        self.entry = entry
        if len(entry.regions[0].blocks) > 1:
            raise PassFailure(entry, "the function has several blocks, so that its end is not one", "write its branches as scf.if")
        self.body = entry.regions[0].blocks[0]
        self.uses = BufferUses(entry, callees)
        self.device = self.uses.device_buffers()
        """Buffers on the GPU."""
        self.arguments: dict[ir.Value, ir.Value] = {}
        """By argument's place on the GPU: where the host has it, which needs no copy."""
        self.mirrors: dict[ir.Value, ir.Value] = {}
        """By buffer on the GPU: the host's copy."""
        self.used: set[ir.Value] = set()
        """Buffers on the GPU that something has been done with so far."""

    def run(self) -> None:
        _refuse_donated(self.entry)
        with self.entry.location:
            self._place_arguments()
            self._place_allocations()
            self._place_results()
            self._copy_in(self.body)
            self._deliver()
            self._free_on_device()

    def _place_arguments(self) -> None:
        """Arguments, and constants of the host, where the GPU reads them; inputs, which may lie on the GPU, where the host does."""
        sources = [*self.body.arguments, *(op.results[0] for op in nested_ops(self.entry) if op.name == "memref.get_global")]
        for source in [source for source in sources if is_memref(source)]:
            uses = [use for use in source.uses if use.owner.operation.name != "memref.dim"]
            is_read = source in self.uses.on_host
            is_given = is_read and isinstance(source, ir.BlockArgument) and "dl.param" not in _marks(source)
            with _after(source):
                host = _copied(source, _host_buffer(source)) if is_given else source
                if source not in self.device:
                    _replace(uses, host)
                    continue
                place = _copied(source, _device_buffer(source))
            _replace(uses, place)
            self.device.add(place)
            self.arguments[place] = host

    def _place_allocations(self) -> None:
        """Memory of the GPU for what lives there; an arena gets a twin where both use it."""
        for op in [op for op in nested_ops(self.entry) if op.name in ALLOCATIONS]:
            views = [use for use in op.results[0].uses if use.owner.operation.name == "memref.view"]
            moved = [use for use in views if use.owner.operation.results[0] in self.device]
            if moved and len(moved) < len(views):
                with ir.InsertionPoint.after(op), op.location:
                    twin = _gpu_alloc(op.results[0].type, list(op.operands))
                _replace(moved, twin)
            elif moved or op.results[0] in self.device:
                self._move_to_device(op)

    def _place_results(self) -> None:
        """Memory of the GPU for what functions of the host return, where the GPU touches it; the host frees its own."""
        for op in [op for op in nested_ops(self.entry) if op.name == "func.call" and not self.uses.is_of_device(op)]:
            for result in [result for result in op.results if result in self.device]:
                uses = [use for use in result.uses if use.owner.operation.name not in _OF_MEMORY]
                with _after(result), op.location:
                    place = _device_buffer(result)
                    _copy(place, result, UPLOAD)
                _replace(uses, place)
                self.device.add(place)
                self.device.discard(result)
                self.mirrors[place] = result

    def _move_to_device(self, alloc: ir.Operation) -> None:
        old = alloc.results[0]
        with ir.InsertionPoint(alloc), alloc.location:
            place = _gpu_alloc(old.type, list(alloc.operands))
        for owner in [use.owner.operation for use in old.uses]:
            if owner.name == "memref.dealloc":
                with ir.InsertionPoint(owner), owner.location:
                    ir.Operation.create("gpu.dealloc", operands=[place])
                owner.erase()
        old.replace_all_uses_with(place)
        self.device.discard(old)
        self.device.add(place)
        alloc.erase()

    def _copy_in(self, block: ir.Block) -> None:
        """Copies in a block, in order; what the host has of buffers at its begin is not known."""
        valid: set[ir.Value] = set()
        for op in [each.operation for each in block.operations]:
            for inner in [inner for region in op.regions for inner in region.blocks]:
                self._copy_in(inner)
            if len(op.regions):
                valid.clear()
            elif self.uses.is_of_device(op):
                valid -= self.uses.written(op)
            elif op.name == "gpu.memcpy":
                place, source = op.operands
                valid |= {place} if place in self.mirrors and self.mirrors[place] == source else set()
            elif any(buffer_of(value) in self.device for value in touched_operands(op)):
                self._serve_host(op, valid)
            if op.name not in UNTOUCHED:
                self.used |= {buffer_of(value) for value in op.operands if is_memref(value)}

    def _serve_host(self, op: ir.Operation, valid: set[ir.Value]) -> None:
        """Let `op`, which the host does, work on its copies of buffers that live on the GPU."""
        written = self.uses.written(op)
        if op.name == "memref.copy" and self._is_copy_on_device(op):
            with ir.InsertionPoint(op), op.location:
                _copy(op.operands[1], op.operands[0], WITHIN)
            valid -= written
            op.erase()
            return
        for value in dict.fromkeys(touched_operands(op)):
            buffer = buffer_of(value)
            if buffer not in self.device:
                continue
            mirror = self._mirror(buffer)
            with ir.InsertionPoint(op), op.location:
                if buffer not in valid and buffer not in self.arguments and not self._is_fresh(buffer, op):
                    _copy(mirror, buffer, DOWNLOAD)
                _replace([use for use in value.uses if use.owner.operation == op], _same_view(value, buffer, mirror))
            if buffer in written and buffer not in self.arguments:
                with ir.InsertionPoint.after(op), op.location:
                    _copy(buffer, mirror, UPLOAD)
            valid.add(buffer)

    def _is_fresh(self, buffer: ir.Value, op: ir.Operation) -> bool:
        """Whether nothing can be in a buffer yet: it is taken before `op` in the same block, and nothing was done with it."""
        source = defining_op(buffer)
        if source is None or (source.name not in ALLOCATIONS and source.name not in _TAKING):
            return False
        return buffer not in self.used and source.block == op.block

    def _is_copy_on_device(self, op: ir.Operation) -> bool:
        source, target = op.operands
        return all(buffer_of(value) in self.device and _is_contiguous(value.type) for value in (source, target))

    def _mirror(self, buffer: ir.Value) -> ir.Value:
        """The host's copy of a buffer, which lives as long."""
        found = self.arguments.get(buffer) or self.mirrors.get(buffer)
        if found is not None:
            return found
        if not _is_contiguous(buffer.type):
            raise PassFailure(
                self.entry, f"the host needs a buffer of the GPU that is not contiguous: {buffer.type}", "report this model"
            )
        source = defining_op(buffer)
        block = buffer.owner if source is None else source.block
        with _after(buffer):
            mirror = _host_buffer(buffer)
        with ir.InsertionPoint(block.operations[len(block.operations) - 1]):
            ir.Operation.create("memref.dealloc", operands=[mirror])
        self.mirrors[buffer] = mirror
        return mirror

    def _deliver(self) -> None:
        end = self.body.operations[len(self.body.operations) - 1].operation
        for index, value in enumerate(list(end.operands)):
            if not is_memref(value) or buffer_of(value) not in self.device:
                continue
            with ir.InsertionPoint(end), end.location:
                host = _host_buffer(value)
                _copy(host, value, DELIVER, index)
            end.operands[index] = host

    def _free_on_device(self) -> None:
        """Let the GPU's memory be given back to it, also where a loop or branch has handed it on."""
        for op in [op for op in nested_ops(self.entry) if op.name == "memref.dealloc"]:
            if buffer_of(op.operands[0]) in self.device:
                with ir.InsertionPoint(op), op.location:
                    ir.Operation.create("gpu.dealloc", operands=[op.operands[0]])
                op.erase()


def _refuse_donated(entry: ir.Operation) -> None:
    arguments = entry.regions[0].blocks[0].arguments
    if any("dl.donated" in _marks(argument) for argument in arguments):
        raise PassFailure(entry, "an input is donated, which code for a GPU makes no use of", "compile without donate")


def _marks(argument: ir.BlockArgument) -> ir.DictAttr:
    """The attributes of an entry's argument."""
    entry = argument.owner.owner.operation
    marks = ir.ArrayAttr(entry.attributes["arg_attrs"]) if "arg_attrs" in entry.attributes else None
    return ir.DictAttr(marks[argument.arg_number]) if marks is not None else ir.DictAttr.get({})


def _replace(uses: list[ir.OpOperand], value: ir.Value) -> None:
    for use in uses:
        use.owner.operation.operands[use.operand_number] = value


def _copied(source: ir.Value, target: ir.Value) -> ir.Value:
    """`target` with a copy of the argument or constant `source`."""
    _copy(target, source, ARGUMENT)
    return target


def _is_contiguous(kind: ir.Type) -> bool:
    return isinstance(kind, ir.MemRefType) and kind == _plain(kind)


def _after(value: ir.Value) -> ir.InsertionPoint:
    """Right behind where a value comes to be."""
    op = defining_op(value)
    return ir.InsertionPoint.at_block_begin(value.owner) if op is None else ir.InsertionPoint.after(op)


def _sizes(source: ir.Value) -> list[ir.Value]:
    """The dynamic sizes of a memref."""
    kind, found = ir.MemRefType(source.type), []
    for axis in [axis for axis in range(kind.rank) if kind.is_dynamic_dim(axis)]:
        index = ir.IndexType.get()
        at = ir.Operation.create("arith.constant", [index], attributes={"value": ir.IntegerAttr.get(index, axis)}).result
        found.append(ir.Operation.create("memref.dim", [index], [source, at]).result)
    return found


def _plain(kind: ir.Type) -> ir.MemRefType:
    memref = ir.MemRefType(kind)
    return ir.MemRefType.get(list(memref.shape), memref.element_type)


def _device_buffer(source: ir.Value) -> ir.Value:
    return _gpu_alloc(_plain(source.type), _sizes(source))


def _host_buffer(source: ir.Value) -> ir.Value:
    sizes = _sizes(source)
    attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(sizes), 0])}
    return ir.Operation.create("memref.alloc", [_plain(source.type)], sizes, attributes).result


def _gpu_alloc(kind: ir.Type, sizes: list[ir.Value]) -> ir.Value:
    attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, len(sizes), 0])}
    return ir.Operation.create("gpu.alloc", [kind], sizes, attributes).results[0]


def _copy(target: ir.Value, source: ir.Value, way: str, result: int | None = None) -> None:
    attributes: dict[str, ir.Attribute] = {COPY: ir.StringAttr.get(way)}
    if result is not None:
        attributes[RESULT] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), result)
    ir.Operation.create("gpu.memcpy", operands=[target, source], attributes=attributes)


def _same_view(value: ir.Value, buffer: ir.Value, mirror: ir.Value) -> ir.Value:
    """What `value` is of `buffer`, of its copy."""
    if value == buffer:
        return mirror
    op = defining_op(value)
    assert op is not None
    inner = _same_view(op.operands[0], buffer, mirror)
    clone = op.clone().operation
    clone.operands[0] = inner
    return clone.results[0]

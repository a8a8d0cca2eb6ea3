"""Which of an entry's buffers the GPU and the CPU touch, and which of them take each other's place in loops and branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, VIEW_OPS, defining_op, is_memref, nested_ops, written_roots, written_values
from dlc.analysis.symbols import callee_of, functions_of, symbol_name
from dlc.lowering.pass_base import PassFailure

_ARENA_VIEW = "memref.view"
UNTOUCHED = (
    VIEW_OPS
    | ALLOCATIONS
    | {"memref.dim", "memref.dealloc", "gpu.alloc", "gpu.dealloc", "memref.get_global"}
    | {"memref.extract_aligned_pointer_as_index"}
)
"""Ops that neither read nor write nor hand on elements."""
_TOKEN = "!gpu.async.token"
_CARRIERS = ("scf.", "affine.for", "affine.if", "affine.yield", "affine.parallel", "arith.select")


def buffer_of(value: ir.Value) -> ir.Value:
    """The memref that `value` is a view of; a view of an arena is a buffer of its own."""
    op = defining_op(value)
    while op is not None and op.name in VIEW_OPS and op.name != _ARENA_VIEW:
        value = op.operands[0]
        op = defining_op(value)
    return value


@dataclass(frozen=True)
class Callee:
    """A function that an entry calls: whether it has kernels, and which of its arguments it may write."""

    has_kernels: bool
    written: tuple[bool, ...]


def callees_of(module: ir.Operation) -> dict[str, Callee]:
    """The functions with a body of `module`, by name."""
    found = {}
    kernels = _kernels(module)
    for function in functions_of(module):
        if not len(function.regions[0].blocks):
            continue
        launches = [op for op in nested_ops(function) if op.name == "gpu.launch_func"]
        written = {value for op in launches for value in written_operands(op, kernels)}
        written |= set(written_roots(function)) if not launches else set()
        roots = {buffer_of(value) for value in written}
        arguments = list(function.regions[0].blocks[0].arguments)
        found[symbol_name(function)] = Callee(bool(launches), tuple(argument in roots for argument in arguments))
    return found


def _kernels(module: ir.Operation) -> dict[str, ir.Operation]:
    """The kernels of a module at level gpu, as launches name them."""
    found = {}
    for each in module.regions[0].blocks[0].operations:
        if each.operation.name == "gpu.module":
            for kernel in each.operation.regions[0].blocks[0].operations:
                if kernel.operation.name == "gpu.func":
                    found[f"@{symbol_name(each.operation)}::@{symbol_name(kernel.operation)}"] = kernel.operation
    return found


def written_operands(launch: ir.Operation, kernels: dict[str, ir.Operation]) -> Iterator[ir.Value]:
    """The operands of a launch that its kernel may write; all where the kernel is not there at level gpu."""
    sizes = list(ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"]))
    start = sum(sizes[:-2])
    given = list(launch.operands)[start : start + sizes[-2]]
    kernel = kernels.get(str(launch.attributes["kernel"]))
    if kernel is None:
        yield from (value for value in given if is_memref(value))
        return
    written = set(written_roots(kernel))
    yield from (value for value, argument in zip(given, kernel.regions[0].blocks[0].arguments, strict=False) if argument in written)


@dataclass
class BufferUses:
    """The uses of the buffers of one entry.

    `on_device` and `on_host` are the buffers that are touched there. Buffers of one group take each other's place.
    """

    entry: ir.Operation
    callees: dict[str, Callee]
    on_device: set[ir.Value] = field(default_factory=set)
    on_host: set[ir.Value] = field(default_factory=set)
    _parents: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for op in nested_ops(self.entry):
            if op == self.entry:
                continue
            refuse_asynchronous(op)
            self._join_carried(op)
            touched = [buffer_of(value) for value in touched_operands(op)]
            if any(isinstance(buffer.type, ir.UnrankedMemRefType) for buffer in touched):
                raise PassFailure(op, "nothing says what size a buffer without rank has", "give it a ranked type")
            if op.name in ("func.call", "gpu.alloc"):
                touched += [value for value in op.results if is_memref(value)]
            (self.on_device if self.is_of_device(op) else self.on_host).update(touched)

    def is_of_device(self, op: ir.Operation) -> bool:
        """Whether the GPU does what `op` asks for."""
        if op.name == "func.call":
            callee = self.callees.get(callee_of(op))
            return callee is not None and callee.has_kernels
        return op.name in ("gpu.launch_func", "gpu.alloc", "nvgpu.tma.create.descriptor")

    def written(self, op: ir.Operation) -> set[ir.Value]:
        """The buffers that an op may write."""
        if op.name != "func.call":
            return {buffer_of(value) for value in written_values(op)}
        callee = self.callees.get(callee_of(op))
        given = list(op.operands)
        marks = callee.written if callee is not None else (True,) * len(given)
        return {buffer_of(value) for value, mark in zip(given, marks, strict=True) if mark and is_memref(value)}

    def group(self, buffer: ir.Value) -> ir.Value:
        """One buffer for all that take each other's place."""
        while buffer in self._parents:
            buffer = self._parents[buffer]
        return buffer

    def device_buffers(self) -> set[ir.Value]:
        """The buffers that live on the GPU: those that it touches, and those that take their places."""
        groups = {self.group(buffer) for buffer in self.on_device}
        return self.on_device | {buffer for buffer in self._parents if self.group(buffer) in groups} | groups

    def _join(self, values: Sequence[ir.Value]) -> None:
        groups = [self.group(buffer_of(value)) for value in values]
        for other in groups[1:]:
            if other != groups[0]:
                self._parents[other] = groups[0]
                groups = [self.group(value) for value in groups]

    def _join_carried(self, op: ir.Operation) -> None:
        """Join what a loop or branch hands on: initial values, block arguments, what is yielded, and results."""
        if op.name == "arith.select" and is_memref(op.results[0]):
            self._join([op.results[0], *list(op.operands)[1:]])
        if not len(op.regions) or not op.name.startswith(_CARRIERS):
            return
        rows: list[list[ir.Value]] = [list(op.results)]
        for block in [block for region in op.regions for block in region.blocks]:
            end = block.operations[len(block.operations) - 1].operation
            rows += [list(block.arguments), list(end.operands)]
        rows.append(list(op.operands))
        memrefs = [[value for value in row if is_memref(value)] for row in rows]
        filled = [row for row in memrefs if row]
        if len({len(row) for row in filled}) > 1:
            raise PassFailure(op, "buffers change their number in a loop or branch", "run linalg-place-carried-buffers first")
        for values in zip(*filled, strict=True):
            self._join(values)


def refuse_asynchronous(op: ir.Operation) -> None:
    """`PassFailure` for an op of a GPU that waits for tokens, or gives one: the runtime does all in order."""
    if op.name.startswith("gpu.") and any(str(value.type) == _TOKEN for value in (*op.operands, *op.results)):
        raise PassFailure(op, f"'{op.name}' runs asynchronously, and the runtime does all in order", "write it without tokens")


def touched_operands(op: ir.Operation) -> list[ir.Value]:
    """The memref operands whose elements `op` itself reads or writes."""
    if op.name in UNTOUCHED or op.name == "func.return" or op.name.startswith(_CARRIERS):
        return []
    return [value for value in op.operands if is_memref(value)]

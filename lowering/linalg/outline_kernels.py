"""One private function per distinct kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.buffers import (
    VIEW_OPS,
    ancestor_in,
    inputs_of,
    is_allocation,
    is_linalg,
    is_memref,
    nested_ops,
    root_of,
    touched_roots,
    written_roots,
)
from dlc.analysis.symbols import symbol_name
from dlc.lowering.linalg.kernel_groups import OutlinedGroup, is_computation, kernel_groups, local_views
from dlc.lowering.outlining import FunctionTable, captures_of, is_alone, private_function
from dlc.lowering.pass_base import Pass, PassFailure

_NOALIAS = "llvm.noalias"


@dataclass(frozen=True)
class OutlineKernels(Pass):
    """Move each computation of a public function, with the fills, pads and buffers it alone needs, into a private one.

    Kernels with the same ops, types and constants share one function, whose location fuses those of all its calls. A
    memref argument is `llvm.noalias` when at every call nothing else that the kernel takes shares its memory, unless
    both are only read.

    before:
        linalg.fill ins(%zero : f32) outs(%c : memref<4x4xf32>)
        linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>)
    after:
        call @kernel_0_matmul(%c, %a, %b) : (memref<4x4xf32>, memref<4x8xf32>, memref<8x4xf32>) -> ()
    """

    def run(self, op: ir.Operation) -> None:
        _require_buffers(op)
        table = _KernelTable(op)
        for function in list(op.regions[0].blocks[0].operations):
            if function.operation.name == "func.func" and "sym_visibility" not in function.attributes:
                for block in list(_blocks(function.operation)):
                    for group in kernel_groups(block):
                        table.outline(group)
        table.annotate()


def _require_buffers(module: ir.Operation) -> None:
    for op in nested_ops(module):
        if is_linalg(op) and len(op.results):
            what = f"needs linalg on buffers, found '{op.name}' on tensors"
            raise PassFailure(op, what, "run linalg-bufferize-tensors first")


def _blocks(op: ir.Operation) -> Iterator[ir.Block]:
    """Blocks of `op` that hold ops to outline: its own and those of control flow inside it that is no kernel itself."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in block.operations:
                if inner.operation.name.startswith("scf.") and not is_computation(inner.operation):
                    yield from _blocks(inner.operation)


@dataclass
class _Kernel:
    """A function and what is known of it over all its calls."""

    function: ir.Operation
    written: list[bool]
    noalias: list[bool]
    locations: dict[ir.Location, None] = field(default_factory=dict)


class _KernelTable:
    """The module's kernels by structure."""

    def __init__(self, module: ir.Operation) -> None:
        self._functions = FunctionTable(module)
        self._kernels: dict[str, _Kernel] = {}

    def outline(self, group: OutlinedGroup) -> None:
        """Replace the group by a call of a function with its ops, new or shared."""
        anchor = group.anchor
        locals_ = _local_allocations(group)
        moved = [*(value.owner.operation for value in locals_), *local_views(group.ops, set(locals_)), *group.ops]
        captured, constants = captures_of(moved)
        roots = [root_of(value) if is_memref(value) else None for value in captured]
        written = set(written_roots_of(group))
        location = _fused(op.location for op in group.ops)
        kind = kind_of(anchor)
        with location, ir.InsertionPoint(anchor):
            call = ir.Operation.create("func.call", operands=captured, attributes={"callee": _symbol("kernel")})
            function = private_function("kernel", moved, captured, constants)
        kernel = self._share(function, kind, [root in written for root in roots])
        kernel.locations[location] = None
        call.attributes["callee"] = _symbol(kernel.function.attributes["sym_name"].value)
        for index, root in enumerate(roots):
            kernel.noalias[index] &= root is not None and is_alone(index, roots, kernel.written)

    def _share(self, function: ir.Operation, kind: str, written: list[bool]) -> _Kernel:
        """The kernel with the structure of the detached `function`."""
        shared = self._functions.share(function, kind)
        name = symbol_name(shared)
        return self._kernels.setdefault(name, _Kernel(shared, written, [True] * len(written)))

    def annotate(self) -> None:
        """Write what holds over all calls: locations and `llvm.noalias`."""
        for kernel in self._kernels.values():
            context = kernel.function.context
            kernel.function.location = ir.Location.fused(list(kernel.locations), context=context)
            marks = [{_NOALIAS: ir.UnitAttr.get(context)} if alone else {} for alone in kernel.noalias]
            attributes = [ir.DictAttr.get(mark, context) for mark in marks]
            kernel.function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes, context)


def written_roots_of(group: OutlinedGroup) -> list[ir.Value]:
    """Roots of the memrefs that the group's ops may write."""
    return [root for op in group.ops for root in written_roots(op)]


def _local_allocations(group: OutlinedGroup) -> list[ir.Value]:
    """Buffers of the group's block that nothing but the group uses."""
    block, ops = group.anchor.block, set(group.ops)
    roots = dict.fromkeys(root for op in group.ops for root in touched_roots(op) if is_allocation(root))
    return [root for root in roots if root.owner.operation.block == block and _is_used_only_by(root, ops, block)]


def _is_used_only_by(value: ir.Value, ops: set[ir.Operation], block: ir.Block) -> bool:
    for use in value.uses:
        user = use.owner.operation
        if user.name in VIEW_OPS and user.block == block:
            if not all(_is_used_only_by(result, ops, block) for result in user.results):
                return False
        elif ancestor_in(user, block) not in ops:
            return False
    return True


def kind_of(op: ir.Operation) -> str:
    """A readable word for the computation of a kernel, for its name."""
    if not is_linalg(op):
        return "loop"
    if op.name != "linalg.generic":
        return op.name.removeprefix("linalg.")
    if "reduction" in str(op.attributes["iterator_types"]):
        return "contraction" if len(inputs_of(op)) > 1 else "reduction"
    return "elementwise" if len(op.regions[0].blocks[0].operations) > 1 else "copy"


def _symbol(name: str) -> ir.Attribute:
    return ir.FlatSymbolRefAttr.get(name)


def _fused(locations: Iterator[ir.Location]) -> ir.Location:
    distinct = list(dict.fromkeys(locations))
    return distinct[0] if len(distinct) == 1 else ir.Location.fused(distinct, context=distinct[0].context)

"""`linalg-share-branch-buffers`: what both sides of a branch give in one size has one buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, is_memref, root_of
from dlc.analysis.carried_buffers import control_flow, end_of
from dlc.analysis.size_polynomials import SizeReader
from dlc.lowering.linalg.buffer_sizes import allocate, axis_size
from dlc.lowering.linalg.relayout import reshapes_of
from dlc.lowering.linalg.require_buffers import require_buffers
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class ShareBranchBuffers(Pass):
    """Let both sides of a branch copy what they give in one size into one buffer, made before the branch.

    The size is a number, or an expression in sizes that are known before the branch, the same one on both sides: then nobody has to
    take care of whose memory it is, and it can be planned. `linalg-forward-copies` removes the copies where a side may write there
    in the first place. Public functions are looked at; what may differ in size stays, for `linalg-place-carried-buffers`.

    before:
        %0 = scf.if %p -> (memref<?xf32>) { %a = memref.alloc(%n) ... scf.yield %a } else { %b = memref.alloc(%n) ... scf.yield %b }
    after:
        %0 = memref.alloc(%n)
        scf.if %p { %a = memref.alloc(%n) ... memref.copy %a, %0 } else { %b = memref.alloc(%n) ... memref.copy %b, %0 }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the public functions of the module `op`."""
        require_buffers(op)
        for function in op.regions[0].blocks[0].operations:
            if function.operation.name == "func.func" and "sym_visibility" not in function.operation.attributes:
                for inner in list(control_flow(function.operation)):
                    if inner.name == "scf.if":
                        _share(inner)


def _share(branch: ir.Operation) -> None:
    """Make the buffers for one branch, and let them stand for its results."""
    ends = [end_of(region.blocks[0]) for region in branch.regions if len(region.blocks)]
    shared: dict[int, ir.Value] = {}
    for number, result in enumerate(branch.results):
        sizes = _sizes_before(branch, result, [end.operands[number] for end in ends])
        if sizes is None:
            continue
        with branch.location, ir.InsertionPoint(branch):
            shared[number] = allocate(ir.MemRefType(result.type), sizes)
        for end in ends:
            with end.location, ir.InsertionPoint(end):
                ir.Operation.create("memref.copy", operands=[end.operands[number], shared[number]])
    if shared:
        _drop_results(branch, ends, shared)


def _sizes_before(branch: ir.Operation, result: ir.Value, values: Sequence[ir.Value]) -> list[ir.Value] | None:
    """The dynamic sizes of what both sides give as `result`, known before the branch; None where they differ, or are not known."""
    if not is_memref(result) or isinstance(result.type, ir.UnrankedMemRefType):
        return None
    kind = ir.MemRefType(result.type)
    dynamic = [axis for axis in range(kind.rank) if kind.is_dynamic_dim(axis)]
    if dynamic and not (all(map(_is_whole, values)) and _are_alike(values, dynamic)):
        return None
    with branch.location, ir.InsertionPoint(end_of(branch.regions[0].blocks[0])):
        sizes = [axis_size(values[0], axis) for axis in dynamic]
    return None if any(_is_inside(size, branch) for size in sizes) else sizes


def _is_whole(value: ir.Value) -> bool:
    """Whether a value is all of a buffer, behind reshapes alone, which can be undone."""
    return reshapes_of(value)[0] == root_of(value)


def _are_alike(values: Sequence[ir.Value], axes: Sequence[int]) -> bool:
    """Whether buffers have known sizes along `axes`, the same ones."""
    reader = SizeReader()
    first, *others = [[reader.dim(value, axis) for axis in axes] for value in values]
    return None not in first and all(sizes == first for sizes in others)


def _is_inside(value: ir.Value, branch: ir.Operation) -> bool:
    """Whether a value is computed in a block of `branch`."""
    source = defining_op(value)
    return source is not None and any(source.block == block for region in branch.regions for block in region.blocks)


def _drop_results(branch: ir.Operation, ends: Sequence[ir.Operation], shared: dict[int, ir.Value]) -> None:
    """The branch without the results `shared`, whose buffers stand for them."""
    kept = [number for number in range(len(branch.results)) if number not in shared]
    with branch.location, ir.InsertionPoint(branch):
        kinds = [branch.results[number].type for number in kept]
        made = ir.Operation.create("scf.if", results=kinds, operands=list(branch.operands), regions=2)
    for end in ends:
        with end.location, ir.InsertionPoint(end):
            ir.Operation.create("scf.yield", operands=[end.operands[number] for number in kept])
        end.erase()
    for region, target in zip(branch.regions, made.regions, strict=True):
        for block in list(region.blocks):
            block.append_to(target)
    for number, result in enumerate(branch.results):
        result.replace_all_uses_with(shared[number] if number in shared else made.results[kept.index(number)])
    branch.erase()

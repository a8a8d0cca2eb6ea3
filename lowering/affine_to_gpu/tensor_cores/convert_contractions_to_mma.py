"""convert-contractions-to-mma: sums of products become kernels on tensor cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, VIEW_OPS, defining_op, nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine.ir.loops import AS_WRITTEN, real_ops
from dlc.lowering.affine_to_gpu.affine_outline_checks import CHECKS
from dlc.lowering.affine_to_gpu.grid import has_bound_loops
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction, contraction_of
from dlc.lowering.affine_to_gpu.tensor_cores.mma_kernels import MmaKernel, launch_contraction
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, shapes_for
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import MmaTile, best_tile
from dlc.lowering.affine_to_gpu.tensor_cores.tma_kernels import TmaKernel, tensor_maps_of
from dlc.lowering.affine_to_gpu.tensor_cores.warpgroup_kernels import WarpgroupKernel
from dlc.lowering.dl.precision import precision_of
from dlc.lowering.native import run_native
from dlc.lowering.outlining import captures_of, clone_replacing, fresh_name, noalias_marks, private_function, symbols_in
from dlc.lowering.pass_base import Pass, option
from dlc.targets.machine import GpuMachine, gpu_facts_of

_BETWEEN = ("arith.", "math.", "affine.apply", "memref.get_global", "memref.dim", "memref.dealloc", "func.return")
"""What may lie between the loops of a function whose contractions become kernels of their own."""

_OF_WEIGHTS = "dl.precompute"


@dataclass(frozen=True)
class ConvertContractionsToMma(Pass):
    """Let tensor cores (`mma.sync`, `wgmma`) compute contractions where that is faster: a kernel each, outlined and launched.

    before: func.func @f(%A, %B, %C) { affine.for %i { affine.for %j {
              %s = affine.for %k iter_args(...) { A[i, k] * B[k, j] in f32 }  store relu(%s), %C[%i, %j] } {dlc.parallel} } }
    after:  func.func @f(%A, %B, %C) { gpu.launch_func @f_kernel::@f_kernel ... }
            gpu.module @f_kernel { gpu.func @f_kernel { nvgpu.device_async_copy ...  affine.for %t iter_args(...) {
              gpu.barrier  nvgpu.ldmatrix ...  nvgpu.mma.sync ... }  relu and stores } }

    Operands are f16, bf16 or signed bytes, sums f32 or i32; f32 is rounded to tf32 only where that is asked for, here or by the
    module's `dl.precision`. Loops are parallel (`dlc.parallel`), their sizes constant; several loops make one dim of the
    product (convolution as implicit GEMM). Panels of both operands go through shared memory in stages, by `cp.async` where
    neighbours allow 4 bytes at least, else through registers; those of `wgmma` by TMA where a tensor map describes both operands.
    Instruction, tiles and stages are those of least cost on the GPU
    that the module's `dlc.gpu` describes: `wgmma` (from sm_90 on) reads both operands in shared memory, `mma.sync` by
    `ldmatrix`. Where none beats a kernel without tensor cores, the loops stay. Other loops of such a function become functions
    of their own, which `affine-map-to-gpu` maps."""

    tf32: bool = option(False, "round f32 operands to tf32, whatever dl.precision says")

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        facts, taken, found = gpu_facts_of(op), symbols_in(op), False
        tf32 = self.tf32 or precision_of(op) == "tf32"
        for function in [inner.operation for inner in op.regions[0].blocks[0].operations]:
            if function.name != "func.func" or len(function.regions[0].blocks) != 1 or not is_free(function):
                continue
            chosen = [one for inner in real_ops(function.regions[0].blocks[0]) if (one := _choice(inner, facts, tf32))]
            if chosen:
                found = True
                _rewrite(function, chosen, taken, facts)
        if found:
            run_native(op, "gpu-kernel-outlining")


_Choice = tuple[Contraction, MmaShape, MmaTile]


def is_free(function: ir.Operation) -> bool:
    """Whether nothing else decides on the function's loops, and what lies between them may stay on the host."""
    if CHECKS in function.attributes or _OF_WEIGHTS in function.attributes or has_bound_loops(function):
        return False
    if any(AS_WRITTEN in op.attributes for op in nested_ops(function)):
        return False
    ops = [op.operation for op in function.regions[0].blocks[0].operations]
    others = [op for op in ops if op.name != "affine.for"]
    return all(op.name.startswith(_BETWEEN) or op.name in ALLOCATIONS or op.name in VIEW_OPS for op in others)


def _choice(op: ir.Operation, facts: GpuMachine, tf32: bool) -> _Choice | None:
    """The contraction that a nest is, its instruction and tiles; None where tensor cores do not pay."""
    contraction = contraction_of(op) if op.name == "affine.for" else None
    found = best_tile(contraction, list(shapes_for(contraction, facts, tf32)), facts) if contraction else None
    return (contraction, *found) if contraction and found else None


def _rewrite(function: ir.Operation, chosen: Sequence[_Choice], taken: set[str], facts: GpuMachine) -> None:
    """Make kernels of the contractions, and functions of the other loops, in their order."""
    nests = [contraction.nest for contraction, _, _ in chosen]
    for others in _runs(function, nests):
        _outline(function, others, taken)
    for contraction, shape, tile in chosen:
        with ir.InsertionPoint(contraction.nest), contraction.nest.location:
            launch_contraction(_kernel_of(contraction, shape, tile), contraction, shape, tile, facts)
        contraction.nest.erase()


def _kernel_of(contraction: Contraction, shape: MmaShape, tile: MmaTile) -> type[MmaKernel]:
    """How panels are copied and multiplied."""
    if not shape.of_warpgroup:
        return MmaKernel
    return TmaKernel if tensor_maps_of(contraction, shape, tile) else WarpgroupKernel


def _runs(function: ir.Operation, nests: Sequence[ir.Operation]) -> list[list[ir.Operation]]:
    """The other loops of a function, those that directly follow each other together."""
    found: list[list[ir.Operation]] = []
    is_open = False
    for op in real_ops(function.regions[0].blocks[0]):
        is_other = op.name == "affine.for" and op not in nests
        if is_other and not is_open:
            found.append([])
        if is_other:
            found[-1].append(op)
        is_open = is_other
    return found


def _own_views(function: ir.Operation, ops: Sequence[ir.Operation]) -> list[ir.Operation]:
    """Copies of the views that `ops` use, which use them from then on: a view and its memory are no two arguments."""
    needed: set[ir.Operation] = set()
    waiting = [operand for op in ops for inner in nested_ops(op) for operand in inner.operands]
    while waiting:
        source = defining_op(waiting.pop())
        if source is not None and source.name in VIEW_OPS and source not in needed:
            needed.add(source)
            waiting += list(source.operands)
    inside = {inner for op in ops for inner in nested_ops(op)}
    values: dict[ir.Value, ir.Value] = {}
    with ir.InsertionPoint(ops[0]):
        views = [op for op in real_ops(function.regions[0].blocks[0]) if op in needed and op not in inside]
        copies = [clone_replacing(view, values) for view in views]
    for inner in inside:
        for place, operand in enumerate(inner.operands):
            if operand in values:
                inner.operands[place] = values[operand]
    return copies


def _outline(function: ir.Operation, ops: Sequence[ir.Operation], taken: set[str]) -> None:
    """Move loops into a function with the views that they use, and call it where the last of them was."""
    ops = [*_own_views(function, ops), *ops]
    captured, constants = captures_of(ops, lambda op: op.name in ("arith.constant", "memref.get_global"))
    with ir.InsertionPoint(ops[-1]), ops[0].location:
        name = fresh_name(f"{symbol_name(function)}_loops", taken, "_")
        ir.Operation.create("func.call", operands=captured, attributes={"callee": ir.FlatSymbolRefAttr.get(name)})
        marks = noalias_marks(function, ops, captured)
        made = private_function(name, ops, captured, constants)
        made.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
    function.block.append(made)

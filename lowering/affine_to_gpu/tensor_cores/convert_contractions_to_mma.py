"""convert-contractions-to-mma: sums of products become kernels on tensor cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.ir.forwarding import local_users
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine.ir.padding import PaddedCopy, ancestors, padded_copies
from dlc.lowering.affine_to_gpu.launches import outline_launches
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction, contraction_of
from dlc.lowering.affine_to_gpu.tensor_cores.kernel_functions import is_free, outline_others
from dlc.lowering.affine_to_gpu.tensor_cores.mma_kernels import MmaKernel, launch_contraction
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, shapes_for
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import MmaTile, best_tile
from dlc.lowering.affine_to_gpu.tensor_cores.tma_kernels import TmaKernel, tensor_maps_of
from dlc.lowering.affine_to_gpu.tensor_cores.warpgroup_kernels import WarpgroupKernel
from dlc.lowering.dl.precision import precision_of
from dlc.lowering.outlining import symbols_in
from dlc.lowering.pass_base import Pass, option
from dlc.targets.machine import GpuMachine, gpu_facts_of


@dataclass(frozen=True)
class ConvertContractionsToMma(Pass):
    """Let tensor cores (`mma.sync`, `wgmma`) compute contractions where that is faster: a kernel each, outlined and launched.

    before: func.func @f(%A, %B, %C) { affine.for %i { affine.for %j {
              %s = affine.for %k iter_args(...) { A[i, k] * B[k, j] in f32 }  store relu(%s), %C[%i, %j] } {dlc.parallel} } }
    after:  func.func @f(%A, %B, %C) { gpu.launch_func @f_kernel::@f_kernel ... }
            gpu.module @f_kernel { gpu.func @f_kernel { nvgpu.device_async_copy ...  affine.for %t iter_args(...) {
              gpu.barrier  nvgpu.ldmatrix ...  nvgpu.mma.sync ... }  relu and stores } }

    Operands are f16, bf16 or signed bytes, sums f32 or i32; f32 is rounded to tf32 only where that is asked for, here or by the
    module's `dl.precision`. Loops are parallel (`dlc.parallel`); several loops make one dim of the product (convolution as implicit
    GEMM), and of one of these run time may know the extent, whose edges are masked (by `mma.sync`). Panels of both operands go
    through shared memory in stages, by `cp.async` where neighbours allow 4 bytes at least, else through registers; those of `wgmma`
    by TMA where a tensor map describes both operands. A local copy of an image with zeros around it is read where it is a copy of,
    and goes. Instruction, tiles and stages are those of least cost on the GPU that the module's `dlc.gpu` describes: `wgmma` (from
    sm_90 on) reads both operands in shared memory, `mma.sync` by `ldmatrix`. Where none beats a kernel without tensor cores, the
    loops stay. Other loops of such a function become functions of their own, which `affine-map-to-gpu` maps."""

    tf32: bool = option(False, "round f32 operands to tf32, whatever dl.precision says")

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        facts, taken, found = gpu_facts_of(op), symbols_in(op), False
        tf32 = self.tf32 or precision_of(op) == "tf32"
        for function in [inner.operation for inner in op.regions[0].blocks[0].operations]:
            if not is_free(function):
                continue
            nests, padded = real_ops(function.regions[0].blocks[0]), padded_copies(function)
            chosen = [one for inner in nests if (one := _choice(inner, facts, tf32, padded))]
            if chosen:
                found = True
                _rewrite(function, chosen, taken, facts)
        if found:
            outline_launches(op)


_Choice = tuple[Contraction, MmaShape, MmaTile]


def _choice(op: ir.Operation, facts: GpuMachine, tf32: bool, padded: Mapping[ir.Value, PaddedCopy]) -> _Choice | None:
    """The contraction that a nest is, its instruction and tiles; None where tensor cores do not pay."""
    contraction = contraction_of(op, padded=padded) if op.name == "affine.for" else None
    found = best_tile(contraction, list(shapes_for(contraction, facts, tf32)), facts) if contraction else None
    return (contraction, *found) if contraction and found else None


def _rewrite(function: ir.Operation, chosen: Sequence[_Choice], taken: set[str], facts: GpuMachine) -> None:
    """Make kernels of the contractions, and functions of the other loops, in their order."""
    nests = [contraction.nest for contraction, _, _ in chosen]
    unread = [buffer for buffer in _replaced(chosen) if _is_read_by(buffer, nests)]
    for buffer in unread:
        _erase_writers(buffer)
    outline_others(function, nests, taken)
    for contraction, shape, tile in chosen:
        with ir.InsertionPoint(contraction.nest), contraction.nest.location:
            launch_contraction(_kernel_of(contraction, shape, tile), contraction, shape, tile, facts)
        contraction.nest.erase()
    for buffer in unread:
        for op in [*(use.owner.operation for use in buffer.uses), buffer.owner.operation]:
            op.erase()


def _replaced(chosen: Sequence[_Choice]) -> set[ir.Value]:
    """The padded copies in place of which contractions read what they are copies of."""
    operands = [operand for contraction, _, _ in chosen for operand in (contraction.lhs, contraction.rhs)]
    return {operand.load.operands[0] for operand in operands if operand.inside}


def _is_read_by(buffer: ir.Value, nests: Sequence[ir.Operation]) -> bool:
    """Whether all loads of a local buffer are in these nests."""
    loads = [use.owner.operation for use in buffer.uses if use.owner.name == "affine.load"]
    return all(any(around in nests for around in ancestors(load)) for load in loads)


def _erase_writers(buffer: ir.Value) -> None:
    """Erase the nests that write a padded copy, and the views that they write it through."""
    stores = [user for user in local_users(buffer.owner.operation) or [] if user.name == "affine.store"]
    for nest in {ancestors(store)[-1] for store in stores}:
        nest.erase()
    for view in [use.owner.operation for use in buffer.uses if use.owner.name == "memref.subview"]:
        view.erase()


def _kernel_of(contraction: Contraction, shape: MmaShape, tile: MmaTile) -> type[MmaKernel]:
    """How panels are copied and multiplied."""
    if not shape.of_warpgroup:
        return MmaKernel
    return TmaKernel if tensor_maps_of(contraction, shape, tile) else WarpgroupKernel

"""convert-contractions-to-simt: sums of products become kernels whose threads have tiles of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine_to_gpu.launches import outline_launches
from dlc.lowering.affine_to_gpu.simt.simt_kernels import launch_contraction
from dlc.lowering.affine_to_gpu.simt.simt_tiles import SimtTile, best_tile
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction, contraction_of
from dlc.lowering.affine_to_gpu.tensor_cores.kernel_functions import is_free, outline_others
from dlc.lowering.outlining import symbols_in
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import GpuMachine, gpu_facts_of


@dataclass(frozen=True)
class ConvertContractionsToSimt(Pass):
    """Let threads compute contractions of f32 and f64 in tiles of registers: a kernel each, outlined and launched.

    before: func.func @f(%A, %B, %C) { affine.for %i { affine.for %j {
              %s = affine.for %k iter_args(...) { A[i, k] * B[k, j] }  store relu(%s), %C[%i, %j] } {dlc.parallel} } }
    after:  func.func @f(%A, %B, %C) { gpu.launch_func @f_kernel::@f_kernel ... }
            gpu.module @f_kernel { gpu.func @f_kernel { nvgpu.device_async_copy ...  affine.for %t iter_args(...) {
              gpu.barrier  vector.load ...  math.fma ... }  relu and stores } }

    Loops are parallel (`dlc.parallel`); several loops make one dim of the product (convolution as implicit GEMM), and of one of
    these run time may know the extent: as many blocks are launched as it takes, and edges are masked. Panels of both operands come
    to shared memory in stages by `cp.async`, whichever way they lie in memory, and threads read them 16 bytes at a time. The tile
    is that of least cost on the GPU that the module's `dlc.gpu` describes. Products of few rows or columns stay, as do those on
    GPUs without `cp.async`; what tensor cores take is gone before
    (`convert-contractions-to-mma`). Other loops of such a function become functions of their own, for `affine-map-to-gpu`."""

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        facts, taken, found = gpu_facts_of(op), symbols_in(op), False
        for function in [inner.operation for inner in op.regions[0].blocks[0].operations]:
            if not is_free(function):
                continue
            chosen = [one for inner in real_ops(function.regions[0].blocks[0]) if (one := _choice(inner, facts))]
            if chosen:
                found = True
                _rewrite(function, chosen, taken, facts)
        if found:
            outline_launches(op)


def _choice(op: ir.Operation, facts: GpuMachine) -> tuple[Contraction, SimtTile] | None:
    """The contraction that a nest is, and its tile; None where it stays."""
    contraction = contraction_of(op) if op.name == "affine.for" else None
    tile = best_tile(contraction, facts) if contraction else None
    return (contraction, tile) if contraction and tile else None


def _rewrite(function: ir.Operation, chosen: Sequence[tuple[Contraction, SimtTile]], taken: set[str], facts: GpuMachine) -> None:
    """Make kernels of the contractions, and functions of the other loops, in their order."""
    outline_others(function, [contraction.nest for contraction, _ in chosen], taken)
    for contraction, tile in chosen:
        with ir.InsertionPoint(contraction.nest), contraction.nest.location:
            launch_contraction(contraction, tile, facts)
        contraction.nest.erase()

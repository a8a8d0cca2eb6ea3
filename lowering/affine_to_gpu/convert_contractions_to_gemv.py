"""convert-contractions-to-gemv: products of few rows become kernels that read their matrix as fast as memory gives it."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine_to_gpu.gemv_kernels import launch_gemv
from dlc.lowering.affine_to_gpu.gemv_tiles import GemvTile, gemv_tile
from dlc.lowering.affine_to_gpu.launches import outline_launches
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction, contraction_of
from dlc.lowering.affine_to_gpu.tensor_cores.kernel_functions import is_free, outline_others
from dlc.lowering.outlining import symbols_in
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import GpuMachine, gpu_facts_of


@dataclass(frozen=True)
class ConvertContractionsToGemv(Pass):
    """Let all threads of the GPU share the elements of a matrix that few rows (up to `gpu.gemv_rows`) are multiplied with.

    before: affine.for %j = 0 to 4096 {
              %s = affine.for %k = 0 to 4096 iter_args(...) { A[0, k] * B[k, j] }  store relu(%s), %C[0, %j] } {dlc.parallel}
    after:  gpu.launch blocks(%b, ...) threads(%t, ...) { %s0, ... = affine.for %q = 0 to 8 iter_args(...) {
                %v = affine.vector_load %B[(%q * 128 + %t floordiv 8) * 4, 32 * %b + %t mod 8 * 4] ... fma ... (seven more) }
              (the lanes of a warp that have the same columns add up by shuffles)  store to shared memory; gpu.barrier
              a thread for each column adds what the warps have, and stores relu of it }

    Columns of the matrix lie side by side (k x n), so that lanes go along them by 16 bytes, where these are aligned; the
    threads of a block split the sum, and several loads of each are on their way together. Blocks have so few columns that each
    multiprocessor has some. Products that have a result for each thread of the GPU stay, and those whose sums lie side by side
    are split by `affine-split-reductions`. Run time may know the length of the sum. Sums are associated anew, as any reduction
    may be (docs/design/0001-contracts.md). Other loops of such a function become functions of their own.
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        facts, taken, found = gpu_facts_of(op), symbols_in(op), False
        for function in [inner.operation for inner in op.regions[0].blocks[0].operations]:
            if not is_free(function):
                continue
            chosen = [one for nest in real_ops(function.regions[0].blocks[0]) if (one := _choice(nest, facts))]
            if not chosen:
                continue
            found = True
            outline_others(function, [contraction.nest for contraction, _ in chosen], taken)
            for contraction, tile in chosen:
                with ir.InsertionPoint(contraction.nest), contraction.nest.location:
                    launch_gemv(contraction, tile, facts)
                contraction.nest.erase()
        if found:
            outline_launches(op)


def _choice(op: ir.Operation, facts: GpuMachine) -> tuple[Contraction, GemvTile] | None:
    contraction = contraction_of(op) if op.name == "affine.for" else None
    tile = gemv_tile(contraction, facts) if contraction else None
    return (contraction, tile) if contraction and tile else None

"""affine-transpose-operands: operands that tensor cores cannot read across their rows are transposed before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import prod

from dlc._mlir import affine, ir, memref
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.loops import Bound, Loop, build_for
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.kernel_functions import contractions_in
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, shapes_for
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import least_cycles
from dlc.lowering.affine_to_gpu.tensor_cores.operands import Operand
from dlc.lowering.affine_to_gpu.thread_code import end_of
from dlc.lowering.dl.precision import precision_of
from dlc.lowering.outlining import clone_replacing
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy
from dlc.targets.machine import TRANSPOSED_BYTES, GpuMachine, gpu_facts_of


@dataclass(frozen=True)
class AffineTransposeOperands(Pass):
    """Copy operands of contractions so that neighbours of the sum lie side by side, where the tensor cores' elements ask for it.

    before: affine.for %i { affine.for %j {
              %s = affine.for %k iter_args(...) { A[i, k] * B[k, j] }  store %s, %C[%i, %j] } }
    after:  %T = memref.alloc() : memref<...xf32>
            affine.for %j { affine.for %k { %T[%j, %k] = B[k, j] } }
            affine.for %i { affine.for %j {
              %s = affine.for %k iter_args(...) { A[i, k] * T[j, k] }  store %s, %C[%i, %j] } }

    Elements of tf32 and bytes reach `mma.sync` and `wgmma` in the order of the sum alone; without a copy each goes through a
    register by itself. A copy has no more elements than what it is of, and is made where the model's cost of it and of the
    contraction then is less than that of the contraction as it is. `affine-split-contractions`, which runs next, sees the result.
    """

    tf32: bool = option(False, "f32 operands go to tensor cores, whatever dl.precision says")

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        facts, tf32 = gpu_facts_of(op), self.tf32 or precision_of(op) == "tf32"
        for contraction in contractions_in(op):
            _transpose(contraction, list(shapes_for(contraction, facts, tf32)), facts)


def _transpose(contraction: Contraction, shapes: Sequence[MmaShape], facts: GpuMachine) -> None:
    """Emit the copies that pay before the nest, which reads them then."""
    found = [operand for operand in (contraction.lhs, contraction.rhs) if _is_across(contraction, operand)]
    if not found or not shapes or contraction.lhs.load == contraction.rhs.load:
        return
    choices = list(chain.from_iterable(combinations(found, count) for count in range(len(found) + 1)))
    for operand in min(choices, key=lambda chosen: _cycles(contraction, chosen, shapes, facts)):
        _copy(contraction, operand)


def _is_across(contraction: Contraction, operand: Operand) -> bool:
    """Whether neighbours in memory are those of other sums, tensor cores do not transpose them, and a copy is not larger."""
    if operand.bytes == TRANSPOSED_BYTES or contraction.sums.run(operand) > 1:
        return False
    axis = contraction.rows if operand is contraction.lhs else contraction.columns
    elements = prod(loop.extent or 0 for loop in _loops(contraction, operand))
    return axis.run(operand) > 1 and elements <= prod(ir.MemRefType(operand.memref.type).shape)


def _loops(contraction: Contraction, operand: Operand) -> list[Loop]:
    """The loops that move an operand, those of the sum innermost."""
    axes = (contraction.batch, contraction.rows, contraction.columns, contraction.sums)
    return [loop for axis in axes for loop in axis.loops if operand.factor(loop)]


def _cycles(contraction: Contraction, chosen: Sequence[Operand], shapes: Sequence[MmaShape], facts: GpuMachine) -> float:
    """What the contraction costs with copies of these operands, and these."""
    lhs, rhs = (_transposed(contraction, one) if one in chosen else one for one in (contraction.lhs, contraction.rhs))
    copies = 0.0
    for operand in chosen:
        moved = 2 * operand.bytes * prod(loop.extent or 0 for loop in _loops(contraction, operand))
        copies += policy().gpu.launch_cycles + policy().gpu.memory_latency + moved / facts.memory_bytes_per_cycle
    return least_cycles(replace(contraction, lhs=lhs, rhs=rhs), shapes, facts) + copies


def _transposed(contraction: Contraction, operand: Operand) -> Operand:
    """The operand as it would be read from a copy of itself."""
    factors, step = {}, 1
    for loop in reversed(_loops(contraction, operand)):
        factors[loop.iv] = step
        step *= loop.extent or 1
    return replace(operand, form=Linear(factors, 0))


def _copy(contraction: Contraction, operand: Operand) -> None:
    """Emit the copy of an operand, and let the contraction read that."""
    loops, nest, load = _loops(contraction, operand), contraction.nest, operand.load
    with ir.InsertionPoint(nest), nest.location:
        kind = ir.MemRefType.get([loop.extent or 0 for loop in loops], operand.element)
        copy = memref.AllocOp(kind, [], []).result
        identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(len(loops)))
        made = list(_nest(loops))
        places = [loop.regions[0].blocks[0].arguments[0] for loop in made]
        with ir.InsertionPoint(made[-1].regions[0].blocks[0].operations[0]):
            value = clone_replacing(load, {loop.iv: place for loop, place in zip(loops, places, strict=True)}).results[0]
            affine.AffineStoreOp(value, copy, places, identity)
    with ir.InsertionPoint(end_of(nest.block)), nest.location:
        memref.DeallocOp(copy)
    with ir.InsertionPoint(load), load.location:
        read = affine.AffineLoadOp(operand.element, copy, [loop.iv for loop in loops], identity).result
    load.results[0].replace_all_uses_with(read)
    load.erase()


def _nest(loops: Sequence[Loop]) -> Iterator[ir.Operation]:
    """Emit parallel loops of the same extents in each other, the innermost one empty."""
    place = ir.InsertionPoint.current
    for loop in loops:
        with place:
            made = build_for(Bound.constant(0), Bound.constant(loop.extent or 0), parallel=True)
        with ir.InsertionPoint(made.regions[0].blocks[0]):
            place = ir.InsertionPoint(affine.AffineYieldOp([]))
        yield made

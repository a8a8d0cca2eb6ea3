"""affine-split-contractions: sums of products are split where results alone leave multiprocessors idle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, arith, ir, memref
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine.ir.affine_builder import AffineScope, substitute
from dlc.lowering.affine.ir.loops import Bound, Loop, build_for, real_ops
from dlc.lowering.affine.ir.reductions import ReductionNest, chain_of, combine, identity
from dlc.lowering.affine_to_gpu.simt.simt_tiles import best_parts as best_simt_parts
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction, parallel_band
from dlc.lowering.affine_to_gpu.tensor_cores.kernel_functions import contractions_in
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import shapes_for
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import best_parts
from dlc.lowering.affine_to_gpu.thread_code import end_of
from dlc.lowering.dl.precision import precision_of
from dlc.lowering.outlining import clone_replacing
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy
from dlc.targets.machine import MATRIX_ROW_BYTES, GpuMachine, gpu_facts_of


@dataclass(frozen=True)
class AffineSplitContractions(Pass):
    """Split the sums of contractions into parts that blocks compute side by side (split-K), and add these in a nest of its own.

    before: affine.for %i { affine.for %j {
              %s = affine.for %k = 0 to 3072 iter_args(...) { A[i, k] * B[k, j] in f32 }  store relu(%s), %C[%i, %j] } }
    after:  %P = memref.alloc() : memref<4x...xf32>
            affine.for %p = 0 to 4 { affine.for %i { affine.for %j {
              %s = affine.for %k = 0 to 768 iter_args(...) { A[i, 768 * p + k] * B[768 * p + k, j] }  store %s, %P[%p, %i, %j] } } }
            affine.for %i { affine.for %j {
              %s = %start + P[0, i, j] + P[1, i, j] + P[2, i, j] + P[3, i, j]  store relu(%s), %C[%i, %j] } }

    So it is done where `convert-contractions-to-mma`, which runs next and for which a part is one more batch, would leave
    multiprocessors of the GPU without a block, and where its model says that both kernels cost less than one; for what tensor cores
    do not take, where that of `convert-contractions-to-simt` says so. Parts are equal, and
    whole steps of the tensor cores where neighbours of the sum lie side by side. They are added in their order, so results do not
    depend on which block is first; sums are associated anew, as any reduction may be (docs/design/0001-contracts.md)."""

    tf32: bool = option(False, "f32 operands go to tensor cores, whatever dl.precision says")

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        facts, tf32 = gpu_facts_of(op), self.tf32 or precision_of(op) == "tf32"
        for contraction in contractions_in(op):
            found = _choice(contraction, facts, tf32)
            if found:
                _Split(contraction, *found).emit()


def _choice(contraction: Contraction, facts: GpuMachine, tf32: bool) -> tuple[Loop, int] | None:
    """The loop of the sum to split, and into how many parts; None where it does not pay."""
    loops = {parts: loop for parts in policy().gpu.sum_parts if (loop := _loop_for(contraction, parts))}
    shapes, allowed = list(shapes_for(contraction, facts, tf32)), list(loops)
    parts = best_parts(contraction, shapes, allowed, facts) if shapes and loops else best_simt_parts(contraction, allowed, facts)
    return (loops[parts], parts) if parts > 1 else None


def _loop_for(contraction: Contraction, parts: int) -> Loop | None:
    """The longest loop of the sum that has so many equal parts; None where none has."""
    loops = sorted(contraction.sums.loops, key=lambda one: one.extent or 0, reverse=True)
    return next((loop for loop in loops if _divides(contraction, loop, parts)), None)


def _divides(contraction: Contraction, loop: Loop, parts: int) -> bool:
    """Whether parts are equal, and whole steps where numbers lie side by side: of the deepest tile, if the whole sum is."""
    length, rest = divmod(loop.extent or 0, parts)
    is_dense = any(operand.factor(loop) == 1 for operand in (contraction.lhs, contraction.rhs))
    element = contraction.lhs.bytes
    deepest = max(policy().gpu.mma_depths) // element
    step = deepest if (loop.extent or 0) % deepest == 0 else 2 * MATRIX_ROW_BYTES // element
    return rest == 0 and length > 0 and (not is_dense or length % step == 0)


@dataclass(frozen=True, eq=False)
class _Split:
    """The split of `contraction` along one loop of its sum."""

    contraction: Contraction
    along: Loop
    parts: int

    def emit(self) -> None:
        """Emit the partial sums before the nest, which adds them then."""
        nest = self.contraction.nest
        band, total = list(parallel_band(nest)), self.contraction.total
        chain = chain_of(total.owner.operation)
        assert chain is not None
        shape = [self.parts, *(loop.extent or 0 for loop in band)]
        with ir.InsertionPoint(nest), nest.location:
            partial = memref.AllocOp(ir.MemRefType.get(shape, total.type), [], []).result
            self._parts(partial, band, chain)
        with ir.InsertionPoint(end_of(nest.block)), nest.location:
            memref.DeallocOp(partial)
        with ir.InsertionPoint(total.owner), total.owner.location:
            total.replace_all_uses_with(self._added(partial, [loop.iv for loop in band], chain))
        total.owner.erase()

    def _added(self, partial: ir.Value, places: Sequence[ir.Value], chain: ReductionNest) -> ir.Value:
        """Emit the sum of a result's parts."""
        total, rank = self.contraction.start, len(places)
        for part in range(self.parts):
            subscripts = [ir.AffineExpr.get_constant(part), *(ir.AffineExpr.get_dim(at) for at in range(rank))]
            map = ir.AffineMapAttr.get(ir.AffineMap.get(rank, 0, subscripts))
            value = affine.AffineLoadOp(self.contraction.total.type, partial, list(places), map).result
            total = combine(chain.combiners[0], total, value)
        return total

    def _parts(self, partial: ir.Value, band: Sequence[Loop], chain: ReductionNest) -> None:
        """Emit the nest of partial sums."""
        loops = [build_for(Bound.constant(0), Bound.constant(self.parts), parallel=True)]
        for loop in band:
            with ir.InsertionPoint(loops[-1].regions[0].blocks[0]):
                loops.append(build_for(Bound.constant(0), Bound.constant(loop.extent or 0), parallel=True))
        outer = [loop.regions[0].blocks[0].arguments[0] for loop in loops]
        known = dict(zip((loop.iv for loop in band), outer[1:], strict=True))
        with ir.InsertionPoint(loops[-1].regions[0].blocks[0]):
            neutral = arith.ConstantOp(self.contraction.total.type, identity(chain.combiners[0])).result
            total = self._sum(chain.loops, chain, outer[0], known, neutral)
            affine.AffineStoreOp(total, partial, outer, ir.AffineMapAttr.get(ir.AffineMap.get_identity(len(outer))))
        for loop in loops:
            with ir.InsertionPoint(loop.regions[0].blocks[0]):
                affine.AffineYieldOp([])

    def _sum(
        self, loops: Sequence[Loop], chain: ReductionNest, part: ir.Value, known: Mapping[ir.Value, ir.Value], start: ir.Value
    ) -> ir.Value:
        """Emit the loops of a part's sum, of which `known` has those around."""
        if not loops:
            return self._products(chain, part, dict(known), start)
        loop = loops[0]
        extent = (loop.extent or 0) // (self.parts if loop.iv == self.along.iv else 1)
        made = build_for(Bound.constant(0), Bound.constant(extent), inits=[start])
        variable, carried = made.regions[0].blocks[0].arguments
        with ir.InsertionPoint(made.regions[0].blocks[0]):
            affine.AffineYieldOp([self._sum(loops[1:], chain, part, {**known, loop.iv: variable}, carried)])
        return made.results[0]

    def _products(self, chain: ReductionNest, part: ir.Value, known: dict[ir.Value, ir.Value], start: ir.Value) -> ir.Value:
        """Emit the body of the sum; the part's variable is where `along` begins."""
        known[chain.body.arguments[1]] = start
        for op in real_ops(chain.body):
            if op.name == "affine.load":
                known[op.results[0]] = self._load(op, part, known)
            else:
                clone_replacing(op, known)
        return known[list(chain.body.operations)[-1].operands[0]]

    def _load(self, op: ir.Operation, part: ir.Value, known: Mapping[ir.Value, ir.Value]) -> ir.Value:
        access, scope = access_of(op), AffineScope([part])
        length = (self.along.extent or 0) // self.parts
        given = []
        for value in access.indices:
            scope.variables.append(known[value])
            place = ir.AffineExpr.get_dim(len(scope.variables) - 1)
            given.append(ir.AffineExpr.get_dim(0) * length + place if value == self.along.iv else place)
        count = access.map.n_dims
        map, indices = scope.map([substitute(result, given[:count], given[count:]) for result in access.map.results])
        return affine.AffineLoadOp(access.kind, access.memref, indices, ir.AffineMapAttr.get(map)).result

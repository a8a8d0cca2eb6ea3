"""Contractions among affine loops: sums of products of two elements, for every result of a band of parallel loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from dlc._mlir import ir
from dlc.analysis.buffers import root_of, written_roots
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.loops import Loop, normalized, real_ops
from dlc.lowering.affine.ir.padding import PaddedCopy
from dlc.lowering.affine.ir.reductions import chain_of
from dlc.lowering.affine_to_gpu.tensor_cores.operands import Operand, is_result_of, operands_of

_SUMS = {"arith.addf", "arith.addi"}
_ELEMENTWISE = ("arith.", "math.", "affine.load", "affine.store", "affine.apply")


@dataclass(frozen=True, eq=False)
class Axis:
    """Loops as one dim of a matrix product, the last of them innermost: a position is the number of their iteration."""

    loops: tuple[Loop, ...]

    @cached_property
    def extent(self) -> int:
        """Positions."""
        return prod(loop.extent or 0 for loop in self.loops)

    def run(self, operand: Operand) -> int:
        """How many neighbours along the axis lie side by side in memory, from each multiple of it on."""
        run = 1
        for loop in reversed(self.loops):
            if operand.factor(loop) != run:
                break
            run *= loop.extent or 1
        return run

    def aligned(self, operand: Operand, count: int) -> bool:
        """Whether `count` neighbours from a multiple of it on lie side by side, from a multiple of `count` elements on."""
        run = self.run(operand)
        inside = {loop.iv for loop in self.loops if operand.factor(loop) and operand.factor(loop) < run}
        others = [factor for value, factor in operand.form.factors.items() if value not in inside]
        return run % count == 0 and all(number % count == 0 for number in (operand.form.constant, *others))

    def stride(self, operand: Operand) -> int | None:
        """Elements from each position to the next; None where they are not equally far apart, or there is one position."""
        loops = [loop for loop in reversed(self.loops) if loop.extent != 1]
        stride = expected = operand.factor(loops[0]) if loops else 0
        for loop in loops:
            if operand.factor(loop) != expected:
                return None
            expected *= loop.extent or 1
        return stride or None

    def is_cut_by(self, length: int) -> bool:
        """Whether so many neighbours from each multiple of `length` on differ in the innermost loop alone, and none is too many."""
        return bool(self.loops) and (self.loops[-1].extent or 0) % length == 0

    def places(self, position: ir.AffineExpr) -> Iterator[tuple[Loop, ir.AffineExpr]]:
        """Each loop with its iteration at a position."""
        for loop in reversed(self.loops[1:]):
            yield loop, ir.AffineExpr.get_mod(position, loop.extent or 1)
            position = ir.AffineExpr.get_floor_div(position, loop.extent or 1)
        if self.loops:
            yield self.loops[0], position


@dataclass(frozen=True, eq=False)
class Contraction:
    """Sums along `sums` of products of `lhs`, which moves along `rows`, and `rhs`, which moves along `columns`, in each iteration
    of `batch`. `before` computes what a sum starts at, `epilogue` computes with a sum (`total`, from `start` on) and stores it."""

    nest: ir.Operation
    batch: Axis
    rows: Axis
    columns: Axis
    sums: Axis
    lhs: Operand
    rhs: Operand
    start: ir.Value
    total: ir.Value
    before: tuple[ir.Operation, ...]
    epilogue: tuple[ir.Operation, ...]

    @property
    def starts_at_constant(self) -> bool:
        """Whether all sums start at one number."""
        return not isinstance(self.start.owner, ir.Block) and self.start.owner.name == "arith.constant"

    @cached_property
    def stored_bytes(self) -> int:
        """Bytes that a result takes in memory."""
        return sum(-(-int(op.operands[0].type.width) // 8) for op in self.epilogue if op.name == "affine.store")

    def written_bytes(self, parts: int) -> int:
        """Bytes that a result's sum takes in memory where it is the sum of so many partial ones, else the result's."""
        return self.stored_bytes if parts == 1 else parts * int(self.total.type.width) // 8

    @cached_property
    def read_bytes(self) -> int:
        """Bytes of both operands, as far as they are read."""
        total = 0
        for operand, axis in ((self.lhs, self.rows), (self.rhs, self.columns)):
            used = self.batch.extent * axis.extent * self.sums.extent
            total += min(used, prod(ir.MemRefType(operand.memref.type).shape)) * operand.bytes
        return total

    @property
    def results(self) -> int:
        """Sums."""
        return self.batch.extent * self.rows.extent * self.columns.extent

    @property
    def products(self) -> int:
        """Multiply-adds."""
        return self.results * self.sums.extent


def contraction_of(
    op: ir.Operation, lhs: ir.Value | None = None, padded: Mapping[ir.Value, PaddedCopy] | None = None
) -> Contraction | None:
    """The contraction that the loop nest `op` is; None for other nests, dynamic sizes, and memory with gaps.

    Its parallel loops are marked `dlc.parallel`. Where the memory `lhs` is given, the left operand is read there, and its elements
    may have another type than those of the right one. What is read of a copy that `padded` knows is read where it is a copy of.
    """
    band = list(parallel_band(op))
    inside = real_ops(band[-1].body) if band else []
    loops = [inner for inner in inside if inner.name == "affine.for"]
    chain = chain_of(loops[0]) if len(loops) == 1 else None
    if chain is None or len(chain.combiners) != 1 or chain.combiners[0].name not in _SUMS:
        return None
    if not all(loop.extent for loop in (*band, *chain.loops)):
        return None
    operands = operands_of(chain.combiners[0], chain.body, padded or {})
    at = inside.index(loops[0])
    rest = (*inside[:at], *inside[at + 1 :])
    if operands is None or not all(_is_elementwise(inner) for inner in rest) or _overwrites(op, operands):
        return None
    if lhs is None and operands[0].element != operands[1].element:
        return None
    if lhs is not None and operands[0].memref != lhs:
        operands = operands[::-1]
    variables = {loop.iv for loop in (*band, *chain.loops)}
    if any(operand.form.factors.keys() - variables for operand in operands) or _reads_others(rest, variables):
        return None
    (start,) = chain.loops[0].inits
    found = _arranged(op, band, chain.loops, operands, start, loops[0].results[0], rest[:at], rest[at:], lhs is None)
    return found if found and (found.starts_at_constant or _is_computed(start, rest[:at])) else None


def parallel_band(op: ir.Operation) -> Iterator[Loop]:
    """Parallel loops perfectly in each other, from the outside in."""
    loop = normalized(op)
    while loop is not None and loop.parallel and not loop.inits:
        yield loop
        inside = real_ops(loop.body)
        loop = normalized(inside[0]) if len(inside) == 1 else None


def _is_elementwise(op: ir.Operation) -> bool:
    return op.name.startswith(_ELEMENTWISE) and not len(op.regions)


def _is_computed(value: ir.Value, ops: Sequence[ir.Operation]) -> bool:
    return any(value in op.results for op in ops)


def _reads_others(ops: Sequence[ir.Operation], variables: set[ir.Value]) -> bool:
    """Whether subscripts of `ops` come from elsewhere than loop variables, constants and ops among them."""
    known = variables | {result for op in ops for result in op.results}
    indices = [value for op in ops for value in op.operands if isinstance(value.type, ir.IndexType)]
    return any(value not in known and not is_result_of(value, {"arith.constant"}) for value in indices)


def _overwrites(op: ir.Operation, operands: Sequence[Operand]) -> bool:
    """Whether the nest writes memory that it multiplies."""
    return bool(set(written_roots(op)) & {root_of(operand.memref) for operand in operands})


def _arranged(
    op: ir.Operation,
    band: Sequence[Loop],
    chain: Sequence[Loop],
    operands: tuple[Operand, Operand],
    start: ir.Value,
    total: ir.Value,
    before: tuple[ir.Operation, ...],
    epilogue: tuple[ir.Operation, ...],
    is_symmetric: bool,
) -> Contraction | None:
    """Loops by the operands that move along them; with `is_symmetric`, the left one is that which leaves results side by side."""
    stores = [access_of(inner) for inner in epilogue if inner.name == "affine.store"]
    if not stores:
        return None
    dense = _unit_loop(band, stores[0].distance)
    lhs, rhs = operands
    if is_symmetric and dense is not None and lhs.factor(dense) and not rhs.factor(dense):
        lhs, rhs = rhs, lhs
    rows = [loop for loop in band if lhs.factor(loop) and not rhs.factor(loop)]
    columns = [loop for loop in band if rhs.factor(loop) and not lhs.factor(loop)]
    batch = [loop for loop in band if loop not in rows and loop not in columns]
    if dense in columns:
        columns = [*(loop for loop in columns if loop != dense), dense]
    sums = _widest(chain, lhs, rhs)
    return Contraction(
        op, Axis(tuple(batch)), Axis(tuple(rows)), Axis(tuple(columns)), sums, lhs, rhs, start, total, before, epilogue
    )


def _unit_loop(band: Sequence[Loop], form: Linear | None) -> Loop | None:
    """The loop along which results lie side by side."""
    found = [loop for loop in band if form is not None and form.factors.get(loop.iv) == 1]
    return found[-1] if found else None


def _widest(chain: Sequence[Loop], lhs: Operand, rhs: Operand) -> Axis:
    """The loops of a sum in the order in which most of what is read lies side by side."""
    orders = [Axis((*(loop for loop in chain if loop != last), last)) for last in reversed(chain)]
    return max(orders, key=lambda axis: axis.run(lhs) + axis.run(rhs))

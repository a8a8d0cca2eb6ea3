"""Contractions among affine loops: sums of products of two elements, for every result of a band of parallel loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, prod

from dlc._mlir import ir
from dlc.analysis.buffers import root_of, written_roots
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.loops import Loop, normalized, real_ops
from dlc.lowering.affine.ir.padding import PaddedCopy
from dlc.lowering.affine.ir.reductions import chain_of
from dlc.lowering.affine_to_gpu.extents import LoopExtents
from dlc.lowering.affine_to_gpu.tensor_cores.open_strides import has_open_rows, parts_of
from dlc.lowering.affine_to_gpu.tensor_cores.operands import Operand, is_result_of, operands_of

_SUMS = {"arith.addf", "arith.addi"}
_ELEMENTWISE = ("arith.", "math.", "affine.load", "affine.store", "affine.apply")


@dataclass(frozen=True, eq=False)
class Axis:
    """Loops as one dim of a matrix product, the last of them innermost: a position is the number of their iteration.

    Of the first one, run time may know how many iterations it has: the axis is open then.
    """

    loops: tuple[Loop, ...]

    @cached_property
    def extent(self) -> int:
        """Positions; of an open axis as many as are likely."""
        return prod(loop.likely_extent for loop in self.loops)

    @property
    def is_open(self) -> bool:
        """Whether run time knows how many positions there are."""
        return any(loop.extent is None for loop in self.loops)

    @cached_property
    def multiple(self) -> int:
        """What the positions are known to be a multiple of."""
        return prod(loop.upper.known.multiple if loop.extent is None else loop.extent for loop in self.loops)

    def count(self, extents: LoopExtents) -> ir.AffineExpr:
        """The positions as an expression."""
        if not self.is_open:
            return ir.AffineExpr.get_constant(self.extent)
        first, *others = self.loops
        map, given = first.upper.map, [extents.dim(value) for value in first.upper.operands]
        return substitute(map.results[0], given[: map.n_dims], given[map.n_dims :]) * prod(loop.extent or 1 for loop in others)

    def run(self, operand: Operand) -> int:
        """How many neighbours along the axis lie side by side in memory, from each multiple of it on."""
        run = 1
        for loop in reversed(self.loops):
            if operand.factor(loop) != run or operand.is_open_along(loop):
                break
            run *= loop.upper.known.multiple if loop.extent is None else loop.extent
        return run

    def aligned(self, operand: Operand, count: int) -> bool:
        """Whether `count` neighbours from a multiple of it on lie side by side, from a multiple of `count` elements on."""
        run = self.run(operand)
        inside = {loop.iv for loop in self.loops if operand.factor(loop) and operand.factor(loop) < run}
        others = [factor for value, factor in operand.form.factors.items() if value not in inside]
        others += [part.factor * gcd(part.form.constant, *part.form.factors.values()) for part in operand.open_parts]
        return run % count == 0 and all(number % count == 0 for number in (operand.form.constant, *others))

    def stride(self, operand: Operand) -> int | None:
        """Elements from each position to the next; None where they are not equally far apart, or there is one position."""
        loops = [loop for loop in reversed(self.loops) if loop.extent != 1]
        if any(operand.is_open_along(loop) for loop in loops):
            return None
        stride = expected = operand.factor(loops[0]) if loops else 0
        for loop in loops:
            if operand.factor(loop) != expected:
                return None
            expected *= loop.extent or 1
        return stride or None

    def is_cut_by(self, length: int) -> bool:
        """Whether so many neighbours from each multiple of `length` on differ in the innermost loop alone, and none is too many."""
        return bool(self.loops) and Axis(self.loops[-1:]).multiple % length == 0

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
    def is_open(self) -> bool:
        """Whether run time knows some of the extents."""
        return any(axis.is_open for axis in (self.batch, self.rows, self.columns, self.sums))

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
            kind = ir.MemRefType(operand.memref.type)
            total += (min(used, prod(kind.shape)) if kind.has_static_shape else used) * operand.bytes
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
    """The contraction that the loop nest `op` is; None for other nests, and memory with gaps.

    Its parallel loops are marked `dlc.parallel`. Run time may know the extent of one loop of each axis (`Contraction.is_open`).
    Where the memory `lhs` is given, the left operand is read there, and its elements may have another type than those of the right
    one. What is read of a copy that `padded` knows is read where it is a copy of.
    """
    band = list(parallel_band(op))
    inside = real_ops(band[-1].body) if band else []
    loops = [inner for inner in inside if inner.name == "affine.for"]
    chain = chain_of(loops[0]) if len(loops) == 1 else None
    if chain is None or len(chain.combiners) != 1 or chain.combiners[0].name not in _SUMS:
        return None
    variables = {loop.iv for loop in (*band, *chain.loops)}
    if not all(_is_of_host(loop, variables) for loop in (*band, *chain.loops)):
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
    if any(operand.variables - variables for operand in operands) or _reads_others(rest, variables):
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
    dense = _unit_loop(band, _place_of(stores[0]))
    lhs, rhs = operands
    if is_symmetric and dense is not None and lhs.moves_along(dense) and not rhs.moves_along(dense):
        lhs, rhs = rhs, lhs
    rows = [loop for loop in band if lhs.moves_along(loop) and not rhs.moves_along(loop)]
    columns = [loop for loop in band if rhs.moves_along(loop) and not lhs.moves_along(loop)]
    batch = [loop for loop in band if loop not in rows and loop not in columns]
    if dense in columns:
        columns = [*(loop for loop in columns if loop != dense), dense]
    sums = _widest(chain, lhs, rhs)
    outer, down, across = _axis_of(batch), _axis_of(rows), _axis_of(columns)
    if outer is None or down is None or across is None or sums is None:
        return None
    return Contraction(op, outer, down, across, sums, lhs, rhs, start, total, before, epilogue)


def _unit_loop(band: Sequence[Loop], form: Linear | None) -> Loop | None:
    """The loop along which results lie side by side."""
    found = [loop for loop in band if form is not None and form.factors.get(loop.iv) == 1]
    return found[-1] if found else None


def _place_of(access: MemRefAccess) -> Linear | None:
    """The part of an access's place whose strides are numbers."""
    if not has_open_rows(ir.MemRefType(access.memref.type)):
        return access.distance
    found = parts_of(access)
    return None if found is None else found[0]


def _axis_of(loops: Sequence[Loop]) -> Axis | None:
    """The loops as an axis, the open one first; None where that would be the innermost of several, or one of two such."""
    if len(loops) > 1 and (loops[-1].extent is None or sum(loop.extent is None for loop in loops) > 1):
        return None
    return Axis(tuple(sorted(loops, key=lambda loop: loop.extent is not None)))


def _widest(chain: Sequence[Loop], lhs: Operand, rhs: Operand) -> Axis | None:
    """The loops of a sum in the order in which most of what is read lies side by side."""
    orders = [_axis_of((*(loop for loop in chain if loop != last), last)) for last in reversed(chain)]
    found = [axis for axis in orders if axis]
    return max(found, key=lambda axis: axis.run(lhs) + axis.run(rhs)) if found else None


def _is_of_host(loop: Loop, variables: set[ir.Value]) -> bool:
    """Whether the extent is a number above zero, or one that the host knows before the loops with these variables."""
    return loop.extent != 0 and not variables.intersection(loop.upper.operands)

"""affine-transpose-loads: vectors that a loop gathers from rows are loaded along the rows and transposed in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dlc._mlir import affine, ir
from dlc.analysis.buffers import is_memref, nested_ops
from dlc.lowering.affine.ir.bounds import Bounds
from dlc.lowering.affine.ir.expressions import coefficient
from dlc.lowering.affine.ir.shuffles import transposed
from dlc.lowering.affine.vectors.iteration_copies import CutLoop, IterationCopies
from dlc.lowering.pass_base import Pass
from dlc.lowering.policy import policy

_PURE = ("arith.", "math.", "vector.", "affine.apply", "affine.min", "affine.max", "affine.yield")


@dataclass(frozen=True)
class TransposeLoads(Pass):
    """Load along rows what innermost loops gather from a column in each iteration, and transpose it.

    before: affine.for %j = 0 to 64 iter_args(%s = ...) {
              %v = vector.from_elements of x[%i, %j], x[%i + 1, %j], ..., x[%i + 7, %j]; %t = math.fma %v, ..., %s; yield %t }
    after:  affine.for %j = 0 to 64 step 8 iter_args(%s = ...) {
              vector loads of x[%i, %j], x[%i + 1, %j], ..., x[%i + 7, %j]; 3 stages of shuffles; 8 times math.fma; yield }

    Loops that store nothing, in steps of 1. All is computed in the order that it had; iterations that are left over stay as they
    are, in a loop of their own. A column of 8 f64 takes 8 loads and 7 inserts, a square of 8 rows 8 loads and 24 shuffles.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        for loop in [inner for inner in nested_ops(op) if inner.name == "affine.for"]:
            found = _Gathers.of(loop)
            if found is not None:
                _rebuild(loop, found)


@dataclass(frozen=True, eq=False)
class _Gathers:
    """The ops of a loop's body, and those of them that gather a column, with their loads."""

    body: tuple[ir.Operation, ...]
    columns: dict[ir.Operation, tuple[ir.Operation, ...]]
    lanes: int

    @classmethod
    def of(cls, loop: ir.Operation) -> _Gathers | None:
        """What the pass changes in `loop`; None for nothing."""
        body = tuple(inner.operation for inner in loop.regions[0].blocks[0].operations)
        bounds = Bounds.of(loop)
        if bounds.step != 1 or len(bounds.lower.results) != 1 or len(bounds.upper.results) != 1:
            return None
        if not len(loop.results) or not all(_may_be_repeated(op) for op in body):
            return None
        variable = loop.regions[0].blocks[0].arguments[0]
        gathers = {op: tuple(_loads(op)) for op in body if op.name == "vector.from_elements"}
        columns = {op: loads for op, loads in gathers.items() if loads and all(_is_in_row(load, variable) for load in loads)}
        sizes = {len(loads) for loads in columns.values()}
        lanes = sizes.pop() if len(sizes) == 1 else 0
        fits = lanes > 1 and lanes & (lanes - 1) == 0 and len(body) * lanes <= policy().limits.transposed_load_ops
        return cls(body, columns, lanes) if fits else None


def _may_be_repeated(op: ir.Operation) -> bool:
    """Whether `op` only reads memory and computes."""
    if len(op.regions):
        return False
    if any(is_memref(operand) for operand in op.operands):
        return op.name in ("affine.load", "affine.vector_load")
    return op.name.startswith(_PURE) and op.name != "vector.print"


def _loads(op: ir.Operation) -> Sequence[ir.Operation]:
    """The loads of a vector's elements, all of one memref in one body; none where one is something else."""
    loads = [None if isinstance(value, ir.BlockArgument) else value.owner.operation for value in op.operands]
    found = [load for load in loads if load is not None and load.name == "affine.load" and load.block == op.block]
    same = len(found) == len(loads) and all(load.operands[0] == found[0].operands[0] for load in found)
    return found if same else []


def _is_in_row(load: ir.Operation, variable: ir.Value) -> bool:
    """Whether a step of the loop's variable moves a load by one element along the last dimension."""
    indexing = load.attributes["map"].value
    at = [place for place, operand in enumerate(list(load.operands)[1:]) if operand == variable]
    if len(at) != 1 or at[0] >= indexing.n_dims:
        return False
    steps = [coefficient(result, at[0]) for result in indexing.results]
    return steps[-1] == 1 and not any(steps[:-1])


def _rebuild(loop: ir.Operation, found: _Gathers) -> None:
    """Replace `loop` by one of squares and one of what is left over."""
    cut = CutLoop.of(loop, found.lanes)
    _Squares(cut, found=found).fill()
    cut.finish()


@dataclass(kw_only=True)
class _Squares(IterationCopies):
    """Fills a loop with as many iterations of another one as vectors have lanes."""

    found: _Gathers
    squares: dict[ir.Operation, list[ir.Value]] = field(default_factory=dict)

    def fill(self) -> None:
        """One carried value after the other, so that few squares wait in registers at a time."""
        block, lanes = self.cut.whole.regions[0].blocks[0], self.found.lanes
        with ir.InsertionPoint(block), self.cut.loop.location:
            last = [[self.value(value, at) for at in range(lanes)][-1] for value in self.found.body[-1].operands]
            affine.AffineYieldOp(last)

    def make(self, op: ir.Operation, at: int) -> None:
        """Build the results of `op` in iteration `at`."""
        if op in self.found.columns:
            self.made[at, op.results[0]] = self._square(op)[at]
        else:
            super().make(op, at)

    def _square(self, op: ir.Operation) -> list[ir.Value]:
        """The vectors that `op` gathers in all iterations."""
        if op not in self.squares:
            kind = op.results[0].type
            rows = []
            for load in self.found.columns[op]:
                operands = [self.value(operand, 0) for operand in load.operands]
                attributes = {"map": load.attributes["map"]}
                rows.append(ir.Operation.create("affine.vector_load", [kind], operands, attributes, loc=load.location).results[0])
            self.squares[op] = transposed(rows)
        return self.squares[op]

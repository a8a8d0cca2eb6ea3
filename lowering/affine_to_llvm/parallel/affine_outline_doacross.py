"""affine-outline-doacross: nests whose rows follow each other, as parallel regions for several threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from dlc._mlir import arith, func, ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine.cost.loop_work import likely_trips, work_of
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine.ir.bounds import Bounds, ends_before, loops_around
from dlc.lowering.affine.ir.loops import (
    COLUMNS,
    DOACROSS,
    PARALLEL,
    PARALLEL_GROUP,
    ROWS,
    Bound,
    apply,
    build_for,
    real_ops,
    role_of,
)
from dlc.lowering.affine_to_llvm.parallel.context_record import ContextRecord
from dlc.lowering.affine_to_llvm.parallel.parallel_nests import least_work
from dlc.lowering.affine_to_llvm.parallel.ranges import count_of, declare, extreme, loop_range
from dlc.lowering.outlining import captures_of, free_numbers, noalias_marks, private_function, symbols_in
from dlc.lowering.pass_base import Pass, option

_RUN, _AWAIT, _FINISH = "dlc_doacross", "dlc_await_column", "dlc_finish_column"
_VALUES = ("arith.", "affine.apply", "affine.min", "affine.max")


@dataclass(frozen=True)
class AffineOutlineDoacross(Pass):
    """Give the rows of nests that are marked `dlc.doacross` to the thread pool, each to follow the one before column by column.

    A column of a row becomes `<kernel>_tile<n>`, the loops around `<kernel>_rows<n>` over a range of rows. With one thread all runs
    in the order of the loops. A nest stays where a row does anything outside of its columns, where these are not surely in their
    order, or where a column is too little work to tell another thread of.

    before: affine.for %r = 0 to 64 { affine.for %c = 0 to 64 { ... } {dlc.doacross = "columns"} } {dlc.doacross = "rows"}
    after:  call @dlc_doacross(%task, %record, %count) : (!llvm.ptr, !llvm.ptr, i64) -> ()
            func.func private @kernel_rows0(%a: memref<512x512xf32>, %lo: index, %hi: index) {
              affine.for %r = %lo to %hi { affine.for %c = 0 to 64 {
                call @dlc_await_column(%c); call @kernel_tile0(%a, %r, %c); call @dlc_finish_column(%c)
    """

    min_work: int = option(
        20_000, "least number of instructions in a nest that leaves its thread, by estimate; three times that in serial loops"
    )
    min_tile: int = option(2_000, "least number of instructions in a column of a row, by estimate")

    def run(self, op: ir.Operation) -> None:
        block, taken = op.regions[0].blocks[0], symbols_in(op)
        for function in [item.operation for item in block.operations if item.operation.name == "func.func"]:
            name, nests = symbol_name(function), list(self._nests(function))
            numbers = free_numbers(taken, [f"{name}_rows", f"{name}_tile", f"{name}_doacross"])
            for nest, number in zip(nests, numbers, strict=False):
                _outline(function, nest, number)

    def _nests(self, function: ir.Operation) -> Iterator[_Nest]:
        """The nests of a function that are worth it."""
        for op in _outermost_rows(function):
            nest = _nest_of(op)
            if nest is None or work_of(op) < least_work(op.parent.operation, self.min_work):
                continue
            if nest.work_of_tile >= self.min_tile:
                yield nest


@dataclass(frozen=True)
class _Nest:
    """A loop over rows, and the loops over columns in it, one after the other."""

    rows: ir.Operation
    columns: tuple[ir.Operation, ...]

    @property
    def work_of_tile(self) -> float:
        """The instructions of one column of a row, by estimate."""
        runs = (likely_trips(self.rows) or 1) * sum(likely_trips(loop) or 1 for loop in self.columns)
        return work_of(self.rows) / runs


def _outermost_rows(around: ir.Operation) -> Iterator[ir.Operation]:
    """Loops over rows that are in no parallel loop, and in no other such nest."""
    for region in around.regions:
        for block in region.blocks:
            for op in real_ops(block):
                if role_of(op) == ROWS:
                    yield op
                elif PARALLEL not in op.attributes and op.name != "affine.parallel":
                    yield from _outermost_rows(op)


def _nest_of(rows: ir.Operation) -> _Nest | None:
    """The nest of a loop over rows; None where something outside of its columns has an effect, or a loop gives a value."""
    columns: list[ir.Operation] = []
    if len(rows.results) or not _collect(rows, columns) or not columns:
        return None
    if ir.IntegerAttr(rows.attributes["step"]).value != 1 or not _are_in_order(columns):
        return None
    captured = captures_of([rows])[0]
    return _Nest(rows, tuple(columns)) if ContextRecord.of([value.type for value in captured]) is not None else None


def _are_in_order(columns: Sequence[ir.Operation]) -> bool:
    """Whether the columns of each loop in a row come after those of all loops before, any of which may have no iterations.

    Other passes may have copied loops.
    """
    ranges = [loops_around(loop) for loop in columns]
    return all(ends_before(one[0][1], other[0][1], other[1:]) for one, other in combinations(ranges, 2))


def _collect(around: ir.Operation, columns: list[ir.Operation]) -> bool:
    """Add the loops over columns in a loop over rows, or in a condition there; whether there are only values besides."""
    for region in around.regions:
        for block in region.blocks:
            for op in real_ops(block):
                if role_of(op) == COLUMNS and not len(op.results):
                    columns.append(op)
                elif op.name == "affine.if" and not len(op.results):
                    if not _collect(op, columns):
                        return False
                elif not op.name.startswith(_VALUES):
                    return False
    return True


def _outline(function: ir.Operation, nest: _Nest, number: int) -> None:
    """Replace the nest by a parallel region whose task calls the function of its rows."""
    name = symbol_name(function)
    module_block, rows = function.block, nest.rows
    index, long = ir.IndexType.get(function.context), ir.IntegerType.get_signless(64, function.context)
    for op in nested_ops(rows):
        for mark in (PARALLEL, PARALLEL_GROUP, DOACROSS):
            if mark in op.attributes:
                del op.attributes[mark]
    for at, loop in enumerate(nest.columns):
        _outline_tile(function, loop, f"{name}_tile{number}" + (f"_{at}" if at else ""))
    bounds = loop_range(rows)
    with rows.location, ir.InsertionPoint(rows):
        first = extreme("affine.max", bounds.lower)
        count = arith.index_cast(long, count_of(bounds, first))
    captured, constants = captures_of([rows])
    captured = list(dict.fromkeys([*captured, first]))
    record = ContextRecord.of([value.type for value in captured])
    assert record is not None  # an index is all that is new
    with rows.location:
        with ir.InsertionPoint(rows):
            context = record.store(captured, function.regions[0].blocks[0])
            func.CallOp([], _RUN, [record.address_of(f"{name}_doacross{number}"), context, count])
        body = private_function(f"{name}_rows{number}", [rows], captured, constants, [index, index])
        module_block.append(body)
        module_block.append(record.task(f"{name}_doacross{number}", f"{name}_rows{number}"))
        pointer = ir.Type.parse("!llvm.ptr")
        declare(module_block, _RUN, [pointer, pointer, long])
        declare(module_block, _AWAIT, [long])
        declare(module_block, _FINISH, [long])
        arguments = list(body.regions[0].blocks[0].arguments)
        _take_range(rows, arguments[captured.index(first)], *arguments[-2:])


def _outline_tile(function: ir.Operation, loop: ir.Operation, name: str) -> None:
    """Move the body of a loop over columns into a function, and call that between the runtime's two.

    Memory that only this function's arguments reach may be marked so in there: what other threads write is behind a call, outside.
    """
    body = loop.regions[0].blocks[0]
    moved = real_ops(body)
    captured, constants = captures_of(moved)
    marks = noalias_marks(function, [loop], captured)
    with loop.location:
        tile = private_function(name, moved, captured, constants)
        tile.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
        function.block.append(tile)
        with ir.InsertionPoint.at_block_begin(body):
            long = ir.IntegerType.get_signless(64)
            column, last = body.arguments[0], _last_column(loop)
            first = arith.index_cast(long, column)
            func.CallOp([], _AWAIT, [first])
            func.CallOp([], name, captured)
            func.CallOp([], _FINISH, [first if last == column else arith.index_cast(long, last)])


def _last_column(loop: ir.Operation) -> ir.Value:
    """The last column that an iteration of a loop finishes, at the current insertion point.

    One of a step stands for all columns up to the next one, but for none beyond the loop: those may be another loop's.
    """
    bounds, column = Bounds.of(loop), loop.regions[0].blocks[0].arguments[0]
    if bounds.step == 1:
        return column
    upper, dims = bounds.upper, bounds.upper.n_dims
    moved = [ir.AffineExpr.get_dim(at + 1) for at in range(dims)]
    symbols = [ir.AffineExpr.get_symbol(at) for at in range(upper.n_symbols)]
    ends = [substitute(result, moved, symbols) - 1 for result in upper.results]
    map = ir.AffineMap.get(dims + 1, upper.n_symbols, [ir.AffineExpr.get_dim(0) + bounds.step - 1, *ends])
    return extreme("affine.min", Bound(map, (column, *bounds.upper_operands)))


def _take_range(rows: ir.Operation, first: ir.Value, low: ir.Value, high: ir.Value) -> None:
    """Replace the loop over all rows, in its own function by now, by one over rows number `low` to `high`."""
    with ir.InsertionPoint(rows):
        loop = build_for(Bound.symbol(low), Bound.symbol(high))
    body = loop.regions[0].blocks[0]
    with ir.InsertionPoint(body):
        place = ir.AffineDimExpr.get(0) + ir.AffineSymbolExpr.get(0)
        value = apply(ir.AffineMap.get(1, 1, [place]), [body.arguments[0], first])
        end = ir.Operation.create("affine.yield")
    old = rows.regions[0].blocks[0]
    old.arguments[0].replace_all_uses_with(value)
    for op in real_ops(old):
        op.move_before(end)
    rows.erase()

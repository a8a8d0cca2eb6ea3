"""Runs functions of affine loops on NumPy arrays, one iteration at a time, as the oracle of tests of loop transformations.

Iterations of `affine.parallel`, and of loops marked `dlc.parallel` that carry no value, run in a shuffled order, so that a wrong
one shows; columns of rows marked `dlc.doacross` in one of the orders that several threads may take. New memory holds NaN (floats)
or a large number. An access outside of its memref is an IndexError.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "i1": np.bool_, "index": np.int64}


def run(function: ir.Operation, *arguments: Any, seed: int = 0) -> None:
    """Call `function`, a `func.func` without results, on arrays (memrefs, changed in place) and ints (indices)."""
    block = function.regions[0].blocks[0]
    _Run(dict(zip(block.arguments, arguments, strict=True)), random.Random(seed)).block(block)


def arguments_for(function: ir.Operation, seed: int, sizes: Sequence[int] = ()) -> list[Any]:
    """Arrays of small whole numbers for the memrefs of `function`, and `sizes` for its indices."""
    numbers, given = np.random.default_rng(seed), iter(sizes)
    found: list[Any] = []
    for argument in function.regions[0].blocks[0].arguments:
        if isinstance(argument.type, ir.MemRefType):
            found.append(numbers.integers(-8, 8, argument.type.shape).astype(_TYPES[str(argument.type.element_type)]))
        else:
            found.append(next(given))
    return found


def check_same(text: str, pipeline: str) -> str:
    """That the first function of a module computes the same after `pipeline`, on the same arrays; the new module as text."""
    with make_context(), ir.Location.unknown():
        before, after = ir.Module.parse(text), ir.Module.parse(text)
        Pipeline.parse(pipeline).run(after)
        functions = [module.body.operations[0].operation for module in (before, after)]
        wanted, found = (arguments_for(function, 1) for function in functions)
        with np.errstate(over="ignore"):  # whole numbers wrap around, as in MLIR
            for function, arguments in zip(functions, (wanted, found), strict=True):
                run(function, *arguments)
        for one, other in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(other, one, err_msg=f"{text}\n{after}")
        return str(after)


@dataclass(frozen=True, eq=False)
class _Tile:
    """A column of a row: the values that are known before."""

    column: int
    body: ir.Block
    values: dict[ir.Value, Any]


def _role(op: ir.Operation) -> str:
    """What a loop is in a nest of rows and columns, "" for none."""
    return ir.StringAttr(op.attributes["dlc.doacross"]).value if "dlc.doacross" in op.attributes else ""


class _Run:
    def __init__(self, values: dict[ir.Value, Any], order: random.Random) -> None:
        self.values, self.order = values, order

    def block(self, block: ir.Block) -> list[Any]:
        """Run the ops; returns what the terminator gives."""
        ops = [op.operation for op in block.operations]
        for op in ops:
            if op.name in ("affine.yield", "func.return"):
                return self.operands(op)
            results = getattr(self, "_" + op.name.replace(".", "_"), self._other)(op)
            self.values.update(zip(op.results, results, strict=True))
        return []

    def operands(self, op: ir.Operation) -> list[Any]:
        return [self.values[operand] for operand in op.operands]

    # Loops.

    def _affine_for(self, op: ir.Operation) -> Sequence[Any]:
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        low, high = self._range(op)
        carried = self.operands(op)[sizes[0] + sizes[1] :]
        body = op.regions[0].blocks[0]
        points = list(range(low, high, ir.IntegerAttr(op.attributes["step"]).value))
        rows = self._rows(body, points) if _role(op) == "rows" and not carried else None
        if rows is not None:
            self._interleave(rows)
            return ()
        if "dlc.parallel" in op.attributes and not carried:
            self.order.shuffle(points)
        for value in points:
            self.values.update(zip(body.arguments, [value, *carried], strict=True))
            carried = self.block(body)
        return carried

    def _range(self, op: ir.Operation) -> tuple[int, int]:
        """The bounds of an `affine.for`."""
        below, above, _ = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
        given = self.operands(op)
        low = max(evaluate(op.attributes["lowerBoundMap"].value, given[:below]))
        return low, min(evaluate(op.attributes["upperBoundMap"].value, given[below : below + above]))

    def _rows(self, body: ir.Block, points: Sequence[int]) -> list[list[_Tile]] | None:
        """The columns of each row; None where a row does more than run its columns."""
        found = []
        for value in points:
            self.values[body.arguments[0]] = value
            tiles: list[_Tile] = []
            if not self._collect(body, tiles):
                return None
            found.append(tiles)
        return found

    def _collect(self, block: ir.Block, tiles: list[_Tile]) -> bool:
        for op in [op.operation for op in block.operations][:-1]:
            if _role(op) == "columns":
                low, high = self._range(op)
                if tiles and low < high and tiles[-1].column >= low:
                    return False
                inner = op.regions[0].blocks[0]
                steps = range(low, high, ir.IntegerAttr(op.attributes["step"]).value)
                tiles += [_Tile(column, inner, {**self.values, inner.arguments[0]: column}) for column in steps]
            elif op.name == "affine.if":
                region = op.regions[0 if self._holds(op) else 1]
                if len(region.blocks) and not self._collect(region.blocks[0], tiles):
                    return False
            elif op.name.startswith(("arith.", "affine.apply", "affine.min", "affine.max")):
                self.values.update(zip(op.results, getattr(self, "_" + op.name.replace(".", "_"), self._other)(op), strict=True))
            else:
                return False
        return True

    def _interleave(self, rows: list[list[_Tile]]) -> None:
        """Run all columns: each after the columns up to its own of the rows before, the latest rows that can rather than others."""
        while any(rows):
            free = [
                row for at, row in enumerate(rows) if row and all(row[0].column < other[0].column for other in rows[:at] if other)
            ]
            row = free[-1] if self.order.random() < 0.7 else self.order.choice(free)
            tile = row.pop(0)
            self.values = tile.values
            self.block(tile.body)

    def _affine_parallel(self, op: ir.Operation) -> Sequence[Any]:
        lower, upper = op.attributes["lowerBoundsMap"].value, op.attributes["upperBoundsMap"].value
        given, count = self.operands(op), lower.n_dims + lower.n_symbols
        lows = _grouped(evaluate(lower, given[:count]), op.attributes["lowerBoundsGroups"], max)
        highs = _grouped(evaluate(upper, given[count:]), op.attributes["upperBoundsGroups"], min)
        steps = [ir.IntegerAttr(step).value for step in ir.ArrayAttr(op.attributes["steps"])]
        points = list(product(*map(range, lows, highs, steps)))
        self.order.shuffle(points)
        for point in points:
            self.values.update(zip(op.regions[0].blocks[0].arguments, point, strict=True))
            self.block(op.regions[0].blocks[0])
        return ()

    def _affine_if(self, op: ir.Operation) -> Sequence[Any]:
        region = op.regions[0 if self._holds(op) else 1]
        return self.block(region.blocks[0]) if len(region.blocks) else ()

    def _holds(self, op: ir.Operation) -> bool:
        """Whether the condition of an `affine.if` holds."""
        inputs, constraints = str(op.attributes["condition"]).removeprefix("affine_set<").removesuffix(">").split(" : ", 1)
        sides = [side.rsplit(" ", 2) for side in constraints[1:-1].split(", ")]
        text = f"affine_map<{inputs} -> ({', '.join(side[0] for side in sides)})>"
        found = evaluate(ir.AffineMapAttr(ir.Attribute.parse(text)).value, self.operands(op))
        return all(value == 0 if side[1] == "==" else value >= 0 for value, side in zip(found, sides, strict=True))

    # Memory.

    def _memref_alloc(self, op: ir.Operation) -> Sequence[Any]:
        kind = op.results[0].type
        element = _TYPES[str(kind.element_type)]
        dynamic = iter(self.operands(op))
        shape = [next(dynamic) if kind.is_dynamic_dim(dim) else kind.shape[dim] for dim in range(kind.rank)]
        return [np.full(shape, np.nan if np.issubdtype(element, np.floating) else 99, element)]

    _memref_alloca = _memref_alloc

    def _memref_collapse_shape(self, op: ir.Operation) -> Sequence[Any]:
        (array,) = self.operands(op)
        groups = [
            [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)] for group in ir.ArrayAttr(op.attributes["reassociation"])
        ]
        view = array.view()
        view.shape = tuple(math.prod(array.shape[axis] for axis in group) for group in groups)  # refuses what is no view
        return [view]

    def _memref_subview(self, op: ir.Operation) -> Sequence[Any]:
        """A part with known places, of all axes."""
        array, *_ = self.operands(op)
        offsets, sizes, steps = (list(op.attributes[name]) for name in ("static_offsets", "static_sizes", "static_strides"))
        return [array[tuple(slice(at, at + size * step, step) for at, size, step in zip(offsets, sizes, steps, strict=True))]]

    def _memref_dealloc(self, op: ir.Operation) -> Sequence[Any]:
        return ()

    def _place(self, op: ir.Operation, first: int, width: int = 1) -> tuple[Any, ...]:
        array = self.values[op.operands[first - 1]]
        place = evaluate(op.attributes["map"].value, self.operands(op)[first:])
        ends = [*place[:-1], place[-1] + width - 1] if place else []
        if any(index < 0 for index in place) or any(end >= size for end, size in zip(ends, array.shape, strict=True)):
            raise IndexError(f"{op} at {place} of {array.shape}")
        return (*place[:-1], slice(place[-1], place[-1] + width)) if width > 1 else tuple(place)

    def _affine_load(self, op: ir.Operation) -> Sequence[Any]:
        return [self.values[op.operands[0]][self._place(op, 1)]]

    def _affine_store(self, op: ir.Operation) -> Sequence[Any]:
        self.values[op.operands[1]][self._place(op, 2)] = self.values[op.operands[0]]
        return ()

    def _affine_vector_load(self, op: ir.Operation) -> Sequence[Any]:
        return [self.values[op.operands[0]][self._place(op, 1, op.results[0].type.shape[0])].copy()]

    def _affine_vector_store(self, op: ir.Operation) -> Sequence[Any]:
        value = self.values[op.operands[0]]
        self.values[op.operands[1]][self._place(op, 2, len(value))] = value
        return ()

    def _vector_maskedload(self, op: ir.Operation) -> Sequence[Any]:
        array, *place, mask, other = self.operands(op)
        found = other.copy()
        for lane in np.flatnonzero(mask):
            found[lane] = self._element(op, array, place, int(lane))[0]
        return [found]

    def _vector_maskedstore(self, op: ir.Operation) -> Sequence[Any]:
        array, *place, mask, values = self.operands(op)
        for lane in np.flatnonzero(mask):
            self._element(op, array, place, int(lane))[...] = values[lane]
        return ()

    def _element(self, op: ir.Operation, array: Any, place: Sequence[Any], lane: int) -> Any:
        """The part of an array that holds one lane's element."""
        at = [int(index) for index in (*place[:-1], place[-1] + lane)]
        if any(not 0 <= index < size for index, size in zip(at, array.shape, strict=True)):
            raise IndexError(f"{op} at {at} of {array.shape}")
        return array[(*at[:-1], slice(at[-1], at[-1] + 1))]

    # Values.

    def _affine_apply(self, op: ir.Operation) -> Sequence[Any]:
        return evaluate(op.attributes["map"].value, self.operands(op))

    def _affine_min(self, op: ir.Operation) -> Sequence[Any]:
        return [min(evaluate(op.attributes["map"].value, self.operands(op)))]

    def _affine_max(self, op: ir.Operation) -> Sequence[Any]:
        return [max(evaluate(op.attributes["map"].value, self.operands(op)))]

    def _arith_constant(self, op: ir.Operation) -> Sequence[Any]:
        kind, value = op.results[0].type, op.attributes["value"]
        if isinstance(kind, ir.VectorType):
            dense = ir.DenseElementsAttr(value)
            elements = dense.get_splat_value().value if dense.is_splat else [bool(bit) for bit in ir.DenseIntElementsAttr(value)]
            return [np.full(kind.shape, elements, _TYPES[str(kind.element_type)])]
        return [_TYPES[str(kind)](value.value)]

    def _vector_create_mask(self, op: ir.Operation) -> Sequence[Any]:
        return [np.arange(op.results[0].type.shape[0]) < self.operands(op)[0]]

    def _vector_constant_mask(self, op: ir.Operation) -> Sequence[Any]:
        return [np.arange(op.results[0].type.shape[0]) < ir.DenseI64ArrayAttr(op.attributes["mask_dim_sizes"])[0]]

    def _vector_broadcast(self, op: ir.Operation) -> Sequence[Any]:
        return [np.full(op.results[0].type.shape, self.operands(op)[0])]

    def _vector_from_elements(self, op: ir.Operation) -> Sequence[Any]:
        return [np.array(self.operands(op))]

    def _vector_shuffle(self, op: ir.Operation) -> Sequence[Any]:
        return [np.concatenate(self.operands(op))[list(ir.DenseI64ArrayAttr(op.attributes["mask"]))]]

    def _vector_extract(self, op: ir.Operation) -> Sequence[Any]:
        return [self.operands(op)[0][ir.DenseI64ArrayAttr(op.attributes["static_position"])[0]]]

    def _arith_index_cast(self, op: ir.Operation) -> Sequence[Any]:
        return [_TYPES[str(op.results[0].type)](self.operands(op)[0])]

    _arith_sitofp = _arith_index_cast

    def _other(self, op: ir.Operation) -> Sequence[Any]:
        if op.name not in _MEANINGS:
            raise NotImplementedError(op.name)
        return [_MEANINGS[op.name](*self.operands(op))]


_MEANINGS: dict[str, Callable[..., Any]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
    "arith.divf": operator.truediv,
    "arith.negf": operator.neg,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.maxsi": np.maximum,
    "arith.andi": operator.and_,
    "arith.xori": operator.xor,
    "arith.minsi": np.minimum,
    "math.sqrt": np.sqrt,
    "math.exp": np.exp,
}


def _grouped(values: Sequence[int], groups: ir.Attribute, extreme: Callable[[Sequence[int]], int]) -> list[int]:
    found, at = [], 0
    for count in ir.DenseIntElementsAttr(groups):
        found.append(extreme(values[at : at + count]))
        at += count
    return found


def evaluate(map: ir.AffineMap, operands: Sequence[Any]) -> list[int]:
    """The results of an affine map."""
    return [_value(result, [int(operand) for operand in operands], map.n_dims) for result in map.results]


def _value(expression: ir.AffineExpr, operands: Sequence[int], dims: int) -> int:
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineDimExpr):
        return operands[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return operands[dims + expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value
    lhs, rhs = _value(expression.lhs, operands, dims), _value(expression.rhs, operands, dims)
    if isinstance(expression, ir.AffineAddExpr):
        return lhs + rhs
    if isinstance(expression, ir.AffineMulExpr):
        return lhs * rhs
    if isinstance(expression, ir.AffineModExpr):
        return lhs % rhs
    return lhs // rhs if isinstance(expression, ir.AffineFloorDivExpr) else math.ceil(lhs / rhs)

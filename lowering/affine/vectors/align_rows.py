"""affine-align-rows: vectors of long rows that do not begin with a cache line are moved to where lines begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from dlc._mlir import affine, arith, ir, vector
from dlc.analysis.buffers import nested_ops, root_of
from dlc.lowering.affine.codegen.streaming import buffers_read, congruent, is_large, is_multiple, streamed_bytes
from dlc.lowering.affine.codegen.window_loads import map_of
from dlc.lowering.affine.ir.accesses import access_of, steps_by_width
from dlc.lowering.affine.ir.bounds import BOUND_ATTRIBUTES, Bounds
from dlc.lowering.affine.ir.expressions import Linear, result_maps
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.affine.ir.loops import PARALLEL, PARALLEL_GROUP, apply, top_level_loops
from dlc.lowering.affine.ir.masks import LaneMask
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy
from dlc.targets.machine import facts_of

_BY_LANE = ("arith.", "math.", "vector.broadcast", "vector.fma")
_LOAD, _STORE = "affine.vector_load", "affine.vector_store"


@dataclass(frozen=True)
class AlignRows(Pass):
    """Let the vectors of rows begin with lines, so that `affine-stream-stores` may write them past the caches.

    before: affine.for %i { affine.for %j = 0 to 127 { ...; affine.vector_store %v, %y[%i, 8 * %j] }  the last lanes }
    after:  affine.for %i {
              %h = affine.apply (-1022 * %i) mod 8
              the first %h lanes of the first vector
              affine.for %j = 0 to 126 { ...; affine.vector_store %v, %y[%i, 8 * %j + %h] }
              the last vector from lane %h on  the last lanes }

    Parallel innermost loops of static ranges that compute lane by lane and write whole vectors, one after the other, to a
    buffer that no cache holds and that the nest does not read. Means of 3x3, along rows and then columns, of 8x1022x1022 f64 take
    0.87 of the time on one Zen 5 core, 0.86 on two, where 57 GB/s are all that memory gives; 0.97 and 0.90 with AVX2.
    """

    anchor = "func.func"

    min_bytes: int = option(0, "size of the smallest buffer whose rows are aligned; 0: by the target's caches")

    def run(self, op: ir.Operation) -> None:
        """Align the rows of one function."""
        if self.min_bytes < 0:
            raise PassFailure(op, f"min-bytes is {self.min_bytes}", "give 0 or more")
        facts = facts_of(op)
        least = self.min_bytes or max(streamed_bytes(facts), facts.l3_bytes)
        for top in top_level_loops(op):
            ops = nested_ops(top)
            found = [_Row.of(loop, facts.vector_bits) for loop in ops if loop.name == "affine.for"]
            rows = [row for row in found if row is not None]
            read = frozenset(buffers_read(ops) if rows else ())
            for row in rows:
                if any(is_large(buffer, least) and root_of(buffer) not in read for buffer in row.buffers):
                    row.align()


@dataclass(frozen=True, eq=False)
class _Row:
    """An innermost loop that writes vectors one after the other; the first lies in a line where `start` modulo `lanes` does."""

    loop: ir.Operation
    bounds: Bounds
    body: tuple[ir.Operation, ...]
    lanes: int
    start: Linear

    @staticmethod
    def of(loop: ir.Operation, vector_bits: int) -> _Row | None:
        """The row that `loop` writes; None where it is none, or begins with a line."""
        if PARALLEL not in loop.attributes or PARALLEL_GROUP in loop.attributes or len(loop.results):
            return None
        bounds = Bounds.of(loop)
        count = _count(bounds)
        if count is None or count < policy().memory.aligned_vectors:
            return None
        body = tuple(inner.operation for inner in loop.regions[0].blocks[0].operations)[:-1]
        stores = [op for op in body if op.name == _STORE]
        if not stores or not all(_is_by_lane(op, loop, bounds.step) for op in body):
            return None
        lanes = {ir.VectorType(op.operands[0].type).shape[0] for op in stores}
        if len(lanes) > 1 or any(_bits(op.operands[0].type) != vector_bits for op in stores):
            return None
        width = lanes.pop()
        start = _common_start(stores, bounds, loop.regions[0].blocks[0].arguments[0], width)
        return None if start is None or start == Linear({}) else _Row(loop, bounds, body, width, start)

    @property
    def buffers(self) -> list[ir.Value]:
        """What the row is written to."""
        return [op.operands[1] for op in self.body if op.name == _STORE]

    def align(self) -> None:
        """Replace the loop."""
        with ir.InsertionPoint(self.loop), self.loop.location:
            skipped = self._skipped()
            before = _mask(skipped, self.lanes)
            self._copy(_constant(self._first), None, before)
            self._moved_loop(skipped)
            whole = ir.DenseElementsAttr.get_splat(before.type, ir.BoolAttr.get(True))
            self._copy(_constant(self._last), None, arith.xori(before, arith.constant(before.type, whole)))
        self.loop.erase()

    def _skipped(self) -> Linear:
        """Elements before the first line, as a number or an index."""
        indexing, operands = map_of([self.start])
        rest = ir.AffineExpr.get_mod(indexing.results[0] * -1, self.lanes)
        number = rest.maybe_downcast()
        if isinstance(number, ir.AffineConstantExpr):
            return Linear({}, number.value)
        return Linear({apply(ir.AffineMap.get(indexing.n_dims, 0, [rest]), operands): 1})

    @cached_property
    def _moved(self) -> frozenset[ir.Operation]:
        """The vector accesses that go along the row."""
        return frozenset(op for op in self.body if op.name in (_LOAD, _STORE))

    @property
    def _first(self) -> int:
        return _number(self.bounds.lower)

    @property
    def _last(self) -> int:
        """The loop's variable in its last iteration."""
        return self._first + (_count(self.bounds) or 1) * self.bounds.step - self.bounds.step

    def _moved_loop(self, skipped: Linear) -> None:
        """All iterations but the last, each `skipped` elements further."""
        loop = affine.AffineForOp(self._first, self._last, self.bounds.step).operation
        for name, attribute in self.loop.attributes.items():
            if name not in BOUND_ATTRIBUTES:
                loop.attributes[name] = attribute
        block = loop.regions[0].blocks[0]
        with ir.InsertionPoint(block):
            self._copy(block.arguments[0], skipped, None)
            affine.AffineYieldOp([])

    def _copy(self, variable: ir.Value, skipped: Linear | None, mask: ir.Value | None) -> None:
        """One iteration, at `variable`, moved by `skipped` elements; its stores write the lanes of `mask` alone."""
        made = {self.loop.regions[0].blocks[0].arguments[0]: variable}
        for op in self.body:
            operands = [made.get(operand, operand) for operand in op.operands]
            attributes = dict(op.attributes.items())
            if skipped is not None and op in self._moved:
                _move(attributes, operands, len(op.results) == 0, skipped)
            if mask is not None and op.name == _STORE:
                _store_masked(operands, attributes["map"].value, mask)
                continue
            copy = ir.Operation.create(op.name, [one.type for one in op.results], operands, attributes, loc=op.location)
            made.update(zip(op.results, copy.results, strict=True))


def _mask(skipped: Linear, lanes: int) -> ir.Value:
    count = next(iter(skipped.factors), skipped.constant)
    return LaneMask(lanes, count).vector()


def _constant(number: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), number)


def _move(attributes: dict[str, ir.Attribute], operands: list[ir.Value], is_store: bool, skipped: Linear) -> None:
    """Let an access with these attributes and operands begin `skipped` elements further."""
    indexing = attributes["map"].value
    dims, offset = indexing.n_dims, ir.AffineExpr.get_constant(skipped.constant)
    for value in skipped.factors:
        operands.insert(1 + is_store + dims, value)
        offset = ir.AffineExpr.get_dim(dims)
        dims += 1
    *outer, last = indexing.results
    attributes["map"] = ir.AffineMapAttr.get(ir.AffineMap.get(dims, indexing.n_symbols, [*outer, last + offset]))


def _store_masked(operands: Sequence[ir.Value], indexing: ir.AffineMap, mask: ir.Value) -> None:
    value, buffer, *indices = operands
    vector.maskedstore(buffer, [apply(single, indices) for single in result_maps(indexing)], mask, value)


def _common_start(stores: Sequence[ir.Operation], bounds: Bounds, variable: ir.Value, lanes: int) -> Linear | None:
    """Where in a line a loop's first vector lies, by a form that leaves the same rest; None where stores differ in that."""
    found = [access_of(store).distance for store in stores]
    places = [place for place in found if place is not None]
    starts = [place.without(variable).plus(Linear({}, _number(bounds.lower) * place.of(variable))) for place in places]
    is_common = all(is_multiple(start.plus(starts[0], -1), lanes) for start in starts)
    return congruent(starts[0], lanes) if len(places) == len(stores) and is_common else None


def _bits(kind: ir.VectorType) -> int:
    return prod(kind.shape) * (element_bits(kind.element_type) or 0)


def _count(bounds: Bounds) -> int | None:
    """Iterations of a loop; None where they are not known."""
    if bounds.lower_operands or bounds.upper_operands or len(bounds.lower.results) != 1 or len(bounds.upper.results) != 1:
        return None
    return -(-(_number(bounds.upper) - _number(bounds.lower)) // bounds.step)


def _number(bound: ir.AffineMap) -> int:
    return int(ir.AffineConstantExpr(bound.results[0]).value)


def _is_by_lane(op: ir.Operation, loop: ir.Operation, step: int) -> bool:
    """Whether each lane of `op` is about the same element, wherever the vector begins."""
    variable = loop.regions[0].blocks[0].arguments[0]
    if op.name == "arith.constant":
        return _is_even(op.results[0])
    is_access = op.name in (_LOAD, _STORE)
    if is_access and not steps_by_width(op, variable, step):
        return False
    if not is_access and (variable in list(op.operands) or not op.name.startswith((*_BY_LANE, "affine.load"))):
        return False
    return all(operand == variable or _is_even(operand) or _is_in(operand, loop) for operand in op.operands)


def _is_in(value: ir.Value, loop: ir.Operation) -> bool:
    return not isinstance(value, ir.BlockArgument) and bool(value.owner.operation.parent.operation == loop)


def _is_even(value: ir.Value) -> bool:
    """Whether `value` is no vector, or one of equal lanes."""
    if not isinstance(value.type, ir.VectorType):
        return True
    owner = None if isinstance(value, ir.BlockArgument) else value.owner.operation
    if owner is None or owner.name not in ("arith.constant", "vector.broadcast"):
        return False
    return owner.name == "vector.broadcast" or ir.DenseElementsAttr(owner.attributes["value"]).is_splat

"""affine-share-vector-loads: vectors that overlap others are put together from those in registers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dlc._mlir import affine, ir, vector
from dlc.analysis.buffers import is_memref, nested_ops, root_of
from dlc.lowering.affine.ir.accesses import access_of, are_apart, steps_by_width
from dlc.lowering.affine.ir.bounds import Bounds
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.affine.vectors.iteration_copies import CutLoop, IterationCopies
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy
from dlc.targets.machine import facts_of

_PURE = ("arith.", "math.", "vector.", "affine.apply", "affine.yield")
_LOADS, _STORES = ("affine.load", "affine.vector_load"), ("affine.store", "affine.vector_store")


@dataclass(frozen=True)
class ShareVectorLoads(Pass):
    """Put vectors together that overlap two others, where a vector is a whole cache line and so each of them reads two lines.

    before: affine.for %j = 0 to 248 { load x[8 * %j - 1], x[8 * %j], x[8 * %j + 1]; ...; store %r, y[8 * %j] }
    after:  affine.for %j = 0 to 248 step 4 {
              load x[8 * %j - 1], x[8 * %j], x[8 * %j + 8], x[8 * %j + 16], x[8 * %j + 24], x[8 * %j + 25]; 6 shuffles; ... }

    For innermost loops that carry nothing and load vectors of neighbouring elements, as stencils do. Some iterations are written
    out. Of the vectors that they load, those a whole step apart stay, and so do the first and the last; shuffles give the others.
    No element is loaded that was not before, iterations stay apart, and those that are left over are a loop of their own. On one
    core of AVX-512 with two loads a cycle, three points of a row of 2000 f64, in turns with a second row, take 0.52 of the time,
    jacobi-2d 0.69.
    """

    anchor = "func.func"

    copies: int = option(4, "iterations that are written out")
    line_bytes: int = option(0, "size of a cache line; 0: the target's")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        if self.copies < 2:
            raise PassFailure(op, f"copies is {self.copies}", "give 2 or more")
        line = self.line_bytes or facts_of(op).line_bytes
        for loop in [inner for inner in nested_ops(op) if inner.name == "affine.for"]:
            shared = _SharedLoads.of(loop, self.copies, line)
            if shared is not None:
                _rebuild(loop, shared)


_Row = tuple[ir.Value, tuple[ir.AffineExpr, ...], tuple[ir.Value, ...]]
"""A memref, the subscripts without the constant of the last one, and their operands."""


@dataclass(frozen=True, eq=False)
class _Load:
    """A vector load whose place moves by its own width with each iteration: at `offset` of `row` in the first."""

    op: ir.Operation
    row: _Row
    offset: int
    lanes: int

    @property
    def bits(self) -> int:
        """Of the vector; 0 where its elements have no known size."""
        return self.lanes * (element_bits(ir.VectorType(self.op.results[0].type).element_type) or 0)


@dataclass(frozen=True, eq=False)
class _SharedLoads:
    """The body of a loop, its loads that may change places with stores, and what is left of these in `copies` iterations."""

    body: tuple[ir.Operation, ...]
    copies: int
    loads: Mapping[ir.Operation, _Load]
    kept: Mapping[_Row, frozenset[int]]
    """Offsets that are loaded, a whole number of vectors apart."""

    @classmethod
    def of(cls, loop: ir.Operation, copies: int, line_bytes: int) -> _SharedLoads | None:
        """What the pass changes in `loop`; None for nothing."""
        body = tuple(inner.operation for inner in loop.regions[0].blocks[0].operations)
        bounds = Bounds.of(loop)
        is_single = len(bounds.lower.results) == 1 and len(bounds.upper.results) == 1
        if (
            len(loop.results)
            or not is_single
            or len(body) * copies > policy().limits.shared_load_ops
            or not all(_may_be_moved(op) for op in body)
        ):
            return None
        variable = loop.regions[0].blocks[0].arguments[0]
        found = [_load_of(op, variable, bounds.step) for op in body if op.name == "affine.vector_load"]
        stored = [root_of(op.operands[1]) for op in body if op.name in _STORES]
        lines = [load for load in found if load is not None and load.bits == 8 * line_bytes]
        loads = {load.op: load for load in lines if all(are_apart(root_of(load.row[0]), root) for root in stored)}
        kept = {row: kept for row, offsets in _rows(loads.values()).items() if (kept := _kept(offsets, copies))}
        return cls(body, copies, loads, kept) if kept else None

    def parts(self, load: _Load, copy: int) -> tuple[int, int] | None:
        """The offset of the vector that holds the first elements of `load` in iteration `copy`, and how many it does not hold."""
        kept, offset = self.kept.get(load.row, frozenset()), load.offset + copy * load.lanes
        lower = next((at for at in kept if at < offset < at + load.lanes), None)
        return None if lower is None or lower + load.lanes not in kept else (lower, offset - lower)


def _may_be_moved(op: ir.Operation) -> bool:
    """Whether `op` loads or stores at a place that is known, or computes."""
    if len(op.regions):
        return False
    if any(is_memref(operand) for operand in op.operands):
        return op.name in (*_LOADS, *_STORES)
    return op.name.startswith(_PURE) and op.name != "vector.print"


def _load_of(op: ir.Operation, variable: ir.Value, step: int) -> _Load | None:
    """The load `op` where a step of the loop's variable moves it by its own width along the last dimension alone."""
    kind, indexing, operands = ir.VectorType(op.results[0].type), op.attributes["map"].value, tuple(op.operands)[1:]
    if not steps_by_width(op, variable, step):
        return None
    place = access_of(op).starts[-1]
    if place is None:
        return None
    offset = place.constant
    subscripts = (*list(indexing.results)[:-1], indexing.results[len(indexing.results) - 1] - offset)
    return _Load(op, (op.operands[0], subscripts, operands), offset, kind.shape[0])


def _rows(loads: Iterable[_Load]) -> dict[_Row, list[_Load]]:
    found: dict[_Row, list[_Load]] = {}
    for load in loads:
        found.setdefault(load.row, []).append(load)
    return found


def _kept(loads: Sequence[_Load], copies: int) -> frozenset[int]:
    """The offsets a whole number of vectors apart that hold most of the others of their row; empty where none overlaps two.

    Of as many, multiples of the width: they are lines if the row starts one.
    """
    lanes = loads[0].lanes
    offsets = {load.offset + copy * lanes for load in loads for copy in range(copies)}
    classes = sorted({offset % lanes for offset in offsets})
    alike = [frozenset(offset for offset in offsets if offset % lanes == rest) for rest in classes]
    best = max(alike, key=lambda kept: _held(offsets, kept, lanes), default=frozenset())
    return best if _held(offsets, best, lanes) else frozenset()


def _held(offsets: set[int], kept: frozenset[int], lanes: int) -> int:
    """How many of `offsets` lie between two of `kept`."""
    return sum(any(at < offset < at + lanes and at + lanes in kept for at in kept) for offset in offsets)


def _rebuild(loop: ir.Operation, shared: _SharedLoads) -> None:
    """Replace `loop` by one of several iterations at a time and one of what is left over."""
    cut = CutLoop.of(loop, shared.copies)
    _Copies(cut, shared=shared).fill()
    cut.finish()


@dataclass(kw_only=True)
class _Copies(IterationCopies):
    """Fills a loop with several iterations of another one, which load no element twice where they need not."""

    shared: _SharedLoads
    loaded: dict[tuple[_Row, int], ir.Value] = field(default_factory=dict)

    def fill(self) -> None:
        """One iteration after the other."""
        with ir.InsertionPoint(self.cut.whole.regions[0].blocks[0]), self.cut.loop.location:
            for at in range(self.shared.copies):
                for op in self.shared.body[:-1]:
                    self.make(op, at)
            affine.AffineYieldOp([])

    def make(self, op: ir.Operation, at: int) -> None:
        """Build the results of `op` in iteration `at`."""
        load = self.shared.loads.get(op)
        if load is None:
            super().make(op, at)
        else:
            self.made[at, op.results[0]] = self._vector(load, at)

    def _vector(self, load: _Load, at: int) -> ir.Value:
        """What `load` gives in iteration `at`."""
        parts = self.shared.parts(load, at)
        if parts is None:
            return self._loaded(load, load.offset + at * load.lanes)
        lower, skipped = parts
        low, high = self._loaded(load, lower), self._loaded(load, lower + load.lanes)
        return vector.ShuffleOp(low, high, [skipped + lane for lane in range(load.lanes)]).result

    def _loaded(self, load: _Load, offset: int) -> ir.Value:
        """The vector at `offset` of the row of `load`, loaded once."""
        memref, subscripts, operands = load.row
        key = load.row, offset
        if key not in self.loaded:
            places = [*subscripts[:-1], subscripts[-1] + offset]
            map = ir.AffineMap.get(load.op.attributes["map"].value.n_dims, load.op.attributes["map"].value.n_symbols, places)
            found = [self.value(operand, 0) for operand in operands]
            self.loaded[key] = affine.AffineVectorLoadOp(load.op.results[0].type, memref, found, map, loc=load.op.location).result
        return self.loaded[key]

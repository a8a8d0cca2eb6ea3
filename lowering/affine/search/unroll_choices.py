"""Loops whose index only says which of a few values is meant become straight code."""

from __future__ import annotations

import itertools
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT
from dlc.lowering.affine.ir.bands import Band, build_band
from dlc.lowering.affine.ir.loops import Loop, real_ops, top_level_loops
from dlc.lowering.pass_base import Pass, PassFailure, option

_PREDICATES: Mapping[int, Callable[[int, int], bool]] = {
    0: int.__eq__,
    1: int.__ne__,
    2: int.__lt__,
    3: int.__le__,
    4: int.__gt__,
    5: int.__ge__,
}


@dataclass(frozen=True)
class UnrollChoices(Pass):
    """Unroll parallel loops of few iterations whose index chooses between values, so that each value is computed once.

    before: parallel p to 3 { parallel i { %a, %b, %c = of x[i]; %v = p == 0 ? %a : p == 1 ? %b : %c; store %v, y[p, i] } }
    after:  parallel i { %a, %b, %c = of x[i]; store %a, y[0, i]; store %b, y[1, i]; store %c, y[2, i] }

    What does not depend on the index stays as it is, the rest is repeated for each iteration, where the comparisons and the choices
    between values are decided. Other loops of the band keep their order; those of one iteration go, too. Winograd's
    transforms are such loops over the positions of a tile: 16 values of 16 loads with 32 sums for all of them.
    """

    anchor = "func.func"

    most: int = option(64, "most copies of a body")

    def run(self, op: ir.Operation) -> None:
        """Unroll the loops of one function."""
        if self.most < 1:
            raise PassFailure(op, f"most is {self.most}", "give 1 or more")
        for top in top_level_loops(op):
            band = Band.at(top)
            chosen = self._choosing(band) if band is not None else []
            if band is not None and chosen:
                _unroll(band, chosen)

    def _choosing(self, band: Band) -> list[Loop]:
        """The loops of `band` to unroll: those that choose, and those of one iteration where there are some."""
        if any(len(op.regions) for op in real_ops(band.body)):
            return []
        chosen = [loop for loop in band.loops if loop.extent and _chooses(loop.iv)]
        single = [loop for loop in band.loops if loop.extent == 1 and loop not in chosen]
        copies = 1
        for loop in chosen:
            copies *= loop.extent or 1
        return [*chosen, *single] if chosen and copies <= self.most else []


def _chooses(iv: ir.Value) -> bool:
    """Whether a comparison of `iv` with a constant is the condition of a choice."""
    comparisons = (use.owner.operation for use in iv.uses if use.owner.name == "arith.cmpi")
    fixed = (op for op in comparisons if any(_constant(operand) is not None for operand in op.operands))
    uses = (use for op in fixed for use in op.results[0].uses)
    return any(use.owner.name == "arith.select" and use.operand_number == 0 for use in uses)


def _constant(value: ir.Value) -> int | None:
    """The number that an integer or index constant is."""
    if isinstance(value.owner, ir.Block) or value.owner.name != "arith.constant":
        return None
    attribute = value.owner.attributes["value"]
    return int(ir.IntegerAttr(attribute).value) if isinstance(attribute, ir.IntegerAttr) else None


def _unroll(band: Band, chosen: Sequence[Loop]) -> None:
    """Replace `band` by one of its other loops around copies of its body."""
    kept = [loop for loop in band.loops if loop not in chosen]
    end = build_band(kept, band.top)[1] if kept else band.top
    single = [loop for loop in chosen if loop.extent == 1]
    several = [loop for loop in chosen if loop.extent != 1]
    shared = _Copy(end, numbers=ChainMap({loop.iv: 0 for loop in single}))
    ranges = [range(loop.extent or 0) for loop in several]
    copies = [shared.at({loop.iv: at for loop, at in zip(several, place, strict=True)}) for place in itertools.product(*ranges)]
    varying = {loop.iv for loop in several}
    for op in real_ops(band.body):
        if any(operand in varying for operand in op.operands):
            varying.update(op.results)
            for copy in copies:
                copy.add(op)
        else:
            shared.add(op)
    band.top.erase()


@dataclass
class _Copy:
    """The ops of one iteration of the unrolled loops, in front of `end`."""

    end: ir.Operation
    values: ChainMap[ir.Value, ir.Value] = field(default_factory=ChainMap)
    """The copy's values by the old ones."""
    numbers: ChainMap[ir.Value, int] = field(default_factory=ChainMap)
    """Old values that are known numbers in this copy, first of all the indices of the loops."""

    def at(self, place: Mapping[ir.Value, int]) -> _Copy:
        """A copy at a place of further loops, which shares what this one has."""
        return _Copy(self.end, self.values.new_child(), self.numbers.new_child(dict(place)))

    def add(self, op: ir.Operation) -> None:
        """Emit `op`, or decide it where its operands are known."""
        if op.name == "arith.cmpi" and self._compare(op):
            return
        if op.name == "arith.select" and op.operands[0] in self.numbers:
            taken = op.operands[1 if self.numbers[op.operands[0]] else 2]
            if taken in self.numbers:
                self.numbers[op.results[0]] = self.numbers[taken]
            else:
                self.values[op.results[0]] = self.values.get(taken, taken)
            return
        with ir.InsertionPoint(self.end), op.location:
            made = self._access(op) if op.name in SUBSCRIPTS_AT else self._plain(op)
        for old, new in zip(op.results, made.results, strict=True):
            self.values[old] = new

    def _compare(self, op: ir.Operation) -> bool:
        """Decide a comparison of numbers."""
        sides = [self._number(operand) for operand in op.operands]
        decide = _PREDICATES.get(ir.IntegerAttr(op.attributes["predicate"]).value)
        if decide is None or sides[0] is None or sides[1] is None:
            return False
        self.numbers[op.results[0]] = int(decide(sides[0], sides[1]))
        return True

    def _number(self, value: ir.Value) -> int | None:
        return self.numbers[value] if value in self.numbers else _constant(value)

    def _value(self, value: ir.Value) -> ir.Value:
        """The copy's value; a number becomes a constant."""
        if value in self.numbers:
            constant = ir.IntegerAttr.get(value.type, self.numbers[value])
            return ir.Operation.create("arith.constant", results=[value.type], attributes={"value": constant}).results[0]
        return self.values.get(value, value)

    def _plain(self, op: ir.Operation) -> ir.Operation:
        kinds = [result.type for result in op.results]
        operands = [self._value(operand) for operand in op.operands]
        return ir.Operation.create(op.name, results=kinds, operands=operands, attributes=dict(op.attributes.items()))

    def _access(self, op: ir.Operation) -> ir.Operation:
        """A load or store, whose map takes up the numbers among its dims."""
        first, indexing = SUBSCRIPTS_AT[op.name], op.attributes["map"].value
        operands = list(op.operands)
        dims, symbols = operands[first : first + indexing.n_dims], operands[first + indexing.n_dims :]
        left = [value for value in dims if value not in self.numbers]
        places = iter(range(len(left)))
        forms = [
            ir.AffineConstantExpr.get(self.numbers[value]) if value in self.numbers else ir.AffineDimExpr.get(next(places))
            for value in dims
        ]
        inner = ir.AffineMap.get(len(left), indexing.n_symbols, forms)
        results = [result.compose(inner) for result in indexing.results]
        map = ir.AffineMap.get(len(left), indexing.n_symbols, results)
        subscripts = [self.values.get(value, value) for value in (*left, *symbols)]
        kinds = [result.type for result in op.results]
        attributes = {**dict(op.attributes.items()), "map": ir.AffineMapAttr.get(map)}
        operands = [*(self._value(operand) for operand in operands[:first]), *subscripts]
        return ir.Operation.create(op.name, results=kinds, operands=operands, attributes=attributes)

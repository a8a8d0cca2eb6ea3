"""What a function of affine loops computes, run iteration by iteration on symbolic values: the judge of comparisons.

Values are terms, so that two functions leave the same terms in memory exactly if they compute the same whatever the ops mean.
Shares no code with `dlc.analysis`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from dlc._mlir import ir

Place = tuple[str, tuple[int, ...]]


class TooLong(Exception):
    """A function touches more elements than a run may."""


@dataclass(frozen=True, eq=False, repr=False)
class Term:
    """What an op computes from terms. Equal ones are one object, since shared terms make trees of exponential size: a loop of
    twelve `%v = op %v, %v` has 4096 leaves."""

    parts: tuple[Any, ...]

    def __repr__(self) -> str:
        inner = (part.parts[0] if isinstance(part, Term) else part for part in self.parts)
        return f"({' '.join(map(str, inner))})"


_TERMS: WeakValueDictionary[tuple[Any, ...], Term] = WeakValueDictionary()


def _term(*parts: Any) -> Term:
    """The one term of these parts: names, numbers and terms."""
    found = _TERMS.get(parts)
    if found is None:
        found = _TERMS[parts] = Term(parts)
    return found


@dataclass
class Run:
    """One run: `memory` maps places to terms; `trace` lists accesses as (op, loop variables, place, whether it writes), those of
    vectors lane by lane; `loops` has the ops whose variables these are. A trace longer than `most` raises TooLong."""

    memory: dict[Place, Any] = field(default_factory=dict)
    trace: list[tuple[ir.Operation, tuple[int, ...], Place, bool]] = field(default_factory=list)
    loops: list[tuple[ir.Operation, ...]] = field(default_factory=list)
    most: int = 1_000_000
    _around: list[ir.Operation] = field(default_factory=list)
    _values: dict[ir.Value, Any] = field(default_factory=dict)
    _variables: list[int] = field(default_factory=list)
    _allocations: int = 0

    def block(self, block: ir.Block) -> list[Any]:
        """Run a block; returns what it yields."""
        for view in block.operations:
            op = view.operation
            if op.name in ("affine.yield", "func.return"):
                return [self.value(operand) for operand in op.operands]
            self._op(op)
        return []

    def value(self, value: ir.Value) -> Any:
        """The term of `value`."""
        if value not in self._values and isinstance(value, ir.BlockArgument):
            self._values[value] = ("argument", value.arg_number)
        return self._values[value]

    def _op(self, op: ir.Operation) -> None:
        if op.name == "affine.for":
            self._loop(op)
        elif op.name == "affine.parallel":
            self._parallel(op, [])
        elif op.name == "affine.if":
            self._condition(op)
        elif op.name in ("affine.load", "affine.vector_load"):
            lanes = self._access(op, 0, op.results[0].type)
            self._values[op.results[0]] = lanes[0] if op.name == "affine.load" else _term("lanes", *lanes)
        elif op.name in ("affine.store", "affine.vector_store"):
            self._access(op, 1, op.operands[0].type)
        elif op.name in ("memref.alloc", "memref.alloca"):
            self._allocations += 1
            self._values[op.results[0]] = ("local", self._allocations)
        elif op.name == "affine.apply":
            self._values[op.results[0]] = self._map(op.attributes["map"].value, list(op.operands))[0]
        elif op.name == "arith.constant":
            value = op.attributes["value"]
            self._values[op.results[0]] = value.value if isinstance(op.results[0].type, ir.IndexType) else str(value)
        elif op.name != "memref.dealloc":
            terms = tuple(self.value(operand) for operand in op.operands)
            for number, result in enumerate(op.results):
                self._values[result] = _term(op.name, number, *terms)

    def _loop(self, op: ir.Operation) -> None:
        counts = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        operands, body = list(op.operands), op.regions[0].blocks[0]
        lower = max(self._map(op.attributes["lowerBoundMap"].value, operands[: counts[0]]))
        upper = min(self._map(op.attributes["upperBoundMap"].value, operands[counts[0] : counts[0] + counts[1]]))
        carried = [self.value(init) for init in operands[counts[0] + counts[1] :]]
        self._variables.append(0)
        self._around.append(op)
        for index in range(lower, upper, ir.IntegerAttr(op.attributes["step"]).value):
            self._variables[-1] = index
            self._values.update(zip(body.arguments, [index, *carried], strict=True))
            carried = self.block(body)
        self._variables.pop()
        self._around.pop()
        self._values.update(zip(op.results, carried, strict=True))

    def _parallel(self, op: ir.Operation, values: list[int]) -> None:
        """The iterations from those with the first `values` on, in the order of loops; bounds of one result each, no results."""
        body = op.regions[0].blocks[0]
        if len(values) == len(body.arguments):
            self._values.update(zip(body.arguments, values, strict=True))
            self.block(body)
            return
        lower_map, upper_map = op.attributes["lowerBoundsMap"].value, op.attributes["upperBoundsMap"].value
        count = lower_map.n_dims + lower_map.n_symbols
        lower = self._map(lower_map, list(op.operands)[:count])[len(values)]
        upper = self._map(upper_map, list(op.operands)[count:])[len(values)]
        self._around.append(op)
        for index in range(lower, upper, ir.IntegerAttr(ir.ArrayAttr(op.attributes["steps"])[len(values)]).value):
            self._variables.append(index)
            self._parallel(op, [*values, index])
            self._variables.pop()
        self._around.pop()

    def _condition(self, op: ir.Operation) -> None:
        head, text = str(op.attributes["condition"]).removeprefix("affine_set<").removesuffix(">").split(" : ", 1)
        holds = True
        for constraint in text[1:-1].split(", "):
            side, relation, _ = constraint.rsplit(" ", 2)
            map = ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<{head} -> ({side})>", context=op.context)).value
            value = self._map(map, list(op.operands))[0]
            holds = holds and (value == 0 if relation == "==" else value >= 0)
        branch = op.regions[0 if holds else 1]
        yielded = self.block(branch.blocks[0]) if len(branch.blocks) else []
        self._values.update(zip(op.results, yielded, strict=True))

    def _access(self, op: ir.Operation, at: int, kind: ir.Type) -> list[Any]:
        """Read or write the lanes of a value of type `kind`, one where it is a scalar; returns what is there then."""
        indices = self._map(op.attributes["map"].value, list(op.operands)[at + 1 :])
        is_vector = op.name.startswith("affine.vector")
        found = []
        for lane in range(kind.shape[0] if is_vector else 1):
            subscripts = (*indices[:-1], indices[-1] + lane) if lane else tuple(indices)
            place = (str(self.value(op.operands[at])), subscripts)
            self._note(op, place, bool(at))
            if at:
                stored = self.value(op.operands[0])
                self.memory[place] = _term("lane", lane, stored) if is_vector else stored
            found.append(self.memory.setdefault(place, ("initial", place)))
        return found

    def _note(self, op: ir.Operation, place: Place, writes: bool) -> None:
        self.trace.append((op, tuple(self._variables), place, writes))
        self.loops.append(tuple(self._around))
        if len(self.trace) > self.most:
            raise TooLong

    def _map(self, map: ir.AffineMap, operands: Sequence[ir.Value]) -> list[int]:
        names = [self.value(operand) for operand in operands]
        return [_evaluated(result, names, map.n_dims) for result in map.results]


def run(function: ir.Operation, sizes: Mapping[int, int] | None = None, most: int = 1_000_000) -> Run:
    """Run a function of one block; `sizes` are its index arguments by number."""
    block = function.regions[0].blocks[0]
    found = Run(most=most)
    found._values.update((block.arguments[number], size) for number, size in (sizes or {}).items())
    found.block(block)
    return found


def visible(found: Run) -> dict[Place, Any]:
    """What a run leaves in the memory of arguments, where that changed."""
    return {place: term for place, term in found.memory.items() if "local" not in place[0] and term != ("initial", place)}


def _evaluated(expression: ir.AffineExpr, names: Sequence[int], dims: int) -> int:
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineConstantExpr):
        return int(expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return names[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return names[dims + expression.position]
    one, other = (_evaluated(side, names, dims) for side in (expression.lhs, expression.rhs))
    if isinstance(expression, ir.AffineAddExpr):
        return one + other
    if isinstance(expression, ir.AffineMulExpr):
        return one * other
    if isinstance(expression, ir.AffineModExpr):
        return one % other
    return one // other if isinstance(expression, ir.AffineFloorDivExpr) else -(-one // other)

"""Sizes of buffers as polynomials: what an `index` value is, in terms of values that are known at the head of its function.

An atom is a dim of an argument, or the result of arithmetic that is no polynomial (a quotient, a choice) on such values. What
depends on the contents of a buffer is no atom: it has no polynomial. Dims of buffers that calls give are atoms where they are
asked for: they are known once the call has returned.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, element_bytes

Monomial = tuple[int, ...]
"""Atoms by their number, with repeats, in rising order; () is the constant 1."""

_DYNAMIC: int = ir.ShapedType.get_dynamic_size()
_DIVISIONS = frozenset(f"arith.{name}" for name in ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui"))
_SAME_SIZES = frozenset({"memref.cast", "memref.memory_space_cast"})


@dataclass(frozen=True)
class Polynomial:
    """A sum of coefficients times monomials; terms without zeros, ordered by monomial."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    @staticmethod
    def of(terms: Mapping[Monomial, int]) -> Polynomial:
        """The polynomial with these coefficients."""
        return Polynomial(tuple(sorted((monomial, factor) for monomial, factor in terms.items() if factor)))

    @staticmethod
    def constant(value: int) -> Polynomial:
        return Polynomial.of({(): value})

    @staticmethod
    def atom(number: int) -> Polynomial:
        return Polynomial.of({(number,): 1})

    @property
    def value(self) -> int | None:
        """The number that it is whatever the atoms are; None when it depends on them."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] == () else None

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, factor in other.terms:
            terms[monomial] = terms.get(monomial, 0) + factor
        return Polynomial.of(terms)

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for left, factor in self.terms:
            for right, other_factor in other.terms:
                monomial = tuple(sorted((*left, *right)))
                terms[monomial] = terms.get(monomial, 0) + factor * other_factor
        return Polynomial.of(terms)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other * Polynomial.constant(-1)

    def evaluate(self, atoms: Mapping[int, int]) -> int:
        """Its value where atom i is `atoms[i]`."""
        return sum(factor * math.prod(atoms[atom] for atom in monomial) for monomial, factor in self.terms)

    def atoms(self) -> Iterator[int]:
        """The atoms that occur."""
        yield from dict.fromkeys(atom for monomial, _ in self.terms for atom in monomial)


@dataclass(frozen=True)
class Atom:
    """A dim of `value`, an argument or a call's result, where `axis` is given, else the `value` of an arith op."""

    value: ir.Value
    axis: int | None = None


class SizeReader:
    """Reads sizes in one function; `atoms[i]` is what atom number i stands for.

    With `after_calls`, dims of what calls outside loops and branches give are atoms.
    """

    def __init__(self, atoms: Iterable[Atom] = (), after_calls: bool = False) -> None:
        self.atoms = list(atoms)
        self._after_calls = after_calls
        self._numbers = {atom: number for number, atom in enumerate(self.atoms)}
        self._known: dict[ir.Value, Polynomial | None] = {}

    def polynomial(self, value: ir.Value) -> Polynomial | None:
        """What an integer value is; None where it depends on contents of buffers, or on what a region hands out."""
        if value not in self._known:
            self._known[value] = self._read(value)
        return self._known[value]

    def bytes_of(self, alloc: ir.Operation) -> Polynomial | None:
        """Bytes that a row-major `memref.alloc` takes, None where they are not known at the head of the function."""
        kind = ir.MemRefType(alloc.results[0].type)
        width = element_bytes(kind.element_type)
        if width is None or kind.affine_map != ir.AffineMap.get_identity(kind.rank, kind.context):
            return None
        size = Polynomial.constant(width)
        for axis in range(kind.rank):
            factor = self.dim(alloc.results[0], axis)
            if factor is None:
                return None
            size = size * factor
        return size

    def dim(self, memref: ir.Value, axis: int) -> Polynomial | None:
        """Size of one axis of a memref, followed through views to arguments and allocations."""
        kind = memref.type
        if not isinstance(kind, ir.MemRefType) or not 0 <= axis < kind.rank:
            return None
        if kind.shape[axis] != _DYNAMIC:
            return Polynomial.constant(kind.shape[axis])
        op = defining_op(memref)
        if op is None:
            return self._atom(Atom(memref, axis)) if _is_entry_argument(memref) else None
        if op.name in _SAME_SIZES:
            return self.dim(op.operands[0], axis)
        if op.name == "func.call":
            return self._atom(Atom(memref, axis)) if self._after_calls and _is_at_top(op) else None
        if op.name == "memref.collapse_shape":
            return self._collapsed(op, axis)
        sizes = _size_operands(op)
        if sizes is None:
            return None
        given = sum(size == _DYNAMIC for size in kind.shape[:axis])
        return self.polynomial(sizes[given]) if len(sizes) > given else None

    def _collapsed(self, op: ir.Operation, axis: int) -> Polynomial | None:
        size = Polynomial.constant(1)
        for own in ir.ArrayAttr(op.attributes["reassociation"])[axis]:
            factor = self.dim(op.operands[0], ir.IntegerAttr(own).value)
            if factor is None:
                return None
            size = size * factor
        return size

    def _atom(self, atom: Atom) -> Polynomial:
        if atom not in self._numbers:
            self._numbers[atom] = len(self.atoms)
            self.atoms.append(atom)
        return Polynomial.atom(self._numbers[atom])

    def _read(self, value: ir.Value) -> Polynomial | None:
        op = defining_op(value)
        if op is None:
            return self._atom(Atom(value)) if _is_entry_argument(value) else None
        if op.name == "arith.constant":
            attribute = op.attributes["value"]
            if isinstance(attribute, ir.IntegerAttr) and _is_wide(value.type):
                return Polynomial.constant(attribute.value)
            return self._atom(Atom(value))
        if op.name == "memref.dim":
            axis = self.polynomial(op.operands[1])
            return None if axis is None or axis.value is None else self.dim(op.operands[0], axis.value)
        if op.name == "affine.apply":
            return self._applied(ir.AffineMapAttr(op.attributes["map"]).value, list(op.operands))
        if not op.name.startswith("arith.") or not is_safe_earlier(op):
            return None
        operands = [self.polynomial(operand) for operand in op.operands]
        if any(operand is None for operand in operands):
            return None
        known = [operand for operand in operands if operand is not None]
        wide = isinstance(value.type, ir.IndexType)
        match op.name:
            case "arith.addi" if wide:
                return known[0] + known[1]
            case "arith.subi" if wide:
                return known[0] - known[1]
            case "arith.muli" if wide:
                return known[0] * known[1]
            case "arith.index_cast" if _keeps_value(op):
                return known[0]
        return self._atom(Atom(value))

    def _applied(self, map: ir.AffineMap, operands: list[ir.Value]) -> Polynomial | None:
        """What a map of one result gives; None where it divides."""

        def read(expression: ir.AffineExpr) -> Polynomial | None:
            expression = expression.maybe_downcast()
            if isinstance(expression, ir.AffineConstantExpr):
                return Polynomial.constant(expression.value)
            if isinstance(expression, ir.AffineDimExpr):
                return self.polynomial(operands[expression.position])
            if isinstance(expression, ir.AffineSymbolExpr):
                return self.polynomial(operands[map.n_dims + expression.position])
            lhs, rhs = read(expression.lhs), read(expression.rhs)
            if lhs is None or rhs is None or not isinstance(expression, ir.AffineAddExpr | ir.AffineMulExpr):
                return None
            return lhs + rhs if isinstance(expression, ir.AffineAddExpr) else lhs * rhs

        return read(map.results[0])


def _keeps_value(cast: ir.Operation) -> bool:
    """Whether an index_cast goes between index and i64."""
    return _is_wide(cast.operands[0].type) and _is_wide(cast.results[0].type)


def _is_wide(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IndexType) or (isinstance(kind, ir.IntegerType) and kind.width == 64)


def _is_entry_argument(value: ir.Value) -> bool:
    return isinstance(value.owner, ir.Block) and value.owner.owner.operation.name == "func.func"


def _is_at_top(op: ir.Operation) -> bool:
    """Whether an op stands in a function's own block, and in no branch or loop."""
    return bool(op.parent.operation.name == "func.func")


def is_safe_earlier(op: ir.Operation) -> bool:
    """Whether the arith op `op` may run earlier than it stands: a division can fail, unless its divisor is never 0 or -1."""
    if op.name not in _DIVISIONS:
        return len(op.results) == 1 and not op.regions
    divisor = defining_op(op.operands[1])
    if divisor is not None and divisor.name == "arith.maxsi":
        divisor = defining_op(divisor.operands[1])
    if divisor is None or divisor.name != "arith.constant":
        return False
    attribute = divisor.attributes["value"]
    return isinstance(attribute, ir.IntegerAttr) and attribute.value > 0


def _size_operands(op: ir.Operation) -> list[ir.Value] | None:
    """The operands that are the dynamic sizes of the memref that `op` gives; None for ops that have no such operands."""
    operands = list(op.operands)
    match op.name:
        case "memref.alloc" | "memref.alloca":
            return operands[: op.attributes["operandSegmentSizes"][0]]
        case "memref.subview" if not _drops_axes(op):
            _, offsets, sizes, _ = op.attributes["operandSegmentSizes"]
            return operands[1 + offsets : 1 + offsets + sizes]
        case "memref.expand_shape":
            return operands[1:]
        case "memref.view":
            return operands[2:]
    return None


def _drops_axes(subview: ir.Operation) -> bool:
    return bool(ir.MemRefType(subview.results[0].type).rank != len(subview.attributes["static_sizes"]))

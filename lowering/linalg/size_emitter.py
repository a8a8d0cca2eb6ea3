"""Emits polynomials of sizes as arithmetic on `index` values, at one place of a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from dlc._mlir import arith, ir
from dlc.analysis.buffers import defining_op
from dlc.analysis.size_polynomials import Atom, Monomial, Polynomial, SizeReader

Extent: TypeAlias = int | ir.Value
"""An int where it is static, else an `index` value."""


class SizeEmitter:
    """Emits at the current insertion point, where `atoms` need not stand before: what gives them is repeated there.

    Equal sums, products and roundings are emitted once.
    """

    def __init__(self, atoms: Sequence[Atom]) -> None:
        self._reader = SizeReader(atoms, after_calls=True)
        self._made: dict[tuple[object, ...], ir.Value] = {}
        self._repeated: dict[ir.Value, ir.Value] = {}

    def value(self, extent: Extent) -> ir.Value:
        """An extent as an `index` value."""
        if isinstance(extent, ir.Value):
            return extent
        return self._once(("constant", extent), lambda: _constant(extent))

    def extent(self, polynomial: Polynomial) -> Extent:
        """The value of a polynomial."""
        total: Extent = 0
        for monomial, factor in reversed(polynomial.terms):
            total = self.sum(total, self._product(monomial, factor))
        return total

    def sum(self, left: Extent, right: Extent) -> Extent:
        """left + right."""
        if isinstance(left, int) and isinstance(right, int):
            return left + right
        if isinstance(left, int):
            left, right = right, left
        return left if isinstance(right, int) and right == 0 else self._binary("arith.addi", left, right)

    def largest(self, extents: Sequence[Extent]) -> Extent:
        """The largest of sizes that are not negative, 0 if there are none."""
        known = max((extent for extent in extents if isinstance(extent, int)), default=0)
        found: Extent = known
        for extent in dict.fromkeys(each for each in extents if isinstance(each, ir.Value)):
            found = extent if isinstance(found, int) and found == 0 else self._binary("arith.maxsi", extent, found)
        return found

    def rounded_up(self, extent: Extent, unit: int) -> Extent:
        """The least multiple of `unit`, a power of two, that is not below `extent`."""
        if isinstance(extent, int):
            return -(-extent // unit) * unit
        return self._binary("arith.andi", self._binary("arith.addi", extent, unit - 1), -unit)

    def choice(self, size: ir.Value, limit: int, above: Extent, below: Extent) -> ir.Value:
        """`above` if `size` is at least `limit`, else `below`."""
        operands = [size, self.value(limit)]
        at_least = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(arith.CmpIPredicate.sge))
        condition = self._once(
            ("arith.cmpi", *operands),
            lambda: _create("arith.cmpi", operands, ir.IntegerType.get_signless(1), {"predicate": at_least}),
        )
        chosen = [condition, self.value(above), self.value(below)]
        return self._once(("arith.select", *chosen), lambda: _create("arith.select", chosen, ir.IndexType.get()))

    def _product(self, monomial: Monomial, factor: int) -> Extent:
        if not monomial:
            return factor
        product: Extent = self._atom(monomial[0])
        for atom in monomial[1:]:
            product = self._binary("arith.muli", product, self._atom(atom))
        return product if factor == 1 else self._binary("arith.muli", product, factor)

    def _binary(self, name: str, left: Extent, right: Extent) -> ir.Value:
        operands = [self.value(left), self.value(right)]
        return self._once((name, *operands), lambda: _create(name, operands, ir.IndexType.get()))

    def _once(self, key: tuple[object, ...], make: Callable[[], ir.Value]) -> ir.Value:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _atom(self, number: int) -> ir.Value:
        atom = self._reader.atoms[number]
        if atom.axis is not None:
            axis = self.value(atom.axis)
            return self._once(("dim", atom.value, atom.axis), lambda: _create("memref.dim", [atom.value, axis], ir.IndexType.get()))
        found = self._repeat(atom.value)
        if isinstance(found.type, ir.IndexType):
            return found
        return self._once(("cast", found), lambda: _create("arith.index_cast", [found], ir.IndexType.get()))

    def _repeat(self, value: ir.Value) -> ir.Value:
        """`value` computed anew from what is known here; SizeReader has found that it can be."""
        if value not in self._repeated:
            self._repeated[value] = self._computed(value)
        return self._repeated[value]

    def _computed(self, value: ir.Value) -> ir.Value:
        op = defining_op(value)
        if op is None:
            return value
        if op.name == "memref.dim":
            return self._of_polynomial(value)
        operands = [self._operand(operand) for operand in op.operands]
        clone = op.clone()
        for index, operand in enumerate(operands):
            clone.operation.operands[index] = operand
        return clone.operation.results[0]

    def _operand(self, value: ir.Value) -> ir.Value:
        return self._of_polynomial(value) if isinstance(value.type, ir.IndexType) else self._repeat(value)

    def _of_polynomial(self, value: ir.Value) -> ir.Value:
        polynomial = self._reader.polynomial(value)
        assert polynomial is not None, "the reader has read this value before"
        return self.value(self.extent(polynomial))


def _constant(value: int) -> ir.Value:
    index = ir.IndexType.get()
    return ir.Operation.create("arith.constant", results=[index], attributes={"value": ir.IntegerAttr.get(index, value)}).results[0]


def _create(
    name: str, operands: Sequence[ir.Value], kind: ir.Type, attributes: Mapping[str, ir.Attribute] | None = None
) -> ir.Value:
    return ir.Operation.create(name, results=[kind], operands=operands, attributes=attributes or {}).results[0]

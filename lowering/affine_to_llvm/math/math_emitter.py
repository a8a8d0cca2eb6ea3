"""`Emitter` appends arithmetic ops, `Num` gives their values Python's operators.

A `Num` is an SSA value of one shape and one element kind. Python numbers mix in as constants, which are built once a
function, at its entry. `math_notation` has the functions that go with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from dlc._mlir import ir
from dlc.lowering.affine_to_llvm.math.float_formats import FORMATS, FloatFormat

Shape = tuple[int, ...] | None
"""The shape of a vector; None is a scalar."""


_BINARY = {
    "f": {"add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf", "div": "arith.divf"},
    "i": {
        "add": "arith.addi",
        "sub": "arith.subi",
        "mul": "arith.muli",
        "and": "arith.andi",
        "or": "arith.ori",
        "xor": "arith.xori",
        "shl": "arith.shli",
        "shr": "arith.shrsi",
        "shru": "arith.shrui",
    },
}
_PREDICATES = {
    "f": {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5, "uno": 14, "ne": 13},
    "i": {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5, "ugt": 8, "ult": 6},
}


@dataclass
class FunctionConstants:
    """The constants of one function, each built once, before `point`."""

    point: ir.InsertionPoint
    location: ir.Location
    values: dict[tuple[Shape, str, str], ir.Value] = field(default_factory=dict)


@dataclass
class TypeTable:
    """Types and attributes of one context that the expansions use again and again."""

    context: ir.Context
    elements: dict[str, ir.Type] = field(default_factory=dict)
    types: dict[tuple[Shape, str], ir.Type] = field(default_factory=dict)
    predicates: dict[int, ir.Attribute] = field(default_factory=dict)

    def element(self, kind: str) -> ir.Type:
        """The scalar type called `kind`."""
        if kind not in self.elements:
            self.elements[kind] = ir.Type.parse(kind, self.context)
        return self.elements[kind]

    def type(self, shape: Shape, kind: str) -> ir.Type:
        """`kind`, or a vector of it where `shape` is not None."""
        key = (shape, kind)
        if key not in self.types:
            element = self.element(kind)
            location = ir.Location.unknown(self.context)
            self.types[key] = element if shape is None else ir.VectorType.get(list(shape), element, loc=location)
        return self.types[key]

    def predicate(self, number: int) -> ir.Attribute:
        """The i64 attribute that holds a comparison predicate."""
        if number not in self.predicates:
            self.predicates[number] = ir.IntegerAttr.get(self.element("i64"), number)
        return self.predicates[number]

    def constant(self, shape: Shape, kind: str, value: float) -> ir.Attribute:
        """The scalar or splat attribute of `value`."""
        element = self.element(kind)
        if kind[0] == "f":
            scalar = ir.FloatAttr.get(element, value, loc=ir.Location.unknown(self.context))
        else:
            scalar = ir.IntegerAttr.get(element, value)
        return scalar if shape is None else ir.DenseElementsAttr.get_splat(self.type(shape, kind), scalar)


@dataclass
class Emitter:
    """Appends ops on values of one shape at `point`; `format` is the float format of the function being expanded.

    `features` are those of the target, by the names of `Machine`.
    """

    types: TypeTable
    pool: FunctionConstants
    point: ir.InsertionPoint
    location: ir.Location
    shape: Shape
    format: FloatFormat
    features: frozenset[str] = frozenset()

    def at(self, point: ir.InsertionPoint, shape: Shape) -> Emitter:
        """An emitter at another place, on values of `shape`."""
        return dataclasses.replace(self, point=point, shape=shape)

    def wrap(self, value: ir.Value, kind: str) -> Num:
        """`value`, whose element type is `kind`, as a `Num`."""
        return Num(self, value, kind)

    def constant(self, value: float, kind: str) -> Num:
        """The constant `value` of `kind` (a float by default where `kind` starts with f)."""
        number = float(value) if kind[0] == "f" else int(value)
        key = (self.shape, kind, number.hex() if isinstance(number, float) else str(number))
        found = self.pool.values.get(key)
        if found is None:
            attribute = self.types.constant(self.shape, kind, number)
            found = ir.Operation.create(
                "arith.constant",
                results=[self.types.type(self.shape, kind)],
                attributes={"value": attribute},
                ip=self.pool.point,
                loc=self.pool.location,
            ).results[0]
            self.pool.values[key] = found
        return Num(self, found, kind)

    def op(self, name: str, operands: Sequence[Num], kind: str, attributes: dict[str, ir.Attribute] | None = None) -> Num:
        """Append op `name`, whose one result has this emitter's shape and element `kind`."""
        created = ir.Operation.create(
            name,
            results=[self.types.type(self.shape, kind)],
            operands=[operand.value for operand in operands],
            attributes=attributes,
            ip=self.point,
            loc=self.location,
        )
        return Num(self, created.results[0], kind)


Operand: TypeAlias = "Num | float"
"""What the operators take: a value, or a Python number that becomes a constant."""


class Num:
    """A scalar or vector SSA value with NumPy's operators; comparisons give `i1` values for `where`."""

    __slots__ = ("emitter", "kind", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, emitter: Emitter, value: ir.Value, kind: str) -> None:
        self.emitter = emitter
        self.value = value
        self.kind = kind

    @property
    def format(self) -> FloatFormat:
        """The float format of this value, or of the float whose bits it holds."""
        return FORMATS[self.kind]

    def like(self, other: Operand) -> Num:
        """`other` as a `Num` of this value's kind."""
        return other if isinstance(other, Num) else self.emitter.constant(other, self.kind)

    def _binary(self, name: str, other: Operand) -> Num:
        return self.emitter.op(_BINARY[self.kind[0]][name], (self, self.like(other)), self.kind)

    def _reversed(self, name: str, other: Operand) -> Num:
        return self.emitter.op(_BINARY[self.kind[0]][name], (self.like(other), self), self.kind)

    def _compare(self, name: str, other: Operand) -> Num:
        family = self.kind[0]
        predicate = self.emitter.types.predicate(_PREDICATES[family][name])
        return self.emitter.op(f"arith.cmp{family}", (self, self.like(other)), "i1", {"predicate": predicate})

    def __add__(self, other: Operand) -> Num:
        return self._binary("add", other)

    def __radd__(self, other: Operand) -> Num:
        return self._reversed("add", other)

    def __sub__(self, other: Operand) -> Num:
        return self._binary("sub", other)

    def __rsub__(self, other: Operand) -> Num:
        return self._reversed("sub", other)

    def __mul__(self, other: Operand) -> Num:
        return self._binary("mul", other)

    def __rmul__(self, other: Operand) -> Num:
        return self._reversed("mul", other)

    def __truediv__(self, other: Operand) -> Num:
        return self._binary("div", other)

    def __rtruediv__(self, other: Operand) -> Num:
        return self._reversed("div", other)

    def __and__(self, other: Operand) -> Num:
        return self._binary("and", other)

    def __or__(self, other: Operand) -> Num:
        return self._binary("or", other)

    def __xor__(self, other: Operand) -> Num:
        return self._binary("xor", other)

    def __lshift__(self, other: Operand) -> Num:
        return self._binary("shl", other)

    def __rshift__(self, other: Operand) -> Num:
        return self._binary("shr", other)

    def __lt__(self, other: Operand) -> Num:
        return self._compare("lt", other)

    def __le__(self, other: Operand) -> Num:
        return self._compare("le", other)

    def __gt__(self, other: Operand) -> Num:
        return self._compare("gt", other)

    def __ge__(self, other: Operand) -> Num:
        return self._compare("ge", other)

    def __neg__(self) -> Num:
        return self.emitter.op("arith.negf", (self,), self.kind)

    def __abs__(self) -> Num:
        return self.emitter.op("math.absf", (self,), self.kind)

    def equals(self, other: Operand) -> Num:
        """Ordered equality."""
        return self._compare("eq", other)

    def differs(self, other: Operand) -> Num:
        """Unordered inequality."""
        return self._compare("ne", other)

    def is_nan(self) -> Num:
        """Whether the value is not a number."""
        return self._compare("uno", self)

    def shift_right_unsigned(self, other: Operand) -> Num:
        """Logical shift to the right."""
        return self._binary("shru", other)

    def below_unsigned(self, other: Operand) -> Num:
        """Unsigned less-than."""
        return self._compare("ult", other)

    def bits(self) -> Num:
        """The float's bit pattern as an integer of the same width."""
        return self.emitter.op("arith.bitcast", (self,), self.format.int_kind)

    def as_float(self) -> Num:
        """The float whose bit pattern this integer is."""
        return self.emitter.op("arith.bitcast", (self,), self.format.float_kind)

    def to_integer(self) -> Num:
        """The float, which must hold an integer in range, as an integer of the same width."""
        return self.emitter.op("arith.fptosi", (self,), self.format.int_kind)

    def convert(self, kind: str) -> Num:
        """The same number in another kind of float or integer (integers are signed)."""
        if kind == self.kind:
            return self
        source, target = self.kind, kind
        if source[0] == "i" and target[0] == "i":
            name = "arith.extsi" if _width(target) > _width(source) else "arith.trunci"
        elif source[0] == "i":
            name = "arith.sitofp"
        else:
            name = "arith.extf" if _width(target) > _width(source) else "arith.truncf"
        return self.emitter.op(name, (self,), kind)


def _width(kind: str) -> int:
    return int(kind.lstrip("bfi"))

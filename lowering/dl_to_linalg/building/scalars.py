"""Scalar arithmetic for the bodies of linalg ops, on MLIR values of the linalg level (signless integers)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl.storage import STORAGE
from dlc.dialects.dl.types import FLOATS, UNSIGNED_INTS, element_of_dtype, signless_twin, width_of
from dlc.lowering.dl_to_linalg.building.small_types import read_small, write_small

_FLOAT_PREDICATES = {
    "eq": 1,
    "gt": 2,
    "ge": 3,
    "lt": 4,
    "le": 5,
    "ord": 7,
    "ueq": 8,
    "ugt": 9,
    "uge": 10,
    "ult": 11,
    "ule": 12,
    "une": 13,
    "ne": 13,
    "uno": 14,
}
_ZERO_EXTENDED = (*UNSIGNED_INTS, "i1")
_INT_PREDICATES = {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5, "ult": 6, "ule": 7, "ugt": 8, "uge": 9}


@dataclass
class Scalars:
    """Creates scalar ops at `ip` with location `loc`."""

    ip: ir.InsertionPoint
    loc: ir.Location
    _iterators: dict[str, ir.Attribute] = field(default_factory=dict)

    def operation(
        self,
        name: str,
        results: Sequence[ir.Type],
        operands: Sequence[ir.Value],
        attributes: Mapping[str, ir.Attribute] | None = None,
        regions: int = 0,
    ) -> ir.Operation:
        """Create an op by name; 5 to 50 times cheaper than the generated builders."""
        return ir.Operation.create(
            name,
            results=list(results),
            operands=list(operands),
            attributes=dict(attributes or {}),
            regions=regions,
            ip=self.ip,
            loc=self.loc,
        )

    def create(
        self,
        name: str,
        results: Sequence[ir.Type],
        operands: Sequence[ir.Value],
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        """Create an op without regions and return its first result."""
        return self.operation(name, results, operands, attributes).results[0]

    def element(self, dtype: str) -> ir.Type:
        """MLIR element type of a dl dtype at the linalg level: integers are signless."""
        return element_of_dtype(signless_twin(dtype))

    def iterator(self, kind: str) -> ir.Attribute:
        """`#linalg.iterator_type<kind>`."""
        if kind not in self._iterators:
            self._iterators[kind] = ir.Attribute.parse(f"#linalg.iterator_type<{kind}>")
        return self._iterators[kind]

    def scalar(self, value: float | int | bool, dtype: str) -> ir.Value:
        """A constant of a dl dtype, rounded to it."""
        element = self.element(dtype)
        if dtype in FLOATS:
            attribute: ir.Attribute = ir.FloatAttr.get(element, float(value))
        else:
            attribute = ir.IntegerAttr.get(element, _wrapped(int(value), element.width))
        return self.create("arith.constant", [element], [], {"value": attribute})

    def lowest(self, dtype: str) -> ir.Value:
        """The identity of max: -inf, the smallest integer, or false."""
        if dtype in FLOATS:
            return self.scalar(-np.inf, dtype)
        return self.scalar(_int_range(dtype)[0], dtype)

    def highest(self, dtype: str) -> ir.Value:
        """The identity of min: +inf, the largest integer, or true."""
        if dtype in FLOATS:
            return self.scalar(np.inf, dtype)
        return self.scalar(_int_range(dtype)[1], dtype)

    def unary(self, name: str, x: ir.Value) -> ir.Value:
        """An op with one operand and a result of its type, such as `math.exp`."""
        return self.create(name, [x.type], [x])

    def binary(self, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """An op with two operands and a result of their type, such as `arith.addf`."""
        return self.create(name, [lhs.type], [lhs, rhs])

    def arith(self, name: str, lhs: ir.Value, rhs: ir.Value, dtype: str) -> ir.Value:
        """add, sub, mul, div, max, min or rem on scalars of a dl dtype (f16 and bf16 must be widened before).

        Integer division truncates; max and min propagate NaN.
        """
        if dtype in FLOATS:
            return self.binary(_FLOAT_OPS[name], lhs, rhs)
        if dtype == "i1":
            return self.binary(_BOOL_OPS[name], lhs, rhs)
        return self.binary((_UNSIGNED_OPS if dtype in UNSIGNED_INTS else _SIGNED_OPS)[name], lhs, rhs)

    def compare(self, predicate: str, lhs: ir.Value, rhs: ir.Value, dtype: str) -> ir.Value:
        """eq, ne, lt, le, gt, ge on scalars of a dl dtype; an i1. NaN compares unequal and unordered; for `ugt`, ... it holds."""
        i64, i1 = ir.IntegerType.get_signless(64), ir.IntegerType.get_signless(1)
        if dtype in FLOATS:
            attribute = ir.IntegerAttr.get(i64, _FLOAT_PREDICATES[predicate])
            return self.create("arith.cmpf", [i1], [lhs, rhs], {"predicate": attribute})
        unsigned = dtype in _ZERO_EXTENDED and predicate not in ("eq", "ne")
        attribute = ir.IntegerAttr.get(i64, _INT_PREDICATES[f"u{predicate}" if unsigned else predicate])
        return self.create("arith.cmpi", [i1], [lhs, rhs], {"predicate": attribute})

    def compare_index(self, predicate: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """A signed comparison of two `index` values."""
        return self.compare(predicate, lhs, rhs, "i64")

    def select(self, condition: ir.Value, then: ir.Value, otherwise: ir.Value) -> ir.Value:
        """`then` where the i1 `condition` holds, else `otherwise`."""
        return self.create("arith.select", [then.type], [condition, then, otherwise])

    def iteration(self, dimension: int) -> ir.Value:
        """`linalg.index`: the index of the current iteration along one loop of the enclosing generic."""
        attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)
        return self.create("linalg.index", [ir.IndexType.get()], [], {"dim": attribute})

    def index_cast(self, value: ir.Value, kind: ir.Type) -> ir.Value:
        """Between `index` and a signless integer type, sign-extending."""
        return value if value.type == kind else self.create("arith.index_cast", [kind], [value])

    def convert(self, x: ir.Value, source: str, target: str, saturate: bool = True, rounding: str = "up") -> ir.Value:
        """A scalar of dl dtype `source` as `target`, as NumPy's astype does; float to int saturates, NaN gives 0.

        `saturate` and `rounding` are those of `dl.cast`.
        """
        if source == target:
            return x
        if source in STORAGE:
            return self.convert(*read_small(self, x, source), target, saturate, rounding)
        if target in STORAGE:
            return write_small(self, x, source, target, saturate, rounding)
        kind = self.element(target)
        if target == "i1":
            return self.compare("ne", x, self.scalar(0, source), source)
        if source in FLOATS and target in FLOATS:
            return self._convert_float(x, source, target)
        if source in FLOATS:
            return self._float_to_int(x, source, target)
        if target in FLOATS:
            return self._int_to_float(x, source, target)
        return self._resize_int(x, source, kind)

    def widen(self, x: ir.Value, dtype: str) -> ir.Value:
        """f16 and bf16 as f32, everything else unchanged: what a body computes in."""
        return self.convert(x, dtype, "f32") if dtype in ("f16", "bf16") else x

    def wide(self, dtype: str) -> str:
        """The dtype that `widen` gives."""
        return "f32" if dtype in ("f16", "bf16") else dtype

    def narrow(self, x: ir.Value, dtype: str) -> ir.Value:
        """The inverse of `widen`: an f32 scalar rounded to `dtype` where that is f16 or bf16."""
        return self.convert(x, "f32", dtype) if dtype in ("f16", "bf16") else x

    def _convert_float(self, x: ir.Value, source: str, target: str) -> ir.Value:
        kind = self.element(target)
        if kind.width > self.element(source).width:
            return self.create("arith.extf", [kind], [x])
        if kind.width < self.element(source).width:
            return self.create("arith.truncf", [kind], [x])
        return self.convert(self.convert(x, source, "f32"), "f32", target)

    def _int_to_float(self, x: ir.Value, source: str, target: str) -> ir.Value:
        name = "arith.uitofp" if source in _ZERO_EXTENDED else "arith.sitofp"
        if target in ("f16", "bf16"):
            return self.convert(self.create(name, [self.element("f32")], [x]), "f32", target)
        return self.create(name, [self.element(target)], [x])

    def _float_to_int(self, x: ir.Value, source: str, target: str) -> ir.Value:
        x = self.widen(x, source)
        wide = "f32" if source in ("f16", "bf16") else source
        name = "arith.fptoui" if target in UNSIGNED_INTS else "arith.fptosi"
        low, high = _int_range(target)
        # fptosi is undefined outside the target's range: clamp to the largest floats inside it, then mend the top end.
        top = float(np.nextafter(_float_of(high, wide), 0, dtype=_numpy_float(wide))) if _rounds_up(high, wide) else high
        least, most = self.scalar(low, wide), self.scalar(top, wide)
        if low == 0:  # NaN is not greater, so this is one vmaxps
            clean = self.binary("arith.minnumf", self.select(self.compare("gt", x, least, wide), x, least), most)
        else:
            clamped = self.binary("arith.minnumf", self.binary("arith.maxnumf", x, least), most)
            clean = self.select(self.compare("uno", x, x, wide), self.scalar(0, wide), clamped)
        converted = self.create(name, [self.element(target)], [clean])
        if top == high:
            return converted
        return self.select(self.compare("ge", x, self.scalar(high, wide), wide), self.scalar(high, target), converted)

    def _resize_int(self, x: ir.Value, source: str, kind: ir.Type) -> ir.Value:
        width = self.element(source).width
        if kind.width == width:
            return x
        if kind.width < width:
            return self.create("arith.trunci", [kind], [x])
        return self.create("arith.extui" if source in _ZERO_EXTENDED else "arith.extsi", [kind], [x])


def _wrapped(value: int, width: int) -> int:
    """`value` modulo 2**width, in the signed range that an IntegerAttr takes (i1: 0 or 1)."""
    if width == 1:
        return value & 1
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def _int_range(dtype: str) -> tuple[int, int]:
    if dtype == "i1":
        return 0, 1
    width = width_of(dtype)
    return (0, (1 << width) - 1) if dtype in UNSIGNED_INTS else (-(1 << (width - 1)), (1 << (width - 1)) - 1)


def _numpy_float(dtype: str) -> type[np.floating]:
    return np.float64 if dtype == "f64" else np.float32


def _float_of(value: int, dtype: str) -> np.floating:
    return _numpy_float(dtype)(value)


def _rounds_up(value: int, dtype: str) -> bool:
    """True when the nearest float of `dtype` is greater than the integer."""
    return int(_float_of(value, dtype)) > value


_FLOAT_OPS = {
    "add": "arith.addf",
    "sub": "arith.subf",
    "mul": "arith.mulf",
    "div": "arith.divf",
    "max": "arith.maximumf",
    "min": "arith.minimumf",
    "rem": "arith.remf",
}
_SIGNED_OPS = {
    "add": "arith.addi",
    "sub": "arith.subi",
    "mul": "arith.muli",
    "div": "arith.divsi",
    "max": "arith.maxsi",
    "min": "arith.minsi",
    "rem": "arith.remsi",
}
_UNSIGNED_OPS = {**_SIGNED_OPS, "div": "arith.divui", "max": "arith.maxui", "min": "arith.minui", "rem": "arith.remui"}
_BOOL_OPS = {"add": "arith.ori", "mul": "arith.andi", "max": "arith.ori", "min": "arith.andi"}

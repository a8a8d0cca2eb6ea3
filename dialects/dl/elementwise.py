"""Elementwise arithmetic: one scalar formula over broadcast operands; integers wrap."""

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, DTypeAttr, FloatAttr, StrAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import convert, wide, widen
from dlc.dialects.dl.storage import ROUNDINGS
from dlc.dialects.dl.types import (
    FLOATS,
    MOVABLE,
    NUMERIC,
    NUMPY_DTYPES,
    TensorType,
    broadcast_shapes,
    require,
    require_same_dtype,
)


class Mapped(DLOp):
    """Base of ops with one operand whose elements are mapped one by one."""

    fusion_class = "injective"
    is_elementwise = True
    x: Operand[Tensor]
    result: Result[Tensor]


class Unary(Mapped):
    """Base of ops with one operand and a result of its type."""

    @staticmethod
    def infer(x: TensorType, **attributes: object) -> TensorType:
        return x


class Binary(DLOp):
    """Base of ops with two operands of one element type that broadcast as in NumPy."""

    fusion_class = "broadcast"
    is_elementwise = True
    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, **attributes: object) -> TensorType:
        dtype = require_same_dtype("c1", lhs=lhs, rhs=rhs)
        return TensorType(broadcast_shapes("c2", lhs.shape, rhs.shape), dtype)


class Abs(Unary, name="abs"):
    """Absolute value; that of the smallest integer wraps to itself. ONNX Abs.

    result = |x|
    """

    accepts = NUMERIC
    reference = staticmethod(wide(np.abs))


class Neg(Unary, name="neg"):
    """Negation; integers wrap. ONNX Neg.

    result = -x
    """

    accepts = NUMERIC
    reference = staticmethod(wide(np.negative))


class Sign(Unary, name="sign"):
    """Sign as -1, 0 or 1; NaN stays NaN. ONNX Sign.

    result = (x > 0) - (x < 0)
    """

    accepts = NUMERIC
    reference = staticmethod(wide(np.sign))


class Floor(Unary, name="floor"):
    """Largest integer that is not above x. ONNX Floor.

    result = floor(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.floor))


class Ceil(Unary, name="ceil"):
    """Smallest integer that is not below x. ONNX Ceil.

    result = ceil(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.ceil))


class Round(Unary, name="round"):
    """Nearest integer, halves to the even one. ONNX Round.

    result = rint(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.rint))


class Trunc(Unary, name="trunc"):
    """Integer part, towards zero.

    result = trunc(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.trunc))


class Clip(Mapped, name="clip"):
    """Limits x to [low, high]; NaN stays NaN, and high wins where low is above it. ONNX Clip.

    result = min(max(x, low), high), with the bounds rounded to x's element type

    c1: no bound is NaN.    c2: for integers a bound is infinite or a value of the element type.
    """

    accepts = NUMERIC
    low = FloatAttr(default=float("-inf"), doc="smallest result")
    high = FloatAttr(default=float("inf"), doc="largest result")

    @staticmethod
    def infer(x: TensorType, *, low: float, high: float) -> TensorType:
        for name, bound in (("low", low), ("high", high)):
            require("c1", not np.isnan(bound), f"{name} is NaN")
            fits = x.dtype in FLOATS or np.isinf(bound) or int(convert(np.array(bound), x.dtype)) == bound
            require("c2", bool(fits), f"{name} is {bound}, which is no value of {x.dtype}")
        return x

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, low: float, high: float) -> np.ndarray:
        if x.dtype.kind == "f":
            return np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high))
        limits = np.iinfo(x.dtype)
        bounds = [limits.min if np.isneginf(b) else limits.max if np.isposinf(b) else int(b) for b in (low, high)]
        return np.minimum(np.maximum(x, x.dtype.type(bounds[0])), x.dtype.type(bounds[1]))


class Cast(Mapped, name="cast"):
    """Conversion to another element type. ONNX Cast, CastLike.

    result = x in element type `to`. Floats round to nearest even; float to integer truncates and saturates, NaN gives 0;
    integers wrap; i1 is x != 0, and counts as 0 or 1. Instructions that round f32 to bf16 take a subnormal number as 0: `flush`
    allows them.

    Types that are only stored have 8, 6, 4 or 2 bits. Floats of 8 bits saturate at their largest number, infinity too; without
    `saturate` what is beyond is infinity, or NaN where the type has none. Those of 6 and 4 bits saturate always, and NaN is -0.
    Integers of 4 and 2 bits take the low bits. f8E8M0FNU takes the exponent of the power of two that `rounding` says, without
    the sign.
    """

    accepts = MOVABLE
    to = DTypeAttr(doc="element type of the result")
    flush = BoolAttr(default=False, doc="whether a subnormal number may become 0")

    saturate = BoolAttr(default=True, doc="whether floats beyond the range of a float of 8 bits become its largest number")
    rounding = StrAttr(
        default="up", choices=ROUNDINGS, doc="which power of two f8E8M0FNU takes: away from zero, towards it, the nearest"
    )

    @staticmethod
    def infer(x: TensorType, *, to: str, flush: bool, saturate: bool, rounding: str) -> TensorType:
        return x.with_dtype(to)

    @staticmethod
    def reference(x: np.ndarray, *, to: str, flush: bool, saturate: bool, rounding: str) -> np.ndarray:
        return convert(x, to, saturate, rounding)


class Add(Binary, name="add"):
    """Sum of two tensors; integers wrap. ONNX Add, Sum.

    result = lhs + rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = NUMERIC
    reference = staticmethod(wide(np.add))


class Sub(Binary, name="sub"):
    """Difference of two tensors; integers wrap. ONNX Sub.

    result = lhs - rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = NUMERIC
    reference = staticmethod(wide(np.subtract))


class Mul(Binary, name="mul"):
    """Product of two tensors; integers wrap. ONNX Mul.

    result = lhs * rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = NUMERIC
    reference = staticmethod(wide(np.multiply))


def _require_no_zero(divisor: np.ndarray) -> None:
    if not divisor.all():
        raise ZeroDivisionError("integer division by zero")


class Div(Binary, name="div"):
    """Quotient of two tensors. Integers truncate towards zero and wrap; a divisor of 0 is an error. ONNX Div.

    result = lhs / rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = NUMERIC

    @staticmethod
    @wide
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        if lhs.dtype.kind == "f":
            return np.divide(lhs, rhs)
        _require_no_zero(rhs)
        floored = lhs // rhs
        inexact = (floored * rhs != lhs) & ((lhs < 0) != (rhs < 0))
        return np.asarray(floored + inexact.astype(lhs.dtype))


class Mod(Binary, name="mod"):
    """Remainder; of integers, a divisor of 0 is an error. ONNX Mod.

    result = lhs - floor(lhs / rhs) * rhs, with the sign of rhs; with `fmod` lhs - trunc(lhs / rhs) * rhs, with that of lhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = NUMERIC
    fmod = BoolAttr(default=False, doc="take the sign of lhs, as C does")

    @staticmethod
    @wide
    def reference(lhs: np.ndarray, rhs: np.ndarray, *, fmod: bool) -> np.ndarray:
        if lhs.dtype.kind != "f":
            _require_no_zero(rhs)
        return np.fmod(lhs, rhs) if fmod else np.mod(lhs, rhs)


class Pow(DLOp, name="pow"):
    """Power with the base's element type. ONNX Pow.

    result = lhs ** rhs. A float base takes the exponent in its own type. An integer base with an integer exponent wraps, and
    truncates towards zero for negative exponents (0 for a base of 0); with a float exponent it computes in f64 and
    converts as `dl.cast`.

    c1: the shapes of lhs and rhs broadcast.
    """

    fusion_class = "broadcast"
    is_elementwise = True
    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]
    accepts = NUMERIC

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType) -> TensorType:
        return TensorType(broadcast_shapes("c1", lhs.shape, rhs.shape), lhs.dtype)

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        base, exponent = widen(lhs), widen(rhs)
        with np.errstate(all="ignore"):
            if base.dtype.kind == "f":
                return np.asarray(np.power(base, exponent.astype(base.dtype))).astype(lhs.dtype)
            if exponent.dtype.kind == "f":
                dtype = next(name for name, dtype in NUMPY_DTYPES.items() if dtype == lhs.dtype)
                return convert(np.power(base.astype(np.float64), exponent.astype(np.float64)), dtype)
            odd_sign = np.where(exponent % 2 == 0, 1, base)
            below_zero = np.where(np.abs(base.astype(np.int64)) == 1, odd_sign, 0)
            return np.where(exponent < 0, below_zero, np.power(base, np.maximum(exponent, 0))).astype(lhs.dtype)


class Max(Binary, name="max"):
    """The greater of two elements; NaN wins. ONNX Max.

    result = lhs if lhs > rhs else rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = NUMERIC
    reference = staticmethod(wide(np.maximum))


class Min(Binary, name="min"):
    """The smaller of two elements; NaN wins. ONNX Min.

    result = lhs if lhs < rhs else rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = NUMERIC
    reference = staticmethod(wide(np.minimum))

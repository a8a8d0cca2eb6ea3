"""Comparisons, tests of one element, logic on bits, and selection by a condition."""

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, StrAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.elementwise import Binary, Mapped, Unary
from dlc.dialects.dl.numerics import wide
from dlc.dialects.dl.types import BOOL, FLOATS, INTS, TensorType, broadcast_shapes, require, require_same_dtype


class Comparison(Binary):
    """Base of ops that compare two broadcast operands and give i1. NaN differs from and is unordered with everything."""

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, **attributes: object) -> TensorType:
        require_same_dtype("c1", lhs=lhs, rhs=rhs)
        return TensorType(broadcast_shapes("c2", lhs.shape, rhs.shape), "i1")


class Equal(Comparison, name="equal"):
    """Equality. ONNX Equal.

    result = lhs == rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    reference = staticmethod(wide(np.equal))


class NotEqual(Comparison, name="not_equal"):
    """Inequality; NaN is unequal to everything.

    result = lhs != rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    reference = staticmethod(wide(np.not_equal))


class Less(Comparison, name="less"):
    """Order; false is less than true. ONNX Less, and Greater with its operands swapped.

    result = lhs < rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    reference = staticmethod(wide(np.less))


class LessEqual(Comparison, name="less_equal"):
    """Order; false is less than true. ONNX LessOrEqual, and GreaterOrEqual with its operands swapped.

    result = lhs <= rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    reference = staticmethod(wide(np.less_equal))


class IsNaN(Mapped, name="isnan"):
    """Test for NaN, as i1. ONNX IsNaN.

    result = x != x
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.isnan))

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        return x.with_dtype("i1")


class IsInf(Mapped, name="isinf"):
    """Test for infinities of the chosen signs, as i1. ONNX IsInf.

    result = detect_positive and x == inf or detect_negative and x == -inf
    """

    accepts = FLOATS
    detect_positive = BoolAttr(default=True, doc="inf counts")
    detect_negative = BoolAttr(default=True, doc="-inf counts")

    @staticmethod
    def infer(x: TensorType, *, detect_positive: bool, detect_negative: bool) -> TensorType:
        return x.with_dtype("i1")

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, detect_positive: bool, detect_negative: bool) -> np.ndarray:
        return (np.isposinf(x) & detect_positive) | (np.isneginf(x) & detect_negative)


class And(Binary, name="and"):
    """Bitwise and; logical and for i1. ONNX And, BitwiseAnd.

    result = lhs & rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = (*INTS, *BOOL)
    reference = staticmethod(wide(np.bitwise_and))


class Or(Binary, name="or"):
    """Bitwise or; logical or for i1. ONNX Or, BitwiseOr.

    result = lhs | rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = (*INTS, *BOOL)
    reference = staticmethod(wide(np.bitwise_or))


class Xor(Binary, name="xor"):
    """Bitwise exclusive or; logical for i1. ONNX Xor, BitwiseXor.

    result = lhs ^ rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = (*INTS, *BOOL)
    reference = staticmethod(wide(np.bitwise_xor))


class Not(Unary, name="not"):
    """Bitwise complement; logical not for i1. ONNX Not, BitwiseNot.

    result = ~x
    """

    accepts = (*INTS, *BOOL)
    reference = staticmethod(wide(np.invert))


class ShiftLeft(Binary, name="shift_left"):
    """Shift towards the high bits; 0 for an amount outside [0, width). ONNX BitShift.

    result = lhs << rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = INTS
    reference = staticmethod(wide(np.left_shift))


class ShiftRight(Binary, name="shift_right"):
    """Shift towards the low bits, keeping the sign of signed elements; all sign for an amount outside [0, width). ONNX BitShift.

    result = lhs >> rhs

    c1: lhs and rhs have one element type.    c2: their shapes broadcast.
    """

    accepts = INTS
    reference = staticmethod(wide(np.right_shift))


class Where(DLOp, name="where"):
    """Selection by a condition; all three operands broadcast. ONNX Where.

    result = x where condition holds, else y

    c1: x and y have one element type.    c2: the shapes of the operands broadcast.
    """

    fusion_class = "broadcast"
    is_elementwise = True
    condition: Operand[Tensor]
    x: Operand[Tensor]
    y: Operand[Tensor]
    result: Result[Tensor]
    accepts = {"condition": BOOL}

    @staticmethod
    def infer(condition: TensorType, x: TensorType, y: TensorType) -> TensorType:
        dtype = require_same_dtype("c1", x=x, y=y)
        return TensorType(broadcast_shapes("c2", condition.shape, x.shape, y.shape), dtype)

    @staticmethod
    def reference(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(condition, x, y)


class Assert(DLOp, name="assert"):
    """x, once a condition is checked: a call where it does not hold ends with an error that names the node.

    result = x, if every element of condition is true

    c1: message holds text, and no braces.
    """

    fusion_class = "opaque"
    accepts = {"condition": BOOL}
    x: Operand[Tensor]
    condition: Operand[Tensor]
    result: Result[Tensor]
    message = StrAttr(doc="what is wrong where the condition does not hold")

    @staticmethod
    def infer(x: TensorType, condition: TensorType, *, message: str) -> TensorType:
        require("c1", bool(message) and not set(message) & set("{}"), f"message is {message!r}")
        return x

    @staticmethod
    def reference(x: np.ndarray, condition: np.ndarray, *, message: str) -> np.ndarray:
        if not condition.all():
            raise ValueError(message)
        return x

"""Activation functions of neural networks: elementwise, kept whole until they are lowered."""

import math

import numpy as np

from dlc.dialects.dl.attributes import FloatAttr, StrAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.elementary import Erf
from dlc.dialects.dl.elementwise import Unary
from dlc.dialects.dl.numerics import wide
from dlc.dialects.dl.types import (
    FLOATS,
    NUMERIC,
    TensorType,
    require,
    require_equal_dims,
    require_same_dtype,
    shape_text,
)


class Relu(Unary, name="relu"):
    """Rectifier. ONNX Relu.

    result = max(x, 0); NaN stays NaN
    """

    accepts = NUMERIC

    @staticmethod
    @wide
    def reference(x: np.ndarray) -> np.ndarray:
        return np.maximum(x, np.zeros((), x.dtype))


class LeakyRelu(Unary, name="leaky_relu"):
    """Rectifier with a slope below 0. ONNX LeakyRelu.

    result = x if x >= 0 else alpha * x
    """

    accepts = FLOATS
    alpha = FloatAttr(default=0.01, doc="slope below 0")

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, alpha: float) -> np.ndarray:
        return np.where(x < 0, x * x.dtype.type(alpha), x)


class PRelu(DLOp, name="prelu"):
    """Rectifier with a tensor of slopes below 0. ONNX PRelu.

    result = x if x >= 0 else slope * x; slope broadcasts to x

    c1: x and slope have one element type.    c2: slope's rank is at most x's.    c3: each dim of slope is 1 or x's.
    """

    fusion_class = "broadcast"
    is_elementwise = True
    x: Operand[Tensor]
    slope: Operand[Tensor]
    result: Result[Tensor]
    accepts = NUMERIC

    @staticmethod
    def infer(x: TensorType, slope: TensorType) -> TensorType:
        require_same_dtype("c1", x=x, slope=slope)
        shapes = f"x is {shape_text(x.shape)} but slope is {shape_text(slope.shape)}"
        require("c2", slope.rank <= x.rank, shapes)
        for axis in range(-slope.rank, 0):
            if slope.shape[axis] != 1:
                require_equal_dims("c3", x.shape[axis], slope.shape[axis], f"x dim {axis}", f"slope dim {axis}")
        slopes = (*[1] * (x.rank - slope.rank), *slope.shape)
        pairs = zip(x.shape, slopes, strict=True)
        return x.with_shape([other if dim is None and other != 1 else dim for dim, other in pairs])

    @staticmethod
    @wide
    def reference(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return np.where(x < 0, x * slope, x)


class ThresholdedRelu(Unary, name="thresholded_relu"):
    """x above a threshold, 0 elsewhere. ONNX ThresholdedRelu.

    result = x if x > alpha else 0
    """

    accepts = FLOATS
    alpha = FloatAttr(default=1.0, doc="the threshold")

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, alpha: float) -> np.ndarray:
        return np.where(x > x.dtype.type(alpha), x, x.dtype.type(0))


class Elu(Unary, name="elu"):
    """Exponential linear unit, in the general form of its relatives. ONNX Elu, Selu, Celu.

    result = scale * (x if x > 0 else alpha * (exp(rate * x) - 1))

    SELU sets scale and alpha, CELU alpha and rate = 1 / alpha.
    """

    accepts = FLOATS
    alpha = FloatAttr(default=1.0, doc="minus the limit at -inf, before scale")
    scale = FloatAttr(default=1.0, doc="factor of the result")
    rate = FloatAttr(default=1.0, doc="factor of x in the exponent")

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, alpha: float, scale: float, rate: float) -> np.ndarray:
        return scale * np.where(x > 0, x, alpha * np.expm1(rate * np.minimum(x, 0)))


class Sigmoid(Unary, name="sigmoid"):
    """Logistic function. ONNX Sigmoid.

    result = 1 / (1 + exp(-x))
    """

    accepts = FLOATS
    reference = staticmethod(wide(lambda x: 1 / (1 + np.exp(-x))))


class HardSigmoid(Unary, name="hard_sigmoid"):
    """Piecewise linear sigmoid; NaN stays NaN. ONNX HardSigmoid.

    result = max(0, min(1, alpha * x + beta))
    """

    accepts = FLOATS
    alpha = FloatAttr(default=0.2, doc="slope")
    beta = FloatAttr(default=0.5, doc="value at 0")

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, alpha: float, beta: float) -> np.ndarray:
        return np.clip(alpha * x + beta, 0, 1)


class HardSwish(Unary, name="hard_swish"):
    """Piecewise quadratic swish. ONNX HardSwish.

    result = x * max(0, min(1, x / 6 + 0.5))
    """

    accepts = FLOATS
    reference = staticmethod(wide(lambda x: x * np.clip(x / 6 + 0.5, 0, 1)))


class Silu(Unary, name="silu"):
    """Sigmoid linear unit; with a rate, swish. ONNX Swish.

    result = x / (1 + exp(-alpha * x))
    """

    accepts = FLOATS
    alpha = FloatAttr(default=1.0, doc="rate: factor of x within the sigmoid")

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, alpha: float) -> np.ndarray:
        return x / (1 + np.exp(-alpha * x))


class Softplus(Unary, name="softplus"):
    """Smooth rectifier, stable for all x. ONNX Softplus.

    result = log(1 + exp(x))
    """

    accepts = FLOATS
    reference = staticmethod(wide(lambda x: np.logaddexp(x, x.dtype.type(0))))


class Softsign(Unary, name="softsign"):
    """Rational sigmoid. ONNX Softsign.

    result = x / (1 + |x|)
    """

    accepts = FLOATS
    reference = staticmethod(wide(lambda x: x / (1 + np.abs(x))))


class Mish(Unary, name="mish"):
    """Self-regularised smooth rectifier. ONNX Mish.

    result = x * tanh(log(1 + exp(x)))
    """

    accepts = FLOATS
    reference = staticmethod(wide(lambda x: x * np.tanh(np.logaddexp(x, x.dtype.type(0)))))


class Gelu(Unary, name="gelu"):
    """Gaussian error linear unit. ONNX Gelu.

    result = x / 2 * (1 + erf(x / sqrt(2))), or x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))
    """

    accepts = FLOATS
    approximate = StrAttr(default="none", doc="the first formula, or the second", choices=("none", "tanh"))

    @staticmethod
    @wide
    def reference(x: np.ndarray, *, approximate: str) -> np.ndarray:
        if approximate == "tanh":
            return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        return x / 2 * (1 + Erf.reference(x / math.sqrt(2)))

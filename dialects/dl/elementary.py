"""Elementary functions of one float: exponentials, logarithms, roots, trigonometric and hyperbolic functions, erf."""

import math

import numpy as np

from dlc.dialects.dl.elementwise import Unary
from dlc.dialects.dl.numerics import wide
from dlc.dialects.dl.types import FLOATS


class Exp(Unary, name="exp"):
    """Exponential function. ONNX Exp.

    result = e ** x
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.exp))


class Log(Unary, name="log"):
    """Natural logarithm; NaN below 0. ONNX Log.

    result = log(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.log))


class Log1p(Unary, name="log1p"):
    """Natural logarithm of 1 + x, precise near 0.

    result = log(1 + x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.log1p))


class Sqrt(Unary, name="sqrt"):
    """Square root; NaN below 0. ONNX Sqrt.

    result = x ** 0.5
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.sqrt))


class Rsqrt(Unary, name="rsqrt"):
    """Reciprocal of the square root; NaN below 0.

    result = 1 / sqrt(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(lambda x: 1 / np.sqrt(x)))


class Reciprocal(Unary, name="reciprocal"):
    """Reciprocal. ONNX Reciprocal.

    result = 1 / x
    """

    accepts = FLOATS
    reference = staticmethod(wide(lambda x: 1 / x))


class Erf(Unary, name="erf"):
    """Gauss error function. ONNX Erf.

    result = 2 / sqrt(pi) * integral of exp(-t * t) for t from 0 to x
    """

    accepts = FLOATS
    reference = staticmethod(wide(lambda x: np.vectorize(math.erf, otypes=[x.dtype])(x)))


class Sin(Unary, name="sin"):
    """Sine of an angle in radians. ONNX Sin.

    result = sin(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.sin))


class Cos(Unary, name="cos"):
    """Cosine of an angle in radians. ONNX Cos.

    result = cos(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.cos))


class Tan(Unary, name="tan"):
    """Tangent of an angle in radians. ONNX Tan.

    result = tan(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.tan))


class Asin(Unary, name="asin"):
    """Inverse sine in radians; NaN outside [-1, 1]. ONNX Asin.

    result = arcsin(x), in [-pi / 2, pi / 2]
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.arcsin))


class Acos(Unary, name="acos"):
    """Inverse cosine in radians; NaN outside [-1, 1]. ONNX Acos.

    result = arccos(x), in [0, pi]
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.arccos))


class Atan(Unary, name="atan"):
    """Inverse tangent in radians. ONNX Atan.

    result = arctan(x), in [-pi / 2, pi / 2]
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.arctan))


class Sinh(Unary, name="sinh"):
    """Hyperbolic sine. ONNX Sinh.

    result = (exp(x) - exp(-x)) / 2
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.sinh))


class Cosh(Unary, name="cosh"):
    """Hyperbolic cosine. ONNX Cosh.

    result = (exp(x) + exp(-x)) / 2
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.cosh))


class Tanh(Unary, name="tanh"):
    """Hyperbolic tangent. ONNX Tanh.

    result = sinh(x) / cosh(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.tanh))


class Asinh(Unary, name="asinh"):
    """Inverse hyperbolic sine. ONNX Asinh.

    result = arcsinh(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.arcsinh))


class Acosh(Unary, name="acosh"):
    """Inverse hyperbolic cosine; NaN below 1. ONNX Acosh.

    result = arccosh(x), at least 0
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.arccosh))


class Atanh(Unary, name="atanh"):
    """Inverse hyperbolic tangent; NaN outside [-1, 1]. ONNX Atanh.

    result = arctanh(x)
    """

    accepts = FLOATS
    reference = staticmethod(wide(np.arctanh))

"""What becomes of the scores of models: transforms, and the labels of the best."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.ml.inputs import as_dtype, refuse_strings
from dlc.frontends.onnx.node import NodeContext

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_TINY = 1e-7
"""Scores up to here count as zeros for SOFTMAX_ZERO."""
_WINITZKI = 0.147
"""The constant of Winitzki's approximation of the inverse error function (2008)."""


def transform_of(node: NodeContext) -> str:
    """The node's `post_transform` by name; ai.onnx.ml 5 has numbers."""
    given = node.attribute("post_transform", "NONE")
    found = TRANSFORMS[given] if isinstance(given, int) and 0 <= given < len(TRANSFORMS) else given
    if found not in TRANSFORMS:
        node.unsupported(f"post_transform {given} is not one of {', '.join(TRANSFORMS)}")
    return str(found)


def transformed_targets(node: NodeContext, scores: ir.Value) -> ir.Value:
    """Results of a regression [rows, targets] after the node's transform.

    For a single target LOGISTIC and SOFTMAX are refused: onnxruntime leaves the numbers as they are there, against the standard.
    """
    transform = transform_of(node)
    if type_of_value(scores).shape[1] == 1 and transform not in ("NONE", "PROBIT"):
        node.unsupported(f"post_transform {transform} of a single target is not supported; give NONE, and an op for it behind")
    return transformed(scores, transform)


def transformed(scores: ir.Value, transform: str) -> ir.Value:
    """Scores [rows, classes] after `transform`, which SOFTMAX forms apply to each row."""
    if transform == "SOFTMAX":
        return dl.softmax(scores, axis=1)
    if transform == "LOGISTIC":
        return dl.sigmoid(scores)
    if transform == "SOFTMAX_ZERO":
        return _softmax_zero(scores)
    return _probit(scores) if transform == "PROBIT" else scores


def _softmax_zero(scores: ir.Value) -> ir.Value:
    """Softmax in which zeros weigh nothing: they stay zeros."""
    largest = dl.reduce_max(scores, axes=[1], keepdims=True)
    is_zero = dl.less_equal(dl.abs(scores), _number(scores, _TINY))
    weights = dl.where(is_zero, dl.mul(scores, dl.exp(dl.neg(largest))), dl.exp(dl.sub(scores, largest)))
    total = dl.reduce_sum(weights, axes=[1], keepdims=True)
    return dl.where(dl.equal(total, _number(scores, 0.0)), _number(scores, 0.5), dl.div(weights, total))


def _probit(scores: ir.Value) -> ir.Value:
    """The quantile of the normal distribution, by the approximation that ONNX's implementations share."""
    x = dl.sub(dl.mul(scores, _number(scores, 2.0)), _number(scores, 1.0))
    rest = dl.mul(dl.sub(_number(x, 1.0), x), dl.add(_number(x, 1.0), x))
    log = dl.log(rest)
    half = dl.add(_number(x, 2 / (math.pi * _WINITZKI)), dl.mul(log, _number(x, 0.5)))
    root = dl.sqrt(dl.sub(dl.mul(half, half), dl.mul(log, _number(x, 1 / _WINITZKI))))
    found = dl.mul(dl.mul(dl.sign(x), dl.sqrt(dl.sub(root, half))), _number(x, 1.41421356))
    return dl.where(dl.equal(rest, _number(x, 0.0)), _number(x, 0.0), found)


@dataclass(frozen=True)
class Labels:
    """The integers that a classifier names its classes by."""

    values: np.ndarray

    @staticmethod
    def of(node: NodeContext, name: str) -> Labels:
        """Those of the attribute `name`; texts are refused."""
        refuse_strings(node, "classlabels_strings")
        return Labels(np.asarray(node.attribute(name) or [], np.int64))

    @property
    def count(self) -> int:
        """Number of classes."""
        return len(self.values)

    def best(self, node: NodeContext, scores: ir.Value) -> ir.Value:
        """The label of the first of the largest scores of each row."""
        places = dl.arg_max(scores, axis=1, keepdims=False)
        if not self.count or np.array_equal(self.values, np.arange(self.count)):
            return places
        return dl.gather(node.new_param(self.values, f"{node.node.output[0]}_labels"), places, axis=0)

    def either(self, node: NodeContext, is_second: ir.Value) -> ir.Value:
        """The second label where a list of i1 holds, else the first."""
        first, second = (node.constant_value(int(value), "i64") for value in self.values)
        return dl.where(is_second, second, first)


def both_sides(score: ir.Value, transform: str, is_share: bool) -> ir.Value:
    """Scores of two classes [rows, 2] from the one that a model gives: the second one's share of 1, or a number with a sign.

    As onnxruntime does, which the standard leaves open: of the transforms, LOGISTIC alone applies.
    """
    if transform == "LOGISTIC":
        return dl.sigmoid(dl.concat(dl.neg(score), score, axis=1))
    other = dl.sub(_number(score, 1.0), score) if is_share else dl.neg(score)
    return dl.concat(other, score, axis=1)


def positive(scores: ir.Value, threshold: float) -> ir.Value:
    """Whether the last score of each row is greater than `threshold`, as a list of i1."""
    last = dl.slice(scores, starts=[-1], ends=[2**62], axes=[1], steps=[1])
    return dl.squeeze(dl.less(_number(scores, threshold), last), axes=[1])


def _number(like: ir.Value, value: float) -> ir.Value:
    return dl.constant(value=NUMPY_DTYPES[type_of_value(like).dtype].type(value))


def as_f32(scores: ir.Value) -> ir.Value:
    """Scores in the type that the ops of ai.onnx.ml 1 to 3 give."""
    return as_dtype(scores, "f32")

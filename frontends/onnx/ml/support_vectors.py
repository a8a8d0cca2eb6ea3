"""Importers of support vectors: products of kernels with coefficients."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.ml.coefficients import added, matrix
from dlc.frontends.onnx.ml.inputs import DOMAIN, as_dtype, num_features, rows
from dlc.frontends.onnx.ml.scores import Labels, both_sides, transform_of, transformed, transformed_targets
from dlc.frontends.onnx.node import NodeContext

_LEAST_CHANCE = 1e-7
"""Probabilities of a pair stay so far from 0 and 1."""


@dataclass(frozen=True)
class _Kernel:
    """What compares rows with support vectors, by the node's attributes."""

    node: NodeContext
    kind: str
    gamma: float
    offset: float
    degree: float

    @staticmethod
    def of(node: NodeContext) -> _Kernel:
        kind = node.attribute("kernel_type", "LINEAR")
        if kind not in ("LINEAR", "POLY", "RBF", "SIGMOID"):
            node.unsupported(f"kernel_type {kind} is not one of LINEAR, POLY, RBF, SIGMOID")
        numbers = node.attribute("kernel_params") or [0.0, 0.0, 0.0]
        if len(numbers) != 3:
            node.unsupported(f"kernel_params has {len(numbers)} numbers instead of gamma, coef0 and degree")
        return _Kernel(node, kind, *(float(number) for number in numbers))

    def compared(self, x: ir.Value, vectors: ir.Value) -> ir.Value:
        """The kernel of each row of x and each column of `vectors`."""
        products = dl.matmul(x, vectors)
        if self.kind == "LINEAR":
            return products
        if self.kind == "RBF":
            return dl.exp(dl.mul(self._distances(x, vectors, products), self._number(x, -self.gamma)))
        shifted = dl.add(dl.mul(products, self._number(x, self.gamma)), self._number(x, self.offset))
        return dl.tanh(shifted) if self.kind == "SIGMOID" else dl.pow(shifted, self._number(x, self.degree))

    def _distances(self, x: ir.Value, vectors: ir.Value, products: ir.Value) -> ir.Value:
        """Squared distances |x|^2 - 2 x v + |v|^2, which rounding may not make negative."""
        lengths = dl.reduce_sum(dl.mul(x, x), axes=[1], keepdims=True)
        others = dl.reduce_sum(dl.mul(vectors, vectors), axes=[0], keepdims=True)
        return dl.max(dl.sub(dl.add(lengths, others), dl.mul(products, self._number(x, 2.0))), self._number(x, 0.0))

    def _number(self, like: ir.Value, value: float) -> ir.Value:
        return self.node.constant_value(value, type_of_value(like).dtype)


@importer("SVMRegressor", domain=DOMAIN)
def import_svm_regressor(node: NodeContext) -> ir.Value:
    """Kernels times coefficients plus rho, or x times coefficients where there are no support vectors; its sign for one class."""
    x, count = as_dtype(rows(node), "f32"), int(node.attribute("n_supports", 0))
    features = num_features(node, x)
    if count:
        x = _Kernel.of(node).compared(x, matrix(node, "support_vectors", x, count, features))
    scores = added(node, dl.matmul(x, matrix(node, "coefficients", x, 1, count or features)), "rho", 1)
    if node.attribute("one_class", 0):
        one, other = (node.constant_value(value, "f32") for value in (1.0, -1.0))
        return dl.where(dl.less(node.constant_value(0.0, "f32"), scores), one, other)
    return transformed_targets(node, scores)


@importer("SVMClassifier", domain=DOMAIN)
def import_svm_classifier(node: NodeContext) -> list[ir.Value]:
    """Each pair of classes gives its winner a vote, and the most votes win. The second output holds the scores of the pairs.

    Two classes have a score each: as onnxruntime does, of opposite signs, or probabilities (Platt, 1999).
    """
    labels, x = Labels.of(node, "classlabels_ints"), as_dtype(rows(node), "f32")
    sizes = [int(size) for size in node.attribute("vectors_per_class") or []]
    if labels.count < 2 or len(sizes) != labels.count:
        node.unsupported(f"support vectors of {len(sizes)} classes for {labels.count} labels are not supported")
    if min(sizes) < 0:
        node.unsupported(f"vectors_per_class has {min(sizes)}, which is no number of vectors; give 0 or more")
    kernels = _Kernel.of(node).compared(x, matrix(node, "support_vectors", x, sum(sizes), num_features(node, x)))
    pairs = list(itertools.combinations(range(len(sizes)), 2))
    table = node.new_param(_pair_coefficients(node, sizes, pairs), f"{node.node.output[-1]}_pairs")
    scores, transform = added(node, dl.matmul(kernels, table), "rho", len(pairs)), transform_of(node)
    wins = dl.less(node.constant_value(0.0, "f32"), scores)
    if len(sizes) == 2:
        label = labels.either(node, dl.squeeze(dl.not_(wins), axes=[1]))
        return [label, _of_two(node, scores, transform)]
    if node.attribute("prob_a"):
        node.unsupported("probabilities (prob_a) of more than two classes are not supported; they take an iteration for each row")
    signs = np.zeros((len(pairs), len(sizes)), np.float32)
    for at, (one, other) in enumerate(pairs):
        signs[at, one], signs[at, other] = 1, -1
    lost = node.constant_value((signs < 0).sum(0).astype(np.float32))
    votes = dl.add(dl.matmul(dl.cast(wins, to="f32"), node.new_param(signs, f"{node.node.output[-1]}_signs")), lost)
    return [labels.best(node, votes), transformed(scores, transform)]


def _of_two(node: NodeContext, score: ir.Value, transform: str) -> ir.Value:
    """The scores of two classes from that of their pair."""
    slopes, offsets = node.attribute("prob_a"), node.attribute("prob_b")
    if slopes or offsets:
        counts = [len(given or []) for given in (slopes, offsets)]
        if counts != [1, 1]:
            node.unsupported(
                f"prob_a and prob_b have {counts[0]} and {counts[1]} numbers; the one pair of two classes takes one each"
            )
        chance = dl.sigmoid(
            dl.neg(dl.add(dl.mul(score, node.constant_value(slopes[0], "f32")), node.constant_value(offsets[0], "f32")))
        )
        chance = dl.clip(chance, low=_LEAST_CHANCE, high=1 - _LEAST_CHANCE)
        other = dl.sub(node.constant_value(1.0, "f32"), chance)
        return transformed(dl.concat(chance, other, axis=1), transform)
    if transform not in ("NONE", "LOGISTIC"):
        node.unsupported(f"post_transform {transform} has no clear meaning for the one score of two classes")
    return both_sides(score, transform, is_share=False)


def _pair_coefficients(node: NodeContext, sizes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> np.ndarray:
    """[vectors, pairs]: what each support vector weighs in the score of each pair."""
    total = sum(sizes)
    given = np.asarray(node.attribute("coefficients") or [], np.float32)
    if given.size != (len(sizes) - 1) * total:
        node.unsupported(f"coefficients has {given.size} numbers, but {len(sizes) - 1} times {total} are needed")
    coefficients = given.reshape(len(sizes) - 1, total)
    ends = np.cumsum(sizes)
    spans = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    table = np.zeros((total, len(pairs)), np.float32)
    for at, (one, other) in enumerate(pairs):
        table[spans[one], at] = coefficients[other - 1, spans[one]]
        table[spans[other], at] = coefficients[one, spans[other]]
    return table

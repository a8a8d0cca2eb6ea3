"""Importers of linear models: products of features with coefficients."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.ml.coefficients import added, matrix
from dlc.frontends.onnx.ml.inputs import DOMAIN, num_features, rows
from dlc.frontends.onnx.ml.scores import Labels, as_f32, transform_of, transformed, transformed_targets
from dlc.frontends.onnx.node import NodeContext


@importer("LinearRegressor", domain=DOMAIN)
def import_linear_regressor(node: NodeContext) -> ir.Value:
    """x times the coefficients of each target, plus its intercept; as f32."""
    x, targets = rows(node), int(node.attribute("targets", 1))
    scores = dl.matmul(x, matrix(node, "coefficients", x, targets, num_features(node, x)))
    return as_f32(transformed_targets(node, added(node, scores, "intercepts", targets)))


@importer("LinearClassifier", domain=DOMAIN)
def import_linear_classifier(node: NodeContext) -> list[ir.Value]:
    """Labels of the best scores, and all scores after the transform; one list of coefficients decides between two classes."""
    labels, x, transform = Labels.of(node, "classlabels_ints"), rows(node), transform_of(node)
    features = num_features(node, x)
    count = len(node.attribute("coefficients") or []) // max(features, 1)
    if count not in (1, labels.count) or labels.count < 2:
        node.unsupported(f"coefficients of {count} scores for {labels.count} classes are not supported")
    scores = added(node, dl.matmul(x, matrix(node, "coefficients", x, count, features)), "intercepts", count)
    if count == 1:
        scores = dl.concat(dl.neg(scores), scores, axis=1)
    return [labels.best(node, scores), as_f32(transformed(scores, transform))]

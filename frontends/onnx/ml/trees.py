"""Importers of ensembles of trees: `dl.tree_walk` finds a leaf in each tree, then the votes of the leaves are combined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.ml.inputs import DOMAIN, num_features, refuse_strings, rows, tensor_or_list
from dlc.frontends.onnx.ml.scores import Labels, as_f32, both_sides, positive, transform_of, transformed, transformed_targets
from dlc.frontends.onnx.ml.tree_nodes import Ensemble, ensemble_of_leaves, ensemble_of_nodes
from dlc.frontends.onnx.ml.tree_tables import MalformedTreeError, TreeTables
from dlc.frontends.onnx.node import NodeContext

_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


@importer("TreeEnsemble", domain=DOMAIN)
def import_tree_ensemble(node: NodeContext) -> ir.Value:
    """Each leaf votes for one target; the result has the type of the input."""
    forest = _Forest.of(node, ensemble_of_leaves(node))
    which = int(node.attribute("aggregate_function", 1))
    if not 0 <= which < len(_AGGREGATES):
        node.unsupported(f"aggregate_function {which} is not one of 0 to {len(_AGGREGATES) - 1}")
    return transformed_targets(node, forest.aggregated(_AGGREGATES[which]))


@importer("TreeEnsembleRegressor", domain=DOMAIN)
def import_tree_ensemble_regressor(node: NodeContext) -> ir.Value:
    """Leaves vote for any number of targets; base values are added to what the votes give."""
    how = node.attribute("aggregate_function", "SUM")
    if how not in _AGGREGATES:
        node.unsupported(f"aggregate_function {how} is not one of {', '.join(_AGGREGATES)}")
    count = int(node.attribute("n_targets", 0) or 0)
    forest = _Forest.of(node, ensemble_of_nodes(node, "target", count))
    return as_f32(transformed_targets(node, forest.with_base(forest.aggregated(how))))


@importer("TreeEnsembleClassifier", domain=DOMAIN)
def import_tree_ensemble_classifier(node: NodeContext) -> list[ir.Value]:
    """The label with the best score before the transform, and all scores after it."""
    refuse_strings(node, "classlabels_strings")
    labels, transform = Labels.of(node, "classlabels_int64s"), transform_of(node)
    ensemble = ensemble_of_nodes(node, "class", labels.count)
    forest = _Forest.of(node, ensemble)
    if labels.count < 2:
        node.unsupported(f"{labels.count} class labels are not supported; give one for each class")
    classes = set(node.attribute("class_ids") or [])
    if labels.count > 2 or len(classes) != 1:
        scores = forest.with_base(forest.aggregated("SUM"))
        return [labels.best(node, scores), as_f32(transformed(scores, transform))]
    is_share = all(weight >= 0 for *_, weight in ensemble.entries)
    score, scores = _scores_of_two(forest, next(iter(classes)), transform, is_share)
    return [labels.either(node, positive(score, 0.5 if is_share else 0.0)), as_f32(scores)]


def _scores_of_two(forest: _Forest, voted: int, transform: str, is_share: bool) -> tuple[ir.Value, ir.Value]:
    """The score that decides between two classes where all votes are for one of them, and both scores after the transform.

    As onnxruntime does, which the standard leaves open: votes for class 1 leave class 0 with a score of 0, votes for class 0
    are what class 1 has more.
    """
    base = tensor_or_list(forest.node, "base_values")
    if base is not None and (voted == 1 or len(base) != 1):
        forest.node.unsupported(f"{len(base)} base values have no clear meaning where all votes are for class {voted} of two")
    score = forest.with_base(forest.aggregated("SUM", voted))
    if voted == 1:
        return score, transformed(dl.pad(score, forest.number(0.0), low=[0, 1], high=[0, 0]), transform)
    if transform == "PROBIT":
        forest.node.unsupported("post_transform PROBIT has no clear meaning where all votes are for class 0 of two")
    return score, both_sides(score, transform, is_share)


@dataclass(frozen=True)
class _Forest:
    """The ensemble of a node, and the input that it looks at."""

    node: NodeContext
    ensemble: Ensemble
    x: ir.Value

    @staticmethod
    def of(node: NodeContext, ensemble: Ensemble) -> _Forest:
        if ensemble.shape[1] < 1 or not ensemble.roots:
            node.unsupported("an ensemble without trees or without targets is not supported")
        return _Forest(node, ensemble, rows(node))

    @property
    def dtype(self) -> str:
        """The element type of the numbers that splits are compared with."""
        return type_of_value(self.x).dtype

    def aggregated(self, how: str, only: int | None = None) -> ir.Value:
        """What the votes give, [rows, targets], or [rows, 1] for the target `only`; before base values."""
        start, combine = {"MIN": (np.inf, np.minimum), "MAX": (-np.inf, np.maximum)}.get(how, (0.0, np.add))
        votes = self.ensemble.votes(combine)
        votes = votes if only is None else votes[:, only : only + 1]
        found = self._reduced(np.where(np.isnan(votes), start, votes), how)
        if how == "AVERAGE":
            return dl.div(found, self.number(len(self.ensemble.roots)))
        if start == 0 or not np.isnan(votes).any():
            return found
        return dl.where(dl.equal(found, self.number(start)), self.number(0.0), found)

    def with_base(self, scores: ir.Value) -> ir.Value:
        """Scores with the base values added: one a target, or one for all."""
        base = tensor_or_list(self.node, "base_values")
        if base is None:
            return scores
        count = type_of_value(scores).shape[1]
        if len(base) not in (1, count):
            self.node.unsupported(f"{len(base)} base values do not fit {count} targets")
        return dl.add(scores, self.node.constant_value(base, self.dtype))

    def _reduced(self, votes: np.ndarray, how: str) -> ir.Value:
        """Votes of the leaves that are reached, over all trees."""
        reduce = {"MIN": dl.reduce_min, "MAX": dl.reduce_max}.get(how, dl.reduce_sum)
        tables, nodes = self._walked()
        row, dtype = np.asarray(tables.row), NUMPY_DTYPES[self.dtype]
        if votes.shape[1] == 1:
            by_node = self._param(votes[row, 0].astype(dtype), "votes")
            return reduce(dl.gather(by_node, nodes, axis=0), axes=[1], keepdims=True)
        leaves = dl.gather(self._param(row.astype(np.int32), "leaves"), nodes, axis=0)
        found: ir.Value = reduce(dl.gather(self._param(votes.astype(dtype), "votes"), leaves, axis=0), axes=[1])
        return found

    def _walked(self) -> tuple[TreeTables, ir.Value]:
        """The tables, and the node that each row comes to in each tree."""
        dtype, count = np.dtype(NUMPY_DTYPES[self.dtype]), num_features(self.node, self.x)
        try:
            tables = TreeTables(self.ensemble.decisions, count, dtype)
            for root in self.ensemble.roots:
                tables.add(root)
            arrays = tables.arrays()
        except MalformedTreeError as error:
            self.node.unsupported(f"the trees are malformed: {error}")
        x = dl.concat(self.x, dl.neg(self.x), axis=1) if max(tables.feature) >= count else self.x
        return tables, arrays.walk(self.node, x)

    def _param(self, array: np.ndarray, name: str) -> ir.Value:
        return self.node.new_param(array, f"{next(each for each in self.node.node.output if each)}_{name}")

    def number(self, value: float) -> ir.Value:
        """A scalar of the forest's element type."""
        return self.node.constant_value(value, self.dtype)

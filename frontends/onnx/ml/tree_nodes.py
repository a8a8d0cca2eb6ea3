"""The trees of a node as decisions and votes of leaves, from the attributes of each of the three ops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlc.frontends.onnx.ml.inputs import tensor_or_list
from dlc.frontends.onnx.ml.tree_tables import Decision, TreeLeaf
from dlc.frontends.onnx.node import NodeContext

_MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
Vote = tuple[int, int, float]
"""A leaf's row, a target, and the weight."""


@dataclass(frozen=True)
class Ensemble:
    """Trees by their roots, and votes of `shape[0]` leaves for `shape[1]` targets."""

    decisions: Sequence[Decision]
    roots: Sequence[int | TreeLeaf]
    entries: Sequence[Vote]
    shape: tuple[int, int]

    def votes(self, combine: np.ufunc) -> np.ndarray:
        """[leaves, targets], with the votes of one leaf for one target combined by `combine`, and NaN where there are none."""
        found = np.full(self.shape, np.nan)
        for row, target, weight in self.entries:
            have = found[row, target]
            found[row, target] = weight if np.isnan(have) else combine(have, weight)
        return found


def ensemble_of_leaves(node: NodeContext) -> Ensemble:
    """TreeEnsemble of ai.onnx.ml 5: decisions and leaves are lists of their own."""
    weights = np.asarray(node.attribute("leaf_weights")).reshape(-1)
    targets = node.attribute("leaf_targetids")
    count = int(node.attribute("n_targets", 0) or 0)
    entries = [(row, int(target), float(weight)) for row, (target, weight) in enumerate(zip(targets, weights, strict=True))]
    _check_targets(node, entries, count)
    decisions = _decisions_of_leaves(node, len(entries))
    roots = [_root(node, decisions, int(root)) for root in node.attribute("tree_roots")]
    return Ensemble(decisions, roots, entries, (max(len(entries), 1), count))


def _root(node: NodeContext, decisions: Sequence[Decision], root: int) -> int | TreeLeaf:
    """A root both of whose sides are one leaf is that leaf."""
    if not 0 <= root < len(decisions):
        node.unsupported(f"tree_roots has {root}, which is no node")
    decision = decisions[root]
    return decision.yes if isinstance(decision.yes, TreeLeaf) and decision.yes == decision.no else root


def _decisions_of_leaves(node: NodeContext, num_leaves: int) -> list[Decision]:
    features = node.attribute("nodes_featureids")
    modes, splits = (np.asarray(node.attribute(name)).reshape(-1) for name in ("nodes_modes", "nodes_splits"))
    missing = node.attribute("nodes_missing_value_tracks_true") or [0] * len(features)
    sides = [_sides(node, side, num_leaves) for side in ("true", "false")]
    sets = iter(_member_sets(node))
    found = []
    for feature, mode, split, yes, no, takes in zip(features, modes, splits, *sides, missing, strict=True):
        if not 0 <= mode < len(_MODES):
            node.unsupported(f"nodes_modes has {mode}, which is none of 0 to {len(_MODES) - 1}")
        members = next(sets, None) if _MODES[mode] == "MEMBER" else ()
        if members is None:
            node.unsupported("membership_values has fewer sets than there are nodes of that mode")
        found.append(Decision(int(feature), _MODES[mode], float(split), yes, no, bool(takes), members))
    if next(sets, None) is not None:
        node.unsupported("membership_values has more sets than there are nodes of that mode")
    return found


def _sides(node: NodeContext, side: str, num_leaves: int) -> list[int | TreeLeaf]:
    """Where each decision leads on one side."""
    ids, is_leaf = node.attribute(f"nodes_{side}nodeids"), node.attribute(f"nodes_{side}leafs")
    for at, leaf in zip(ids, is_leaf, strict=True):
        if leaf and not 0 <= at < num_leaves:
            node.unsupported(f"nodes_{side}nodeids has leaf {at}, but there are {num_leaves}")
    return [TreeLeaf(int(at)) if leaf else int(at) for at, leaf in zip(ids, is_leaf, strict=True)]


def _member_sets(node: NodeContext) -> list[tuple[float, ...]]:
    """The sets of MEMBER nodes, which NaN ends."""
    values = node.attribute("membership_values")
    flat = np.asarray(values, np.float64).reshape(-1) if values is not None else np.zeros(0)
    ends = np.flatnonzero(np.isnan(flat))
    starts = [0, *(ends[:-1] + 1)] if len(ends) else []
    return [tuple(flat[start:end].tolist()) for start, end in zip(starts, ends, strict=True)]


def ensemble_of_nodes(node: NodeContext, votes: str, count: int) -> Ensemble:
    """TreeEnsembleRegressor (`votes` is target) and TreeEnsembleClassifier (class): nodes of each tree, leaves among them."""
    names = {name: node.attribute(f"nodes_{name}") or [] for name in ("treeids", "nodeids", "featureids", "modes")}
    keys = list(zip(names["treeids"], names["nodeids"], strict=True))
    places = {key: at for at, key in enumerate(keys)}
    if len(places) != len(keys):
        node.unsupported("a tree has two nodes of one number")
    is_leaf = [mode == "LEAF" for mode in names["modes"]]

    def to(tree: int, number: int) -> int | TreeLeaf:
        at = places.get((tree, number))
        if at is None:
            node.unsupported(f"node {number} of tree {tree} does not exist")
        return TreeLeaf(at) if is_leaf[at] else at

    decisions = _decisions_of_nodes(node, names, to)
    targets = node.attribute(f"{votes}_ids") or []
    weights = tensor_or_list(node, f"{votes}_weights")
    owners = zip(node.attribute(f"{votes}_treeids") or [], node.attribute(f"{votes}_nodeids") or [], strict=True)
    entries = [
        (places.get(owner, -1), int(target), float(weight))
        for owner, target, weight in zip(owners, targets, [] if weights is None else weights, strict=True)
    ]
    _check_targets(node, entries, count)
    return Ensemble(decisions, _roots(node, decisions, is_leaf, names["treeids"]), entries, (max(len(keys), 1), count))


def _decisions_of_nodes(node: NodeContext, names: dict[str, list[Any]], to: Any) -> list[Decision]:
    """One for each node; those of leaves lead nowhere and are not asked for."""
    splits = tensor_or_list(node, "nodes_values")
    splits = np.zeros(len(names["modes"]), np.float32) if splits is None else splits
    missing = node.attribute("nodes_missing_value_tracks_true") or [0] * len(splits)
    sides = [node.attribute(f"nodes_{side}nodeids") or [] for side in ("true", "false")]
    found = []
    columns = (names["treeids"], names["featureids"], names["modes"], splits, *sides, missing)
    for tree, feature, mode, split, yes, no, takes in zip(*columns, strict=True):
        if mode == "LEAF":
            found.append(Decision(0, "LEQ", 0.0, TreeLeaf(0), TreeLeaf(0)))
            continue
        kind = str(mode).removeprefix("BRANCH_")
        if kind not in _MODES[:-1]:
            node.unsupported(f"nodes_modes has {mode}, which is no comparison")
        found.append(Decision(int(feature), kind, float(split), to(tree, yes), to(tree, no), bool(takes)))
    return found


def _roots(node: NodeContext, decisions: Sequence[Decision], is_leaf: Sequence[bool], trees: Sequence[int]) -> list[int | TreeLeaf]:
    """The one node of each tree that no other one leads to."""
    led_to = set()
    for at, decision in enumerate(decisions):
        if not is_leaf[at]:
            led_to |= {_place(decision.yes), _place(decision.no)}
    found: dict[int, list[int]] = {tree: [] for tree in trees}
    for at, tree in enumerate(trees):
        if at not in led_to:
            found[tree].append(at)
    for tree, starts in found.items():
        if len(starts) != 1:
            node.unsupported(f"tree {tree} has {len(starts)} nodes that no other node leads to, but must have one: its root")
    _check_reached(node, decisions, is_leaf, [at for (at,) in found.values()])
    return [TreeLeaf(at) if is_leaf[at] else at for (at,) in found.values()]


def _check_reached(node: NodeContext, decisions: Sequence[Decision], is_leaf: Sequence[bool], roots: Sequence[int]) -> None:
    """Refuse nodes that no root leads to: all that others lead to without a root are in cycles, or behind one."""
    reached: set[int] = set()
    waiting = list(roots)
    while waiting:
        at = waiting.pop()
        if at not in reached and not is_leaf[at]:
            waiting += [_place(decisions[at].yes), _place(decisions[at].no)]
        reached.add(at)
    if len(reached) < len(decisions):
        lost = len(decisions) - len(reached)
        node.unsupported(f"{lost} nodes are not reached from the root of their tree: they lead to each other")


def _place(side: int | TreeLeaf) -> int:
    """The node on a side of a decision."""
    return side.row if isinstance(side, TreeLeaf) else side


def _check_targets(node: NodeContext, entries: Sequence[Vote], count: int) -> None:
    for row, target, _ in entries:
        if row < 0 or not 0 <= target < count:
            node.unsupported(f"a vote for target {target} is of no node, or of none of {count} targets")

"""Ensembles of trees against onnxruntime, and against decisions made one by one."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_check import check_backend_cases, compare
from reference_session import reference_session

import dlc

_ML = "ai.onnx.ml"
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "BRANCH_LEQ": operator.le,
    "BRANCH_LT": operator.lt,
    "BRANCH_GTE": operator.ge,
    "BRANCH_GT": operator.gt,
    "BRANCH_EQ": operator.eq,
    "BRANCH_NEQ": operator.ne,
}
_MODES = list(_COMPARISONS)
_FEATURES = 5


def _forest(generator: np.random.Generator, trees: int, depth: int, modes: list[str], missing: bool) -> dict[str, list[Any]]:
    """Attributes nodes_* of complete and incomplete trees, and the (tree, node) pairs of the leaves under `leaves`."""
    found: dict[str, list[Any]] = {
        key: [] for key in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "leaves")
    }
    found["missing_value_tracks_true"] = []
    for tree in range(trees):
        waiting, count = [(0, 0)], 1
        while waiting:
            node, level = waiting.pop(0)
            is_leaf = level == depth or (level > 0 and generator.uniform() < 0.15)
            below = (0, 0) if is_leaf else (count, count + 1)
            row = (tree, node, int(generator.integers(_FEATURES)), float(generator.integers(-2, 3)))
            for key, value in zip(("treeids", "nodeids", "featureids", "values"), row, strict=True):
                found[key].append(value)
            found["modes"].append("LEAF" if is_leaf else modes[int(generator.integers(len(modes)))])
            found["truenodeids"].append(below[0])
            found["falsenodeids"].append(below[1])
            found["missing_value_tracks_true"].append(int(missing and not is_leaf and generator.uniform() < 0.5))
            if is_leaf:
                found["leaves"].append((tree, node))
            else:
                waiting += [(at, level + 1) for at in below]
                count += 2
    return found


def _model(
    op: str, attributes: dict[str, Any], outputs: list[tuple[str, int]], kind: int = TensorProto.FLOAT, opset: int = 3
) -> Any:
    given = {key: value for key, value in attributes.items() if value is not None}
    node = helper.make_node(op, ["x"], [name for name, _ in outputs], domain=_ML, **given)
    graph = helper.make_graph(
        [node],
        "trees",
        [helper.make_tensor_value_info("x", kind, ["rows", _FEATURES])],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(_ML, opset)], ir_version=10)


def _rows(dtype: Any = np.float32, rows: int = 33, with_nan: bool = True) -> np.ndarray:
    x = np.random.default_rng(1).integers(-3, 4, (rows, _FEATURES)).astype(dtype)
    if with_nan and x.dtype.kind == "f":
        x[np.random.default_rng(2).uniform(size=x.shape) < 0.2] = np.nan
    return x


def _check(model: onnx.ModelProto, x: np.ndarray) -> None:
    session = reference_session(model)
    compiled = dlc.compile(model)
    for part in (x, x[:1]):
        for have, want in zip(compiled({"x": part}), session.run(None, {"x": part}), strict=True):
            compare(have, np.asarray(want), "y")


def _regressor(
    generator: np.random.Generator, targets: int, every: bool = False, modes: list[str] | None = None, **more: Any
) -> Any:
    nodes = _forest(generator, 7, more.pop("depth", 4), modes or ["BRANCH_LEQ"], more.pop("missing", False))
    leaves = nodes.pop("leaves")
    votes = [(*leaf, target) for leaf in leaves for target in (range(targets) if every else [int(generator.integers(targets))])]
    return _model(
        "TreeEnsembleRegressor",
        {f"nodes_{key}": value for key, value in nodes.items()}
        | {f"target_{key}": [vote[at] for vote in votes] for at, key in enumerate(("treeids", "nodeids", "ids"))}
        | {"target_weights": generator.standard_normal(len(votes)).tolist(), "n_targets": targets}
        | more,
        [("y", TensorProto.FLOAT)],
    )


def test_package() -> None:
    assert check_backend_cases("TreeEnsemble") == 2


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("mode", _MODES)
def test_comparisons(mode: str, missing: bool) -> None:
    """onnxruntime has a path of its own for trees whose nodes all compare alike."""
    _check(_regressor(np.random.default_rng(len(mode)), 1, modes=[mode], missing=missing), _rows())


def test_mixed_comparisons() -> None:
    _check(_regressor(np.random.default_rng(3), 2, modes=_MODES, missing=True, depth=6), _rows())


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("how", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
def test_aggregates(how: str, targets: int) -> None:
    base = [0.5, -1.0, 2.0][:targets]
    _check(_regressor(np.random.default_rng(5), targets, aggregate_function=how, base_values=base, every=True), _rows())


@pytest.mark.parametrize("transform", ["SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"])
def test_transforms(transform: str) -> None:
    model = _regressor(np.random.default_rng(6), 3, every=True, post_transform=transform)
    if transform == "PROBIT":
        weights = next(entry for entry in model.graph.node[0].attribute if entry.name == "target_weights")
        weights.floats[:] = [abs(value) / 40 for value in weights.floats]
    _check(model, _rows())


def test_deep_trees_take_several_ops() -> None:
    """A chain of 40 decisions."""
    count = 40
    nodes = {
        "treeids": [0] * (2 * count + 1),
        "nodeids": list(range(2 * count + 1)),
        "featureids": [at % _FEATURES for at in range(2 * count + 1)],
        "values": [-3.5 + at * 0.1 for at in range(2 * count + 1)],
        "modes": ["LEAF" if at % 2 else "BRANCH_LEQ" for at in range(2 * count)] + ["LEAF"],
        "truenodeids": [0 if at % 2 else at + 1 for at in range(2 * count)] + [0],
        "falsenodeids": [0 if at % 2 else at + 2 for at in range(2 * count)] + [0],
    }
    leaves = [*range(1, 2 * count, 2), 2 * count]
    votes = {"treeids": [0] * len(leaves), "nodeids": leaves, "ids": [0] * len(leaves), "weights": [float(at) for at in leaves]}
    attributes = {f"nodes_{key}": value for key, value in nodes.items()} | {f"target_{key}": value for key, value in votes.items()}
    x = np.random.default_rng(1).uniform(-3.5, 1.0, (33, _FEATURES)).astype(np.float32)
    _check(_model("TreeEnsembleRegressor", attributes | {"n_targets": 1}, [("y", TensorProto.FLOAT)]), x)


@pytest.mark.parametrize(
    ("kind", "dtype"), [(TensorProto.INT64, np.int64), (TensorProto.INT32, np.int32), (TensorProto.DOUBLE, np.float64)]
)
def test_element_types(kind: int, dtype: Any) -> None:
    """onnxruntime has f32 and f64 alone; integers are compared as f32."""
    model = _regressor(np.random.default_rng(8), 2)
    x = _rows(with_nan=False)
    want = dlc.compile(model)({"x": x})[0]
    model.graph.input[0].type.tensor_type.elem_type = kind
    compare(dlc.compile(model)({"x": x.astype(dtype)})[0], want, "y")


def test_two_classes_with_votes_for_both() -> None:
    """onnxruntime decides by the sign of the second score, and gives 0 or 1 whatever the labels are."""
    model = _classifier(np.random.default_rng(9), [3, 5], [0, 1], "numbers")
    x = _rows(with_nan=False)
    session = reference_session(model)
    label, scores = dlc.compile(model)({"x": x})
    compare(scores, session.run(["scores"], {"x": x})[0], "scores")
    np.testing.assert_array_equal(label, np.where(scores[:, 1] > scores[:, 0], 5, 3))


def _classifier(generator: np.random.Generator, labels: list[int], ids: list[int], weights: str, **more: Any) -> Any:
    nodes = _forest(generator, 7, 3, ["BRANCH_LEQ"], False)
    votes = [(*leaf, target) for leaf in nodes.pop("leaves") for target in ids]
    numbers = generator.uniform(0, 0.2, len(votes)) if weights == "shares" else generator.standard_normal(len(votes))
    return _model(
        "TreeEnsembleClassifier",
        {f"nodes_{key}": value for key, value in nodes.items()}
        | {f"class_{key}": [vote[at] for vote in votes] for at, key in enumerate(("treeids", "nodeids", "ids"))}
        | {"class_weights": numbers.tolist(), "classlabels_int64s": labels}
        | more,
        [("label", TensorProto.INT64), ("scores", TensorProto.FLOAT)],
    )


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("weights", ["shares", "numbers"])
@pytest.mark.parametrize(("labels", "ids"), [([4, 2, 9], [0, 1, 2]), ([0, 1], [1]), ([7, 3], [0])])
def test_classifier(labels: list[int], ids: list[int], weights: str, transform: str) -> None:
    _check(_classifier(np.random.default_rng(9), labels, ids, weights, post_transform=transform), _rows(with_nan=False))


@pytest.mark.parametrize(("labels", "ids", "base"), [([4, 2, 9], [0, 1, 2], [0.5, 0.1, -1.0]), ([7, 3], [0], [0.25])])
def test_base_values_of_classes(labels: list[int], ids: list[int], base: list[float]) -> None:
    _check(_classifier(np.random.default_rng(9), labels, ids, "numbers", base_values=base), _rows(with_nan=False))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_sets_and_missing_numbers(dtype: Any) -> None:
    members = [-3.0, -1.0, 0.0, 1.0, 2.5, 3.0, 9.0]
    x = _rows(dtype)
    have = dlc.compile(_with_sets(dtype, [*members, np.nan]))({"x": x})[0]
    first = np.where(np.isin(x[:, 0], members), 1, 2)
    second = np.where((x[:, 1] <= 0.5) | np.isnan(x[:, 1]), 4, 8)
    np.testing.assert_array_equal(have, np.stack([first, second], 1).astype(dtype))


@pytest.mark.parametrize(("values", "message"), [([], "fewer sets"), ([1.0, np.nan, 2.0, np.nan], "more sets")])
def test_numbers_of_sets(values: list[float], message: str) -> None:
    with pytest.raises(dlc.UnsupportedError, match=f"membership_values has {message} than there are nodes of that mode"):
        dlc.compile(_with_sets(np.float32, values))


def _with_sets(dtype: Any, values: list[float]) -> Any:
    """One tree whose leaf 0 takes the members of a set, another whose leaf 2 takes NaN."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    lists = {"nodes_splits": [0.0, 0.5], "membership_values": values, "leaf_weights": [1.0, 2.0, 4.0, 8.0]}
    attributes: dict[str, Any] = {name: numpy_helper.from_array(np.array(value, dtype), name) for name, value in lists.items()}
    attributes |= {
        "nodes_modes": numpy_helper.from_array(np.array([6, 0], np.uint8), "nodes_modes"),
        "tree_roots": [0, 1],
        "nodes_featureids": [0, 1],
        "nodes_truenodeids": [0, 2],
        "nodes_falsenodeids": [1, 3],
        "nodes_trueleafs": [1, 1],
        "nodes_falseleafs": [1, 1],
        "nodes_missing_value_tracks_true": [0, 1],
        "leaf_targetids": [0, 0, 1, 1],
        "n_targets": 2,
    }
    return _model("TreeEnsemble", attributes, [("y", kind)], kind, 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes_featureids": [9, 0, 0]}, "feature 9 of node 0 is none of 5"),
        ({"nodes_truenodeids": [5, 0, 0]}, "node 5 of tree 0 does not exist"),
        ({"nodes_truenodeids": [0, 0, 0], "nodes_falsenodeids": [0, 0, 0]}, "tree 0 has 2 nodes that no other node leads to"),
        ({"nodes_truenodeids": [0, 0, 0]}, "2 nodes are not reached from the root of their tree: they lead to each other"),
        ({"n_targets": 0}, "of none of 0 targets"),
        ({"nodes_nodeids": [0, 1, 1]}, "a tree has two nodes of one number"),
        ({"nodes_modes": ["BRANCH", "LEAF", "LEAF"]}, "nodes_modes has BRANCH, which is no comparison"),
        ({"target_ids": [0, 3]}, "a vote for target 3"),
        ({"post_transform": "LOGISTIC"}, "post_transform LOGISTIC of a single target is not supported"),
        ({"post_transform": "TWICE"}, "post_transform TWICE is not one of"),
    ],
)
def test_malformed(change: dict[str, Any], message: str) -> None:
    attributes: dict[str, Any] = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights": [1.0, 2.0],
        "n_targets": 1,
    }
    with pytest.raises(dlc.UnsupportedError, match=message):
        dlc.compile(_model("TreeEnsembleRegressor", attributes | change, [("y", TensorProto.FLOAT)]))


def test_texts_that_are_declared_as_numbers_are_refused() -> None:
    model = _classifier(np.random.default_rng(9), [0, 1], [1], "shares")
    entry = next(entry for entry in model.graph.node[0].attribute if entry.name == "classlabels_int64s")
    entry.CopyFrom(helper.make_attribute("classlabels_strings", ["no", "yes"]))
    with pytest.raises(dlc.ParseError, match=r"makes 'label' as string\[.*\] but the model declares i64"):
        dlc.compile(model)

"""Trees: walks from node to node, each step decided by one number of a row."""

import numpy as np

from dlc.dialects.dl.attributes import IntAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.types import FLOATS, TensorType, require, require_equal_dims, require_same_dtype

MOST_LEVELS = 16
"""Steps of one op: they are unrolled. Deeper trees take several ops, which share one kernel."""


class TreeWalk(DLOp, name="tree_walk"):
    """Where walks through binary trees end after some steps. The part of ONNX TreeEnsemble that finds leaves.

    result[n, t] = `levels` times step from nodes[n, t], with step(at) = below[at] + (x[n, feature[at]] <= split[at] ? 1 : 0)

    The two nodes below one are neighbours: the second is taken where the number is not greater than the split, the first where it
    is or is NaN. A leaf names itself as `below`, and its split is NaN. Nodes and features that do not exist are replaced by the
    nearest.

    c1: x is [rows, features], and nodes [rows, trees] or, the same for all rows, [trees].
    c2: feature, split and below are lists of one length.
    c3: x and split have one element type.    c4: levels is from 1 to 16.
    c5: there are features and nodes unless the result is empty.
    """

    fusion_class = "injective"
    accepts = {"x": FLOATS, "nodes": ("i32",), "feature": ("i32",), "split": FLOATS, "below": ("i32",)}
    x: Operand[Tensor]
    nodes: Operand[Tensor]
    feature: Operand[Tensor]
    split: Operand[Tensor]
    below: Operand[Tensor]
    result: Result[Tensor]
    levels = IntAttr(doc="number of steps")

    @staticmethod
    def infer(
        x: TensorType, nodes: TensorType, feature: TensorType, split: TensorType, below: TensorType, *, levels: int
    ) -> TensorType:
        require("c1", x.rank == 2 and nodes.rank in (1, 2), f"x is {x} and nodes {nodes}")
        rows = x.shape[0]
        if nodes.rank == 2:
            rows = require_equal_dims("c1", rows, nodes.shape[0], "the number of rows of x", "that of nodes")
        tables = (feature, split, below)
        sizes = {table.shape[0] for table in tables if table.rank == 1 and isinstance(table.shape[0], int)}
        is_list = all(table.rank == 1 for table in tables) and len(sizes) <= 1
        require("c2", is_list, f"feature is {feature}, split {split} and below {below}")
        require_same_dtype("c3", x=x, split=split)
        require("c4", 1 <= levels <= MOST_LEVELS, f"levels is {levels}")
        result = nodes.with_shape([rows, nodes.shape[-1]])
        require(
            "c5", 0 not in (x.shape[1], *sizes) or 0 in result.shape, f"x is {x} and feature {feature} but the result has elements"
        )
        return result

    @staticmethod
    def reference(
        x: np.ndarray, nodes: np.ndarray, feature: np.ndarray, split: np.ndarray, below: np.ndarray, *, levels: int
    ) -> np.ndarray:
        at = np.broadcast_to(nodes, (x.shape[0], nodes.shape[-1]))
        if at.size == 0:
            return at.copy()
        last = len(feature) - 1
        at = np.clip(at, 0, last)
        for _ in range(levels):
            value = np.take_along_axis(x, np.clip(feature[at], 0, x.shape[1] - 1).astype(np.int64), 1)
            at = np.clip(below[at] + (value <= split[at]), 0, last)
        return at.astype(np.int32)

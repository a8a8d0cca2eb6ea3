"""Select: elements, rows and boxes that are found by their values, so that data decide how many there are."""

from typing import Optional

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, IntAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import widen
from dlc.dialects.dl.types import MOVABLE, TensorType, normalize_axis, require, require_equal_dims


class NonZero(DLOp, name="nonzero"):
    """Where x is not 0. ONNX NonZero.

    result[:, p] = indices of the p-th element of x, row-major, that is not 0; NaN is not 0
    """

    fusion_class = "opaque"
    x: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        return TensorType((x.rank, None), "i64")

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        places = np.flatnonzero(widen(x).reshape(-1))
        if x.ndim == 0:
            return np.empty((0, len(places)), np.int64)
        return np.stack(np.unravel_index(places, x.shape)).astype(np.int64)


class Compress(DLOp, name="compress"):
    """Slices of x along an axis where a condition holds. ONNX Compress.

    result = x with its axis replaced by the places i, in order, where condition[i] holds; a condition that is shorter than
    x is false behind its end

    c1: axis is an axis of x.    c2: condition is a list that is no longer than x along axis.
    """

    fusion_class = "opaque"
    accepts = {"x": MOVABLE, "condition": ("i1",)}
    x: Operand[Tensor]
    condition: Operand[Tensor]
    result: Result[Tensor]
    axis = IntAttr(default=0, doc="axis of x that is selected along; a negative one counts from the end")

    @staticmethod
    def infer(x: TensorType, condition: TensorType, *, axis: int) -> TensorType:
        axis = normalize_axis("c1", axis, x.rank)
        require("c2", condition.rank == 1, f"condition is {condition}, no list")
        count, dim = condition.shape[0], x.shape[axis]
        fits = not isinstance(count, int) or not isinstance(dim, int) or count <= dim
        require("c2", fits, f"condition is {condition} but dim {axis} of x is {dim}")
        return x.with_shape([*x.shape[:axis], None, *x.shape[axis + 1 :]])

    @staticmethod
    def reference(x: np.ndarray, condition: np.ndarray, *, axis: int) -> np.ndarray:
        return np.take(x, np.flatnonzero(condition), axis)


class Unique(DLOp, name="unique"):
    """The different slices of x along an axis. ONNX Unique.

    values = the slices of x along axis that differ from each other, each once: ascending in row-major order of their
    elements (sorted), or in the order in which they come in x. indices[u] = the first i where values' slice u is slice i of
    x; inverse[i] = the u that slice i of x is; counts[u] = how often it is in x. NaN is greater than every number and
    equals NaN, and -0 equals 0: values has the slice that comes first.

    c1: axis is an axis of x.
    """

    fusion_class = "opaque"
    x: Operand[Tensor]
    values: Result[Tensor]
    indices: Result[Tensor]
    inverse: Result[Tensor]
    counts: Result[Tensor]
    axis = IntAttr(default=0, doc="axis of x along which slices are compared; a negative one counts from the end")
    sorted = BoolAttr(default=True, doc="values ascend, else they come in the order of x")

    @staticmethod
    def infer(x: TensorType, *, axis: int, sorted: bool) -> tuple[TensorType, ...]:  # the attribute's name
        axis = normalize_axis("c1", axis, x.rank)
        found, every = TensorType((None,), "i64"), TensorType((x.shape[axis],), "i64")
        return x.with_shape([*x.shape[:axis], None, *x.shape[axis + 1 :]]), found, every, found

    @staticmethod
    def reference(x: np.ndarray, *, axis: int, sorted: bool) -> tuple[np.ndarray, ...]:
        rows = np.moveaxis(widen(x), axis, 0)
        rows = rows.reshape(rows.shape[0], int(np.prod(rows.shape[1:])))
        order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(rows.shape[0])
        here, before = rows[order[1:]], rows[order[:-1]]
        equal = (here == before) | ((here != here) & (before != before))
        starts = np.concatenate([np.ones(min(len(order), 1), bool), ~equal.all(1)])
        indices, group = order[starts], np.cumsum(starts) - 1
        inverse = np.empty(len(order), np.int64)
        inverse[order] = group
        counts = np.bincount(group, minlength=len(indices))
        if not sorted:
            by_place = np.argsort(indices)
            indices, counts, inverse = indices[by_place], counts[by_place], np.argsort(by_place)[inverse]
        return np.take(x, indices, axis), *(part.astype(np.int64) for part in (indices, inverse, counts))


class NonMaxSuppression(DLOp, name="non_max_suppression"):
    """Boxes with great scores that do not overlap greater ones much. ONNX NonMaxSuppression.

    result[p] = (batch, class, box). For each batch and class, boxes come by falling score, of equal scores the one with
    the smaller index; one is taken unless an earlier one that was taken overlaps it by more than iou_threshold, until
    max_output are taken. Boxes whose score is not greater than score_threshold, or is NaN, are left out. Overlap is the
    area that two boxes share by the area that either covers; the edges of a box are its 1st and 3rd, 2nd and 4th number in
    any order, or its centers and extents with center_point_box. An iou_threshold outside of [0, 1] is an error.

    c1: boxes is [batch, boxes, 4] and scores [batch, classes, boxes].    c2: max_output, iou_threshold and score_threshold
    are scalars.
    """

    fusion_class = "opaque"
    accepts = {
        "boxes": ("f32",),
        "scores": ("f32",),
        "max_output": ("i64",),
        "iou_threshold": ("f32",),
        "score_threshold": ("f32",),
    }
    boxes: Operand[Tensor]
    scores: Operand[Tensor]
    max_output: Operand[Tensor]
    iou_threshold: Operand[Tensor]
    score_threshold: Optional[Operand[Tensor]]
    result: Result[Tensor]
    center_point_box = BoolAttr(default=False, doc="a box is (x, y, width, height) about its center, else two corners")

    @staticmethod
    def infer(
        boxes: TensorType,
        scores: TensorType,
        max_output: TensorType,
        iou_threshold: TensorType,
        score_threshold: Optional[TensorType],
        *,
        center_point_box: bool,
    ) -> TensorType:
        fits = boxes.rank == scores.rank == 3 and (boxes.shape[2] == 4 or not isinstance(boxes.shape[2], int))
        require("c1", fits, f"boxes is {boxes} and scores {scores}")
        for axis, other in ((0, 0), (1, 2)):
            require_equal_dims("c1", boxes.shape[axis], scores.shape[other], f"dim {axis} of boxes", f"dim {other} of scores")
        given = {"max_output": max_output, "iou_threshold": iou_threshold, "score_threshold": score_threshold}
        for name, scalar in given.items():
            require("c2", scalar is None or scalar.rank == 0, f"{name} is {scalar}, not a scalar")
        return TensorType((None, 3), "i64")

    @staticmethod
    def reference(
        boxes: np.ndarray,
        scores: np.ndarray,
        max_output: np.ndarray,
        iou_threshold: np.ndarray,
        score_threshold: Optional[np.ndarray],
        *,
        center_point_box: bool,
    ) -> np.ndarray:
        if max_output < 0 or not 0 <= iou_threshold <= 1:
            raise ValueError(f"max_output is {max_output} and iou_threshold {iou_threshold}")
        least = np.float32(-np.inf) if score_threshold is None else score_threshold
        found: list[tuple[int, int, int]] = []
        for batch, kind in np.ndindex(scores.shape[:2]):
            row = scores[batch, kind]
            candidates = np.flatnonzero(row > least if score_threshold is not None else row == row)
            order = candidates[np.argsort(-row[candidates], kind="stable")]
            taken = _taken(_corners(boxes[batch], center_point_box), order, int(max_output), iou_threshold)
            found.extend((batch, kind, box) for box in taken)
        return np.array(found, np.int64).reshape(-1, 3)


def _corners(boxes: np.ndarray, is_centered: bool) -> np.ndarray:
    """[boxes, 4]: the lower edges, then the upper ones."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if is_centered:
        half = second / np.float32(2)
        return np.concatenate([first - half, first + half], 1)
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], 1)


def _taken(edges: np.ndarray, order: np.ndarray, most: int, limit: np.ndarray) -> list[int]:
    """The boxes of `order` that no box before overlaps too much."""
    area = (edges[:, 2] - edges[:, 0]) * (edges[:, 3] - edges[:, 1])
    taken: list[int] = []
    for box in order.tolist():
        if len(taken) >= most:
            break
        low, high = np.maximum(edges[taken, :2], edges[box, :2]), np.minimum(edges[taken, 2:], edges[box, 2:])
        size = np.maximum(high - low, np.float32(0))
        shared = size[:, 0] * size[:, 1]
        with np.errstate(all="ignore"):
            if not (shared / (area[taken] + area[box] - shared) > limit).any():
                taken.append(box)
    return taken

"""TensorScatter and Col2Im on strings and complex numbers, through whole models, against ONNX's reference evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from test_moves import KINDS, values_of

import dlc

EACH = pytest.mark.parametrize("kind", KINDS)


def model_of(op: str, opset: int, feeds: Mapping[str, np.ndarray], kind: int, **attributes: Any) -> Any:
    numbers = {name: TensorProto.INT64 if array.dtype == np.int64 else kind for name, array in feeds.items()}
    infos = [helper.make_tensor_value_info(name, numbers[name], array.shape) for name, array in feeds.items()]
    output = helper.make_tensor_value_info("y", kind, None)
    graph = helper.make_graph([helper.make_node(op, list(feeds), ["y"], "it", **attributes)], "slices", infos, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


@EACH
@pytest.mark.parametrize(("starts", "attributes"), [([1, 0], {}), ([3, 2], {"mode": "circular"}), (None, {"axis": 1})])
def test_updates_of_caches(kind: str, starts: list[int] | None, attributes: dict[str, Any]) -> None:
    cache, update = values_of(kind, np.arange(48).reshape(2, 2, 4, 3)), values_of(kind, -np.arange(24).reshape(2, 2, 2, 3))
    update = update[:, :1].repeat(2, 2) if attributes.get("axis") == 1 else update
    feeds = {"x": cache, "u": update} | ({"s": np.array(starts)} if starts else {})
    model = model_of("TensorScatter", 24, feeds, KINDS[kind], **attributes)
    (have,), (want,) = dlc.compile(model)(feeds), ReferenceEvaluator(model).run(None, feeds)
    assert have.tolist() == want.tolist()


def test_an_update_past_the_end_is_refused() -> None:
    feeds = {"x": values_of("string", np.arange(8).reshape(1, 8, 1)), "u": values_of("string", np.arange(2).reshape(1, 2, 1))}
    compiled = dlc.compile(model_of("TensorScatter", 24, feeds | {"s": np.array([7])}, TensorProto.STRING))
    with pytest.raises(dlc.InvalidInputError, match=r"'it' \(TensorScatter\): place 8 is not in an axis of 8; give smaller"):
        compiled(*feeds.values(), np.array([7]))


@pytest.mark.parametrize(
    ("image", "block", "attributes"),
    [
        ([4, 6], [2, 3], {"strides": [2, 3]}),
        ([5, 5], [1, 5], {}),
        ([4, 4], [2, 2], {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ([4, 5, 6], [2, 1, 2], {"strides": [2, 1, 2]}),
        ([5, 5], [2, 2], {"dilations": [1, 2], "pads": [0, 1, 0, 1]}),
    ],
)
def test_images_of_columns(image: list[int], block: list[int], attributes: dict[str, Any]) -> None:
    """Sums of complex numbers; strings where no blocks overlap, else an error."""
    rank = len(image)
    given = {name: attributes.get(name, [1] * rank) for name in ("strides", "dilations")}
    pads = attributes.get("pads", [0] * 2 * rank)
    blocks = [
        (image[at] + pads[at] + pads[at + rank] - given["dilations"][at] * (block[at] - 1) - 1) // given["strides"][at] + 1
        for at in range(rank)
    ]
    columns = np.arange(1, 1 + 4 * np.prod(block) * np.prod(blocks)).reshape(2, 2 * np.prod(block), -1)
    feeds = {"x": values_of("complex64", columns), "image": np.array(image), "block": np.array(block)}
    model = model_of("Col2Im", 18, feeds, TensorProto.COMPLEX64, **attributes)
    (have,), (want,) = dlc.compile(model)(feeds), ReferenceEvaluator(model).run(None, feeds)
    np.testing.assert_array_equal(have, want)
    texts = feeds | {"x": values_of("string", columns)}
    compiled = dlc.compile(model_of("Col2Im", 18, texts, TensorProto.STRING, **attributes))
    if "dilations" in attributes:
        with pytest.raises(dlc.InvalidInputError, match=r"'it' \(Col2Im\): blocks of strings overlap"):
            compiled(texts)
        return
    (names,) = compiled(texts)
    assert names.tolist() == np.where(want == 0, "", values_of("string", want.real.astype(int))).tolist()


def test_columns_that_do_not_fit_are_refused() -> None:
    feeds = {"x": values_of("string", np.arange(12).reshape(1, 4, 3)), "image": np.array([4, 4]), "block": np.array([2, 2])}
    with pytest.raises(dlc.DLCError, match=r"Col2Im"):
        dlc.compile(model_of("Col2Im", 18, feeds, TensorProto.STRING))(feeds)

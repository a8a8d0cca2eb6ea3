"""Versions of a model for sizes of dims: right numbers, facts that are checked, and clear words for sizes that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from version_models import TEXT, model, rows, versioned

import dlc
from bench.networks import bert
from dlc.compiled_model import CompiledModel
from dlc.versions.building import MOST_VERSIONS
from dlc.versions.versioned_model import VersionedModel


@pytest.fixture(scope="module")
def plain() -> CompiledModel:
    return dlc.compile(model())


@pytest.fixture(scope="module")
def lists() -> VersionedModel:
    return versioned(dlc.compile(model(), shapes={"batch": [2, 4, range(1, 9)]}))


def test_one_size_is_a_static_model() -> None:
    found = dlc.compile(model(), shapes={"batch": 4})
    assert not isinstance(found, VersionedModel)
    assert [spec.shape for spec in found.inputs] == [(4, 8)]


def test_a_dim_that_several_inputs_have() -> None:
    found = dlc.import_onnx(bert.build(layers=1, hidden=32, heads=2, vocab=64, dynamic_batch=True), shapes={"batch": 3})
    kinds = found.module.body.operations[0].attributes["function_type"]
    assert str(kinds).count("tensor<3x128xi64>") == 3


def test_names_that_are_given_to_inputs_count() -> None:
    found = dlc.import_onnx(model(), shapes={"x": ["rows", 8], "rows": range(8, 65, 8)})
    assert "dl.bounds = {rows = array<i64: 8, 64, 8>}" in str(found.module)


def test_lists_give_versions_and_one_for_all(plain: CompiledModel, lists: VersionedModel) -> None:
    assert lists.inputs == plain.inputs and lists.outputs == plain.outputs
    before = lists.build_report.versions
    for count in (1, 2, 3, 4, 2):
        np.testing.assert_allclose(lists(rows(count))[0], plain(rows(count))[0], rtol=1e-5)
    after = lists.build_report.versions
    assert before is not None and after is not None
    assert (after.general - before.general, after.declared - before.declared, after.versions) == (2, 3, 2)
    assert [spec.shape for spec in lists.version(rows(4)).inputs] == [(4, 8)]


def test_products_of_lists() -> None:
    found = versioned(dlc.compile(TEXT, shapes={"batch": [1, 2], "seq": [8, 16]}))
    shapes = {found.version(rows(batch, seq)).inputs[0].shape for batch in (1, 2, 3) for seq in (8, 16)}
    assert shapes == {(1, 8), (1, 16), (2, 8), (2, 16), ("batch", "seq")}


def test_a_list_beside_a_range() -> None:
    found = versioned(dlc.compile(TEXT, shapes={"batch": range(1, 4), "seq": [8]}))
    assert found.version(rows(2, 8)).inputs[0].shape == ("batch", 8)
    np.testing.assert_allclose(found(rows(2, 8))[0].sum(1), 1, rtol=1e-5)
    for width in (8, 9):  # of the version, and of that for all sizes
        with pytest.raises(dlc.InvalidInputError, match=r"input 'x': dim 0, 'batch', is 4 but its most is 3"):
            found(rows(4, width))


@pytest.mark.parametrize(
    "count, message",
    [
        (0, "input 'x': dim 0, 'batch', is 0 but its least is 8"),
        (12, "input 'x': dim 0, 'batch', is 12 but must be a multiple of 8, as 8 is"),
        (72, "input 'x': dim 0, 'batch', is 72 but its most is 64"),
    ],
)
def test_sizes_outside_of_a_range_are_one_error(count: int, message: str) -> None:
    found = dlc.compile(model(), shapes={"batch": range(8, 65, 8)})
    assert not isinstance(found, VersionedModel)
    with pytest.raises(dlc.InvalidInputError) as raised:
        found(rows(count))
    assert str(raised.value) == message
    assert found(rows(64))[0].shape == (64, 4)


def test_a_range_without_an_end() -> None:
    found = dlc.compile(model(), shapes={"batch": range(4, 1 << 50, 4)})
    assert found(rows(4000))[0].shape == (4000, 4)
    with pytest.raises(dlc.InvalidInputError, match="must be a multiple of 4"):
        found(rows(3999))


@pytest.mark.parametrize(
    "shapes, message",
    [
        ({"bach": 4}, r"shapes: the model has no input and no dim 'bach'; did you mean 'batch'\?"),
        ({"q": range(3)}, r"shapes: the model has no input and no dim 'q' \(inputs: x; dims: batch\)"),
        (
            {"batch": "a"},
            r"shapes: dim 'batch' takes no 'a'; give a size, a range of sizes, or a list of sizes with at most one range",
        ),
        ({"batch": []}, r"shapes: dim 'batch' takes no \[\]"),
        ({"batch": [1, True]}, r"shapes: dim 'batch' takes no \[1, True\]"),
        ({"batch": [range(2), range(3)]}, r"shapes: dim 'batch' takes no \[range\(0, 2\), range\(0, 3\)\]"),
        ({"batch": -1}, r"shapes: 'batch' takes sizes of 0 and more, not -1"),
        ({"batch": True}, r"shapes: 'batch' takes sizes of 0 and more, not True"),
        ({"batch": range(3, 30, 2)}, r"takes no range\(3, 30, 2\); give one from a size to a greater one, and where it has a step"),
        ({"batch": range(5, 5)}, r"takes no range\(5, 5\)"),
        ({"batch": range(9, 1, -1)}, r"takes no range\(9, 1, -1\)"),
        ({"batch": [9, range(1, 9)]}, r"dim 'batch' is given the size 9, which is not in its range\(1, 9\)"),
        ({"x": [range(1, 4), 8]}, r"input 'x' takes one size or a name for each dim, not range\(1, 4\); name the dim there"),
        ({"x": 5}, r"input 'x' takes a list of sizes, not 5"),
        ({"x": [7, 8], "batch": range(1, 5)}, r"dim 'batch' of input 'x' is 7, which is not in range\(1, 5\)"),
        ({"batch": list(range(MOST_VERSIONS + 1))}, r"65 versions of 'mlp' \('batch' has 65\); give at most 64, or ranges"),
    ],
)
def test_sizes_that_are_none_are_refused_at_once(shapes: dict[str, Any], message: str) -> None:
    with pytest.raises(dlc.DLCError, match=message):
        dlc.compile(model(), shapes=shapes)


@pytest.mark.parametrize(
    "shapes, message",
    [
        ({"batch": 3, "sec": 4}, r"shapes: no input has a dim 'sec' that is dynamic; did you mean 'seq'\?"),
        ({"x": [3, 4]}, r"shapes: the shape of input 'x' can be given for ONNX models only; give sizes of its dims by their names"),
        ({"x": 4}, r"shapes: the shape of input 'x' can be given for ONNX models only"),
    ],
)
def test_mlir_takes_sizes_of_dims_alone(shapes: dict[str, Any], message: str) -> None:
    assert dlc.compile(TEXT, shapes={"batch": 2, "seq": 5}).inputs[0].shape == (2, 5)
    with pytest.raises(dlc.InvalidInputError, match=message):
        dlc.compile(TEXT, shapes=shapes)


def test_other_levels_have_no_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    affine = str(dlc.lower(TEXT, "affine"))
    with pytest.raises(dlc.InvalidInputError, match=r"shapes: sizes of dims need a model at level 'dl'"):
        dlc.compile(affine, shapes={"batch": [2]})
    with pytest.raises(dlc.InvalidInputError, match=r"specialize needs a model at level 'dl', and '<text>' is at level 'affine'"):
        dlc.compile(affine, specialize="auto")
    monkeypatch.setenv("DLC_SPECIALIZE", "auto")
    assert dlc.compile(affine)(rows(2, 3))[0].shape == (2, 3)


def test_schedules_of_kernels_go_with_one_version() -> None:
    table = dlc.schedules_of(model())
    with pytest.raises(dlc.InvalidInputError, match="schedule: versions for sizes have kernels of their own"):
        dlc.compile(model(), shapes={"batch": [2]}, schedule=table.to_json())


def test_values_and_sizes() -> None:
    """A model that is specialised on values has versions for each of them; sizes that only a call knows keep to their range."""
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3]),
        helper.make_tensor_value_info("axes", TensorProto.INT64, ["k"]),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    found = dlc.compile(proto, shapes={"n": [2, range(1, 5)]})
    assert isinstance(found, dlc.SpecializingModel)
    variant = versioned(found.specialize(rows(2, 3), np.array([1])))
    assert variant.version(rows(2, 3)).inputs[0].shape == (2, 3)
    for count in (2, 3):
        np.testing.assert_allclose(found(rows(count, 3), np.array([0]))[0], rows(count, 3).sum(0), rtol=1e-4, atol=1e-5)
    many = found.run_many([(rows(2, 3), np.array([1])), (rows(3, 3), np.array([1]))])
    np.testing.assert_allclose(many[1][0], rows(3, 3).sum(1), rtol=1e-4, atol=1e-5)
    with pytest.raises(dlc.InvalidInputError, match="'n', is 5 but its most is 4"):
        found(rows(5, 3), np.array([0]))


def test_models_of_the_host_take_one_size_a_dim() -> None:
    nodes = [helper.make_node("StringConcat", ["s", "s"], ["t"]), helper.make_node("Relu", ["x"], ["y"])]
    inputs = [
        helper.make_tensor_value_info("s", TensorProto.STRING, ["n"]),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"]),
    ]
    outputs = [
        helper.make_tensor_value_info("t", TensorProto.STRING, ["n"]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"]),
    ]
    proto = helper.make_model(
        helper.make_graph(nodes, "g", inputs, outputs), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )
    with pytest.raises(dlc.InvalidInputError, match="runs partly on the host; give dim 'n' one size, or leave it out"):
        dlc.compile(proto, shapes={"n": range(1, 3)})
    found = dlc.compile(proto, shapes={"n": 2})
    assert found(np.array(["a", "b"], object), np.array([-1, 1], np.float32))[1].tolist() == [0, 1]


def test_coverage_and_explain_take_sizes() -> None:
    assert not [node for node in dlc.coverage(model(), shapes={"batch": 4}).nodes if node.is_refused]
    assert any("[4, 16]" in kernel.type for kernel in dlc.explain(model(), shapes={"batch": 4}).kernels)
    with pytest.raises(dlc.InvalidInputError, match="no dim 'bach'"):
        dlc.coverage(model(), shapes={"bach": 4})


def test_declared_types_are_still_checked() -> None:
    """Bounds of dims are no other shapes: what the model declares of its values holds."""
    proto = model()
    proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 5
    for shapes in ({}, {"batch": range(1, 3)}):
        with pytest.raises(dlc.ParseError, match="makes 'logits' as"):
            dlc.compile(proto, shapes=shapes)

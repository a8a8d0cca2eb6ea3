"""Models that run partly on the host: strings, sequences, optionals, and control flow around them."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from reference_session import reference_session

import dlc
from dlc.frontends.onnx.validation.problems import Problems, untold

FLOAT, INT, STRING, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING, TensorProto.BOOL
node, tensor, sequence = helper.make_node, helper.make_tensor_value_info, helper.make_tensor_sequence_value_info


def model_of(nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], constants: Sequence[Any] = ()) -> onnx.ModelProto:
    """A model of opset 18."""
    graph = helper.make_graph(list(nodes), "hosted", list(inputs), list(outputs), list(constants))
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def number(name: str, value: int) -> onnx.TensorProto:
    return helper.make_tensor(name, INT, [], [value])


def words_model() -> onnx.ModelProto:
    """Rows of a table by the labels of words, their mean of what is positive, in two parts."""
    table = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    labels = {"keys_strings": ["a", "b", "c"], "values_int64s": [0, 1, 2], "default_int64": 3}
    nodes = [
        node("LabelEncoder", ["words"], ["ids"], "label", domain="ai.onnx.ml", **labels),
        node("Gather", ["table", "ids"], ["rows"]),
        node("Relu", ["rows"], ["positive"]),
        node("ReduceMean", ["positive", "axes"], ["mean"], keepdims=0),
        node("SplitToSequence", ["mean", "four"], ["parts"], "split"),
        node("SequenceAt", ["parts", "which"], ["part"], "pick"),
        node("Exp", ["part"], ["y"]),
    ]
    constants = [onnx.numpy_helper.from_array(table, "table"), helper.make_tensor("axes", INT, [1], [0]), number("four", 4)]
    inputs = [tensor("words", STRING, ["N"]), tensor("which", INT, [])]
    return model_of(nodes, inputs, [tensor("y", FLOAT, ["K"]), sequence("parts", FLOAT, ["K"])], constants)


def assert_as_onnxruntime(model: onnx.ModelProto, feeds: dict[str, Any]) -> dlc.CompiledModel:
    """The compiled model, whose results are onnxruntime's."""
    session = reference_session(model)
    compiled = dlc.compile(model)
    for have, want in zip(compiled(feeds), session.run(None, feeds), strict=True):
        pairs = zip(have, want, strict=True) if isinstance(want, list) else [(have, want)]
        for left, right in pairs:
            if right.dtype == object:
                assert left.tolist() == right.tolist()
            else:
                np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)
    return compiled


def test_words_to_numbers() -> None:
    feeds = {"words": np.array(["b", "?", "a"], object), "which": np.array(1, np.int64)}
    compiled = assert_as_onnxruntime(words_model(), feeds)
    assert [op for _, op, _ in compiled.host_ops] == ["ai.onnx.ml.LabelEncoder", "SplitToSequence", "SequenceAt"]  # type: ignore[attr-defined]
    assert str(compiled.inputs[0]) == "words: string[N]"
    assert str(compiled.outputs[1]) == "parts: sequence(f32[K])"
    assert compiled.build_report.kernels > 0


def test_a_loop_that_grows_a_sequence() -> None:
    body = helper.make_graph(
        [
            node("Add", ["i", "i"], ["twice"]),
            node("Cast", ["twice"], ["f"], to=FLOAT),
            node("Mul", ["x", "f"], ["scaled"]),
            node("SequenceInsert", ["s", "scaled"], ["longer"]),
            node("Identity", ["go"], ["go_on"]),
        ],
        "body",
        [tensor("i", INT, []), tensor("go", BOOL, []), sequence("s", FLOAT, None)],
        [tensor("go_on", BOOL, []), sequence("longer", FLOAT, None), tensor("scaled", FLOAT, [2])],
    )
    nodes = [
        node("SequenceEmpty", [], ["none"]),
        node("Loop", ["n", "", "none"], ["all", "rows"], body=body),
        node("ConcatFromSequence", ["all"], ["flat"], axis=0),
    ]
    inputs = [tensor("x", FLOAT, [2]), tensor("n", INT, [])]
    outputs = [tensor("flat", FLOAT, None), tensor("rows", FLOAT, ["n", 2])]
    model = model_of(nodes, inputs, outputs)
    assert_as_onnxruntime(model, {"x": np.array([1, 2], np.float32), "n": np.array(3, np.int64)})


def test_branches_that_give_strings() -> None:
    then = helper.make_graph([node("StringConcat", ["a", "b"], ["t"])], "then", [], [tensor("t", STRING, ["N"])])
    otherwise = helper.make_graph([node("Identity", ["b"], ["e"])], "else", [], [tensor("e", STRING, ["N"])])
    nodes = [
        node("Greater", ["x", "zero"], ["condition"]),
        node("If", ["condition"], ["y"], then_branch=then, else_branch=otherwise),
    ]
    opset = [helper.make_opsetid("", 20)]
    inputs = [tensor("x", FLOAT, []), tensor("a", STRING, ["N"]), tensor("b", STRING, ["N"])]
    zero = helper.make_tensor("zero", FLOAT, [], [0.0])
    graph = helper.make_graph(nodes, "g", inputs, [tensor("y", STRING, ["N"])], [zero])
    compiled = dlc.compile(helper.make_model(graph, opset_imports=opset, ir_version=9))
    a, b = np.array(["p"], object), np.array(["q"], object)
    assert compiled(np.float32(1), a, b)[0].tolist() == ["pq"]
    assert compiled(np.float32(-1), a, b)[0].tolist() == ["q"]


def test_optional_inputs() -> None:
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOAT, [2]))
    nodes = [node("OptionalHasElement", ["o"], ["has"])]
    compiled = dlc.compile(model_of(nodes, [helper.make_value_info("o", kind)], [tensor("has", BOOL, [])]))
    assert not compiled({"o": None})[0]
    assert compiled({"o": np.ones(2, np.float32)})[0]


def test_a_mask_is_not_lost() -> None:
    compiled = dlc.compile(model_of([node("SequenceLength", ["s"], ["n"])], [sequence("s", FLOAT, None)], [tensor("n", INT, [])]))
    with pytest.raises(dlc.InvalidInputError, match="input 's' is a masked array"):
        compiled({"s": [np.ma.masked_array(np.ones(2, np.float32), [True, False])]})


def test_a_list_is_the_value_of_the_only_input() -> None:
    compiled = dlc.compile(model_of([node("SequenceLength", ["s"], ["n"])], [sequence("s", FLOAT, None)], [tensor("n", INT, [])]))
    values = [np.ones(1, np.float32), np.ones(3, np.float32)]
    for given in (values, [values], {"s": values}, [values[0]], []):
        expected = (
            len(values) if given and not isinstance(given[0] if isinstance(given, list) else None, np.ndarray) else len(given)
        )
        assert compiled(given)[0] == expected


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ({"words": np.array(["a"], object), "which": np.array(9, np.int64)}, r"node 'pick' \(SequenceAt\): position 9 is not in"),
        ({"words": np.array([["a"]], object), "which": np.array(0, np.int64)}, r"'words' expects string\[N\]"),
        ({"words": np.array([1.0]), "which": np.array(0, np.int64)}, "1.0 is no string"),
        ({"words": np.array(["a"], object)}, "missing 'which'"),
    ],
)
def test_bad_arguments_name_the_input_or_node(feeds: dict[str, Any], message: str) -> None:
    with pytest.raises(dlc.InvalidInputError, match=message):
        dlc.compile(words_model())(feeds)


def test_results_in_arrays_of_the_caller_and_other_weights() -> None:
    compiled = dlc.compile(words_model())
    feeds = {"words": np.array(["a"], object), "which": np.array(0, np.int64)}
    y = np.zeros(4, np.float32)
    assert compiled.run(feeds, {"y": y})[0] is y
    assert y.any()
    zeros = compiled.with_params({"table": np.zeros((4, 8), np.float32)})
    np.testing.assert_array_equal(zeros(feeds)[0], np.ones(4, np.float32))
    np.testing.assert_array_equal(compiled(feeds)[0], y)
    with pytest.raises(dlc.InvalidInputError, match="no parameter 'tabel'"):
        compiled.with_params({"tabel": y})
    with pytest.raises(dlc.InvalidInputError, match="output 'y' is"):
        compiled.run(feeds, {"y": np.zeros(3, np.float32)})


def test_nodes_that_nobody_computes_are_told() -> None:
    nodes = [node("StringConcat", ["a", "a"], ["b"]), node("Mod", ["b", "b"], ["c"], "odd")]
    with pytest.raises(dlc.UnsupportedError, match=r"node 'odd' \(Mod\): the op is not supported for string"):
        dlc.compile(model_of(nodes, [tensor("a", STRING, ["N"])], [tensor("c", STRING, ["N"])]), lenient=True)


def test_declared_types_of_what_segments_make() -> None:
    """A type that contradicts is refused, here once a call has made it; with `lenient` it passes, and each warning comes once."""
    model, feeds = words_model(), {"words": np.array(["a"], object), "which": np.array(0, np.int64)}
    model.graph.value_info.append(tensor("mean", FLOAT, ["K"]))
    dlc.compile(model)(feeds)
    model.graph.value_info[0].CopyFrom(tensor("mean", FLOAT, ["K", 2]))
    with pytest.raises(dlc.ParseError, match=r"segment 1\).*makes mean: f32\[.*but the model declares f32\[K, 2\]; correct"):
        dlc.compile(model)(feeds)
    model.graph.node[1].attribute.append(helper.make_attribute("nothing", 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dlc.compile(model, lenient=True)(feeds)
    assert len([each for each in caught if "nothing" in str(each.message)]) == 1


def test_warnings_of_other_threads() -> None:
    """A thread that tells nothing keeps no other from telling."""
    problems = Problems("model", lenient=True)
    silent, told = threading.Event(), threading.Event()

    def compile_segment() -> None:
        with untold():
            silent.set()
            told.wait(30)

    thread = threading.Thread(target=compile_segment)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        thread.start()
        silent.wait(30)
        problems.add("node 'a'", "is odd", "mend it", tolerable=True)
        problems.settle()
        with untold():
            problems.add("node 'b'", "is odd", "mend it", tolerable=True)
            problems.settle()
        told.set()
        thread.join()
    assert [str(each.message) for each in caught] == ["model: warning: node 'a': is odd; mend it"]


def test_an_endless_loop_is_cancelled() -> None:
    body = helper.make_graph(
        [node("StringConcat", ["s", "none"], ["t"]), node("Identity", ["go"], ["on"])],
        "body",
        [tensor("i", INT, []), tensor("go", BOOL, []), tensor("s", STRING, [1])],
        [tensor("on", BOOL, []), tensor("t", STRING, [1])],
    )
    none = helper.make_tensor("none", STRING, [1], [b""])
    graph = helper.make_graph(
        [node("Loop", ["", "go0", "a"], ["y"], body=body)],
        "g",
        [tensor("a", STRING, [1])],
        [tensor("y", STRING, [1])],
        [none, helper.make_tensor("go0", BOOL, [], [True])],
    )
    compiled = dlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9))
    raised: list[BaseException] = []

    def run() -> None:
        try:
            compiled(np.array(["x"], object))
        except dlc.CancelledError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        compiled.cancel()
        thread.join(0.05)
    assert raised

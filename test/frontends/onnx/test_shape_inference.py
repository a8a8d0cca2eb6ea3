"""What the onnx package's shape inference may do to this process, and how it is kept from it."""

from __future__ import annotations

import contextlib
import faulthandler
import os
from collections.abc import Iterator, Sequence

import onnx
import onnx.shape_inference
import pytest
from onnx import TensorProto, helper

import dlc
from dlc.frontends.onnx.loader import NEED_TYPED_INPUTS, SAFE_NUMBERS

_SAMPLES = {"INT": 1, "INTS": [1, 1], "FLOAT": 1.0, "FLOATS": [1.0], "STRING": "constant", "STRINGS": ["a"]}


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
def test_a_rule_that_needs_types_is_not_asked(domain: str) -> None:
    lstm = helper.make_node("LSTM", ["x", "w", "r"], ["", "h"], hidden_size=3)
    eye = helper.make_node("EyeLike", ["h"], ["y"], name="eye", domain=domain, dtype=TensorProto.FLOAT)
    shapes = {"x": [0, 3, 2], "w": [1, 12, 2], "r": [1, 12, 3]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    graph = helper.make_graph([lstm, eye], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    with pytest.raises(dlc.UnsupportedError, match="number of steps"):
        dlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10))


def test_what_is_left_out_is_still_imported() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("EyeLike", ["a"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "n"])
    graph = helper.make_graph(nodes, "g", [x], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    source = dlc.import_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10))
    assert '"dl.trilu"' in str(source.module)


@pytest.mark.parametrize(
    ("op", "attribute", "number", "message"),
    [
        ("LayerNormalization", "axis", 2**63 - 1, "axis 9223372036854775807 is out of range"),
        ("GatherND", "batch_dims", -(2**31), "batch_dims is -2147483648"),
    ],
)
def test_a_rule_is_not_asked_with_such_a_number(op: str, attribute: str, number: int, message: str) -> None:
    (model,) = _models_with(onnx.defs.get_schema(op, 17, ""), attribute, number, ranks=[2])
    with pytest.raises(dlc.UnsupportedError, match=message):
        dlc.import_onnx(model)


def test_a_rule_that_throws_costs_only_detail() -> None:
    signal = helper.make_tensor_value_info("signal", TensorProto.FLOAT, [1, 128, 1])
    initializers = [
        helper.make_tensor("step", TensorProto.INT64, [0], []),
        helper.make_tensor("length", TensorProto.INT64, [], [16]),
    ]
    node = helper.make_node("STFT", ["signal", "step", "", "length"], ["y"], name="n")
    graph = helper.make_graph([node], "g", [signal], [helper.make_empty_tensor_value_info("y")], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(IndexError):
        onnx.shape_inference.infer_shapes(model)
    with pytest.raises(dlc.UnsupportedError, match=r"node 'n' \(STFT\): frame_step \(input 1\) has 0 numbers; give it one"):
        dlc.import_onnx(model)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_no_other_rule_ends_the_process() -> None:
    """Each op of the onnx package, in each version, on inputs of no known type."""
    found = {(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas_with_history() if _ends(schema)}
    assert found <= NEED_TYPED_INPUTS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("number", [2**63 - 1, 2**31, 100, -5, -(2**31), -(2**63)])
def test_no_other_number_ends_the_process(number: int) -> None:
    """Each op of the onnx package, in each version, with an extreme integer for each of its attributes."""
    schemas = onnx.defs.get_all_schemas_with_history()
    models = [model for schema in schemas for model in _asked_models(schema, number)]
    assert not _infers_to_death(models), [model.graph.node[0] for model in models if _infers_to_death([model])]


def _ends(schema: onnx.defs.OpSchema) -> bool:
    return any(_infers_to_death([model]) for model in _models(schema))


def _models(schema: onnx.defs.OpSchema) -> Iterator[onnx.ModelProto]:
    required = {name: _SAMPLES.get(each.type.name) for name, each in schema.attributes.items() if each.required}
    given = {name: value for name, value in required.items() if value is not None}
    outputs = [f"y{index}" for index in range(max(1, min(schema.max_output, 4)))]
    imports = [helper.make_opsetid(schema.domain, schema.since_version)]
    imports += [helper.make_opsetid("", 18)] if schema.domain else []
    for count in range(1, max(1, min(schema.max_input, 8)) + 1):
        for more in [{}, *({name: value} for name, value in (("dtype", 11), ("axis", 0)) if name in schema.attributes)]:
            names = [f"x{index}" for index in range(count)]
            node = helper.make_node(schema.name, names, outputs, domain=schema.domain, **{**given, **more})
            values = [helper.make_empty_tensor_value_info(name) for name in outputs]
            yield helper.make_model(helper.make_graph([node], "g", [], values), opset_imports=imports)


def test_values_of_an_endless_vector_are_not_written_down() -> None:
    shapes = {"x": [20, 10, 5], "starts": [1], "ends": [1], "axes": [1], "steps": [1 << 62]}
    kinds = [TensorProto.FLOAT, *[TensorProto.INT64] * 4]
    pairs = zip(shapes.items(), kinds, strict=True)
    inputs = [helper.make_tensor_value_info(name, kind, shape) for (name, shape), kind in pairs]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Slice", list(shapes), ["y"])], "g", inputs, [output])
    with pytest.raises(dlc.DLCError):
        dlc.import_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7))


def test_values_of_an_endless_vector_of_another_type_are_not_written_down() -> None:
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.UINT32, [1 << 31]),
        helper.make_tensor_value_info("axes", TensorProto.INT64, [3]),
    ]
    output = helper.make_tensor_value_info("y", TensorProto.UINT32, [3])
    graph = helper.make_graph([helper.make_node("Unsqueeze", ["x", "axes"], ["y"])], "g", inputs, [output])
    with pytest.raises(dlc.DLCError):
        dlc.import_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8))


def _asked_models(schema: onnx.defs.OpSchema, number: int) -> Iterator[onnx.ModelProto]:
    """Models with `number` for each attribute in turn, where the rule is asked with it."""
    known, numbers = SAFE_NUMBERS.get((schema.domain, schema.name), ("", range(0)))
    for name, attribute in schema.attributes.items():
        if attribute.type.name in ("INT", "INTS") and (name != known or number in numbers):
            yield from _models_with(schema, name, number, range(5))


def _models_with(schema: onnx.defs.OpSchema, attribute: str, number: int, ranks: Sequence[int]) -> Iterator[onnx.ModelProto]:
    """Models of one node with inputs of each rank, and with `number` for an attribute."""
    required = {name: _SAMPLES.get(each.type.name) for name, each in schema.attributes.items() if each.required}
    given = {name: value for name, value in required.items() if value is not None}
    given[attribute] = [number, number] if schema.attributes[attribute].type.name == "INTS" else number
    outputs = [f"y{index}" for index in range(max(1, len(schema.outputs)))]
    kinds = [TensorProto.FLOAT if "tensor(float)" in each.types else TensorProto.INT64 for each in schema.inputs]
    imports = [helper.make_opsetid(schema.domain, schema.since_version)]
    imports += [helper.make_opsetid("", 18)] if schema.domain else []
    for rank in ranks:
        inputs = [helper.make_tensor_value_info(f"x{index}", kind, [2] * rank) for index, kind in enumerate(kinds)]
        node = helper.make_node(schema.name, [each.name for each in inputs], outputs, domain=schema.domain, **given)
        graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info(name) for name in outputs])
        yield helper.make_model(graph, opset_imports=imports, ir_version=8)


def _infers_to_death(models: Sequence[onnx.ModelProto]) -> bool:
    child = os.fork()
    if child == 0:
        faulthandler.disable()  # the end of a child is what is looked for
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for model in models:
            with contextlib.suppress(Exception):
                onnx.shape_inference.infer_shapes(model, data_prop=True)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])

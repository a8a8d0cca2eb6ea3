"""What the onnx package's shape inference may do to this process, and how it is kept from it."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator

import onnx
import onnx.shape_inference
import pytest
from onnx import TensorProto, helper

import dlc
from dlc.frontends.onnx.loader import NEED_TYPED_INPUTS

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


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_no_other_rule_ends_the_process() -> None:
    """Each op of the onnx package, in each version, on inputs of no known type."""
    found = {(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas_with_history() if _ends(schema)}
    assert found <= NEED_TYPED_INPUTS


def _ends(schema: onnx.defs.OpSchema) -> bool:
    return any(_infers_to_death(model) for model in _models(schema))


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


def _infers_to_death(model: onnx.ModelProto) -> bool:
    child = os.fork()
    if child == 0:
        faulthandler.disable()  # the end of a child is what is looked for
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            onnx.shape_inference.infer_shapes(model, data_prop=True)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])

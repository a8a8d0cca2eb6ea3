"""Edits of ONNX models that know what the parts mean: other ops, attributes of other ops, contents of constants, opsets, types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from dlc.frontends.onnx.importers import importers
from fuzz.byte_edits import NUMBERS, edited
from fuzz.proto_edits import edit, sites

_SIZES = (0, -1, -2, 1, 2, 3, 7, 2**16, 2**31, 2**33, 2**42, 2**62)
_MOST_ELEMENTS = 1 << 16
Edit = Callable[[Random, onnx.ModelProto, onnx.ModelProto], None]


def mutated(random: Random, corpus: Sequence[bytes]) -> bytes:
    """A model of the corpus after one to four edits; one in seven is edited as bytes."""
    data, other = random.choice(corpus), random.choice(corpus)
    if random.random() < 0.15:
        return edited(random, data, other)
    model, donor = onnx.ModelProto.FromString(data), onnx.ModelProto.FromString(other)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        chosen = random.choice(_EDITS)
        chosen(random, model, donor)
    return bytes(model.SerializeToString())


def _any_field(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    edit(random, random.choice(sites(model) or sites(donor)), model)


def _field_of_node(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    found = [site for node in model.graph.node for site in sites(node) if site.field.name != "raw_data"]
    if found:
        edit(random, random.choice(found), model)


def _another_op(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    if model.graph.node:
        node = random.choice(model.graph.node)
        node.domain, node.op_type = random.choice(sorted(importers()))


def _attribute_of_another(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    offered = [attribute for node in donor.graph.node for attribute in node.attribute]
    if offered and model.graph.node:
        random.choice(model.graph.node).attribute.append(random.choice(offered))


def _attribute_of_another_kind(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    attributes = [attribute for node in model.graph.node for attribute in node.attribute]
    if not attributes:
        return
    chosen = random.choice(attributes)
    number = random.choice(NUMBERS)
    value = random.choice((number, [number], [1, number, 2], 1.5, [0.5, 2.0], "text", b"\xff\xfe", ["a", "b"]))
    chosen.CopyFrom(helper.make_attribute(chosen.name, value))


def _rewire(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    nodes = [node for node in model.graph.node if node.input]
    if not nodes:
        return
    node = random.choice(nodes)
    names = [
        *(entry.name for entry in (*model.graph.input, *model.graph.initializer)),
        *(n for m in model.graph.node for n in m.output),
        "",
    ]
    if random.random() < 0.3:
        node.input.append(random.choice(names))
        return
    node.input[random.randrange(len(node.input))] = random.choice(names)


def _node_of_another(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    """A node from elsewhere behind one of the model's values."""
    made = [name for node in model.graph.node for name in node.output if name]
    if not made or not donor.graph.node:
        return
    node = model.graph.node.add()
    node.CopyFrom(random.choice(donor.graph.node))
    names = {entry.name for entry in model.graph.initializer}
    model.graph.initializer.extend(entry for entry in donor.graph.initializer if entry.name not in names)
    if node.input:
        node.input[0] = random.choice(made)
    for index in range(len(node.output)):
        node.output[index] = f"new_{index}"
    model.graph.output.append(onnx.ValueInfoProto(name="new_0"))


def _dims(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    """A size of a declared type: another one, or a name."""
    entries = [
        entry for entry in (*model.graph.input, *model.graph.output, *model.graph.value_info) if entry.type.tensor_type.shape.dim
    ]
    if not entries:
        return
    dims = random.choice(entries).type.tensor_type.shape.dim
    if random.random() < 0.25:
        dims.add().dim_value = random.choice((1, 2, 3))
    elif random.random() < 0.4:
        random.choice(dims).dim_param = random.choice("nmk")
    else:
        random.choice(dims).dim_value = random.choice(_SIZES)


def _element_type(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    """The element type of everything of one type, or of one entry."""
    entries = [entry.type.tensor_type for entry in (*model.graph.input, *model.graph.output, *model.graph.value_info)]
    if not entries:
        return
    old, new = random.choice(entries).elem_type, random.choice(list(TensorProto.DataType.values()))
    for entry in entries if random.random() < 0.6 else [random.choice(entries)]:
        entry.elem_type = new if entry.elem_type == old else entry.elem_type


def _constant(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    """Elements of an initializer: edges of their type."""
    if not model.graph.initializer:
        return
    tensor = random.choice(model.graph.initializer)
    array = _array(tensor)
    if array is None or not array.size:
        return
    flat = array.reshape(-1)
    for _ in range(random.choice((1, 1, 2))):
        flat[random.randrange(flat.size)] = _element(random, array.dtype)
    tensor.CopyFrom(numpy_helper.from_array(_reshaped(random, array), tensor.name))


def _array(tensor: onnx.TensorProto) -> np.ndarray | None:
    try:
        array = numpy_helper.to_array(tensor).copy()
    except Exception:  # the tensor was edited before
        return None
    return array if array.dtype.kind in "iufb" and array.size <= _MOST_ELEMENTS else None


def _element(random: Random, dtype: np.dtype) -> np.ndarray:
    with np.errstate(all="ignore"):
        if dtype.kind == "f":
            return np.array(random.choice((0.0, -1.0, 1e30, np.nan, np.inf, 0.5))).astype(dtype)
        return np.array(random.choice((*NUMBERS[:9], *_SIZES)), np.int64).astype(dtype)


def _reshaped(random: Random, array: np.ndarray) -> np.ndarray:
    """The array, sometimes with other dims or fewer or more elements."""
    choice = random.random()
    if choice < 0.7:
        return array
    if choice < 0.8:
        return array.reshape(-1)
    return array.reshape(-1)[: random.randrange(array.size + 1)] if choice < 0.9 else array[None]


def _initializer_as_input(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    """A constant becomes something that only a call gives."""
    if not model.graph.initializer:
        return
    index = random.randrange(len(model.graph.initializer))
    tensor = model.graph.initializer[index]
    model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    del model.graph.initializer[index]


def _opset(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    for entry in model.opset_import:
        entry.version = random.choice((0, 1, 6, 7, 8, 9, 10, 11, 13, 15, 18, 20, 21, 22, 23, 26, 999, -1, 2**62))


def _open_dims(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    """All sizes of the inputs are left to the call."""
    for entry in model.graph.input:
        for axis, dim in enumerate(entry.type.tensor_type.shape.dim):
            dim.dim_param = f"{entry.name}_{axis}"
    del model.graph.value_info[:]
    for entry in model.graph.output:
        entry.type.tensor_type.ClearField("shape")


def _order(random: Random, model: onnx.ModelProto, donor: onnx.ModelProto) -> None:
    """Nodes in another order: the model means the same."""
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in model.graph.node]
    random.shuffle(nodes)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


_EDITS: Sequence[Edit] = (
    _any_field, _any_field, _any_field, _field_of_node, _field_of_node, _field_of_node, _another_op, _attribute_of_another,
    _attribute_of_another_kind, _rewire, _rewire, _node_of_another, _dims, _dims, _element_type, _constant, _constant, _constant,
    _initializer_as_input, _opset, _open_dims, _order,
)  # fmt: skip

"""Reads ONNX models: files with external data, opset conversion, function inlining, shape overrides, shape inference."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnx.inliner
import onnx.shape_inference
import onnx.version_converter
from google.protobuf.message import DecodeError, Message

from dlc.devices import refuse_endless
from dlc.errors import InvalidInputError, ParseError
from dlc.file_kinds import is_engine
from dlc.frontends.onnx.functions import expand_functions
from dlc.frontends.onnx.gradient import expand_gradients
from dlc.frontends.onnx.node_order import sort_nodes
from dlc.frontends.onnx.sequences import replace_sequences
from dlc.frontends.onnx.validation.model import validate
from dlc.frontends.onnx.values import InputValues, bind_values
from dlc.given_values import checked_path

OLDEST_NATIVE_OPSET = 7
TARGET_OPSET = 21
_ERROR_NAME = re.compile(r"^\[\w+Error\] *")
_PROTO_LIMIT = 2**31 - 1
NEED_TYPED_INPUTS = frozenset(
    {("", "EyeLike"), ("", "RegexFullMatch"), ("ai.onnx.ml", "DictVectorizer"), ("ai.onnx.ml", "LabelEncoder")}
)
"""Ops by domain whose shape rule in onnx 1.20 to 1.23 ends the process where the type of an input is not known."""
_UNSAFE = NEED_TYPED_INPUTS | {("", "Einsum")}
"""With those whose rule never ends on some attributes: for Einsum an equation with a `-` that no `>` follows."""
SAFE_NUMBERS: Mapping[tuple[str, str], tuple[str, range]] = {
    ("", "LayerNormalization"): ("axis", range(-(1 << 31), 1 << 31)),
    ("", "GatherND"): ("batch_dims", range(1 << 31)),
}
"""Ops by domain whose shape rule ends the process on some numbers of an attribute: its name, and the numbers to ask with."""
_MOST_SHAPE_VALUES = 1024
"""Elements of a tensor that shape inference may want to know the values of; larger ones are weights."""
_MOST_WRITTEN_VALUES = 1 << 20
"""Elements of a vector that shape inference may write down one by one, known or not."""


def load_model(source: str | os.PathLike[str] | onnx.ModelProto) -> tuple[onnx.ModelProto, str]:
    """The model and its name for messages; `ParseError` when a file is missing, no ONNX model, or lacks its external data."""
    if isinstance(source, onnx.ModelProto):
        return source, source.graph.name or "model"
    path = checked_path(source)
    try:
        refuse_endless(path)
        model = onnx.load(path)
    except FileNotFoundError as error:
        raise ParseError(f"{path}: error: {_missing(path, error)}") from None
    except (DecodeError, UnicodeDecodeError) as error:
        reason = "it is an engine, which is compiled already; dlc run and dlc.load run it" if is_engine(path) else str(error)
        raise ParseError(f"{path}: error: not an ONNX model: {reason}") from None
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        reason = getattr(error, "strerror", None) or _first_line(error)
        raise ParseError(f"{path}: error: cannot read the model: {reason}") from None
    if not model.HasField("graph"):
        raise ParseError(f"{path}: error: not an ONNX model: the file holds no graph")
    return model, str(path)


def _missing(path: Path, error: FileNotFoundError) -> str:
    if not path.exists():
        return "no such file"
    return f"external data file '{error.filename or '?'}' is missing"


def _first_line(error: Exception) -> str:
    """The first line of what another library says, without the name of its exception."""
    return _ERROR_NAME.sub("", str(error).strip() or "no reason given").split("\n")[0]


@dataclass(frozen=True)
class Expansion:
    """A call of a function, and the ops of its body."""

    call: onnx.NodeProto
    ops: tuple[str, ...]


@dataclass(frozen=True)
class PreparedModel:
    """A model that is ready for import. `proto` lacks the large `weights`, by name, so that nothing copies them.

    `values` are inputs that became constants, `expansions` the calls of functions that were replaced by their bodies.
    """

    proto: onnx.ModelProto
    weights: Mapping[str, onnx.TensorProto]
    values: Mapping[str, np.ndarray]
    expansions: Sequence[Expansion] = ()


def prepare_model(
    model: onnx.ModelProto,
    name: str,
    shapes: Mapping[str, Sequence[int | str | None]] | None = None,
    lenient: bool = False,
    values: InputValues | None = None,
) -> PreparedModel:
    """A checked copy: opset raised, nodes in order, values bound, functions without an importer inlined, and shapes inferred."""
    validate(model, name, lenient)
    try:
        slim, weights = _split_weights(_raise_opset(model, name))
    except UnicodeDecodeError as error:  # a description, which nothing else reads
        raise ParseError(f"{name}: error: a text of the model is not UTF-8: {error.reason}; export the model again") from None
    sort_nodes(slim)
    bound = bind_values(slim, values) if values else {}
    _declare(slim, weights)
    expansions: list[Expansion] = []
    slim = _inline_functions(slim, name, expansions)
    if shapes:
        slim = override_shapes(slim, shapes)
        _declare(slim, weights)
    slim = _replace_sequences(infer_shapes(slim), expansions)
    return PreparedModel(slim, weights, bound, expansions)


def _replace_sequences(model: onnx.ModelProto, expansions: list[Expansion]) -> onnx.ModelProto:
    """Put tensors in the place of sequences that are no more than those; `expansions` gets what was replaced."""
    shapes: dict[str, list[int | None]] = {}
    for entry in (*model.graph.value_info, *model.graph.output, *model.graph.input):
        if entry.type.HasField("tensor_type") and entry.type.tensor_type.HasField("shape"):
            dims = entry.type.tensor_type.shape.dim
            shapes[entry.name] = [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]

    def note(node: onnx.NodeProto, nodes: Sequence[onnx.NodeProto]) -> None:
        expansions.append(Expansion(node, tuple(each.op_type for each in nodes)))

    found = replace_sequences(model, opset_of(model), shapes, note)
    return model if found is model else infer_shapes(found)


def _split_weights(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, onnx.TensorProto]]:
    """A copy without the initializers that are too large to say anything about shapes, and these by name."""
    weights = {tensor.name: tensor for tensor in model.graph.initializer if math.prod(tensor.dims) > _MOST_SHAPE_VALUES}
    slim = onnx.ModelProto()
    _copy_fields(model, slim, "graph")
    _copy_fields(model.graph, slim.graph, "initializer")
    slim.graph.initializer.extend(tensor for tensor in model.graph.initializer if tensor.name not in weights)
    return slim, weights


def _copy_fields(source: Message, target: Message, left_out: str) -> None:
    for field, value in source.ListFields():
        if field.name == left_out:
            continue
        if hasattr(value, "extend"):
            getattr(target, field.name).extend(value)
        elif isinstance(value, Message):
            getattr(target, field.name).CopyFrom(value)
        else:
            setattr(target, field.name, value)


def _declare(model: onnx.ModelProto, tensors: Mapping[str, onnx.TensorProto]) -> None:
    """Put the types of `tensors` into value_info, where inliner and shape inference look for them."""
    declared = {entry.name for entry in (*model.graph.input, *model.graph.value_info)}
    for name, tensor in tensors.items():
        if name not in declared:
            model.graph.value_info.append(onnx.helper.make_tensor_value_info(name, tensor.data_type, list(tensor.dims)))


def opset_of(model: onnx.ModelProto, domain: str = "") -> int:
    """Version of a domain's opset that the model imports; 1 where it names none."""
    for entry in model.opset_import:
        if entry.domain in ((domain, "ai.onnx") if domain == "" else (domain,)):
            return int(entry.version)
    return 1


def _inline_functions(model: onnx.ModelProto, name: str, expansions: list[Expansion]) -> onnx.ModelProto:
    """Inline the model's own functions, then ONNX's function ops that have no importer; `expansions` gets what was replaced."""
    if model.functions:
        bodies = {(each.domain, each.name): tuple(node.op_type for node in each.node) for each in model.functions}
        called = [(node, bodies.get((node.domain, node.op_type))) for node in model.graph.node]
        expansions += [Expansion(node, ops) for node, ops in called if ops is not None]
        try:
            model = onnx.inliner.inline_local_functions(model, convert_version=True)  # those of other opsets, too
        except Exception as error:  # the inliner in C++ throws whatever its checks do
            remedy = "export the model without functions of its own"
            raise ParseError(f"{name}: error: cannot inline the model's functions: {_first_line(error)}; {remedy}") from None
    _declare(model, {tensor.name: tensor for tensor in model.graph.initializer})
    model = expand_gradients(model, opset_of(model), infer_shapes)

    def note(call: onnx.NodeProto, nodes: Sequence[onnx.NodeProto]) -> None:
        expansions.append(Expansion(call, tuple(node.op_type for node in nodes)))

    return expand_functions(model, functools.partial(opset_of, model), infer_shapes, note)


def _raise_opset(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Convert models older than the importers read; they read every spelling from opset 7 on."""
    if not _imports_default(model):
        return _with_default_opset(model)
    version = opset_of(model)
    if version >= OLDEST_NATIVE_OPSET:
        return model
    try:
        return onnx.version_converter.convert_version(model, TARGET_OPSET)
    except Exception as error:  # the adapters in C++ throw whatever their vectors and numbers do
        raise ParseError(
            f"{name}: error: cannot convert opset {version} to {TARGET_OPSET}: {_first_line(error)}; "
            f"export the model with opset {OLDEST_NATIVE_OPSET} or later"
        ) from None


def _imports_default(model: onnx.ModelProto) -> bool:
    return any(entry.domain in ("", "ai.onnx") for entry in model.opset_import)


def _with_default_opset(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model of other domains' ops alone, with an opset for those that stand for them."""
    raised = onnx.ModelProto()
    _copy_fields(model, raised, "")
    raised.opset_import.add(domain="", version=TARGET_OPSET)
    return raised


def override_shapes(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int | str | None]]) -> onnx.ModelProto:
    """Give inputs other shapes, and forget what was inferred from the old ones."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    inputs = {entry.name: entry for entry in copy.graph.input}
    for name, shape in shapes.items():
        if name not in inputs:
            raise InvalidInputError(f"shapes: the model has no input '{name}' (inputs: {', '.join(inputs)})")
        dims = inputs[name].type.tensor_type.shape.dim
        if dims and len(dims) != len(shape):
            raise InvalidInputError(f"shapes: input '{name}' has rank {len(dims)} but was given rank {len(shape)}")
        inputs[name].type.tensor_type.shape.Clear()
        for size in shape:
            dim = inputs[name].type.tensor_type.shape.dim.add()
            if isinstance(size, int):
                dim.dim_value = size
            elif size:
                dim.dim_param = size
    del copy.graph.value_info[:]
    for entry in copy.graph.output:
        entry.type.tensor_type.ClearField("shape")
    return copy


def infer_shapes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with value_info where ONNX can infer it; its own shape rules decide, so a failure here costs only detail."""
    if model.ByteSize() > _PROTO_LIMIT:
        return model
    fragile = [node for node in model.graph.node if _is_unsafe(node)]
    try:
        if fragile:
            return _infer_without(model, fragile)
        return onnx.shape_inference.infer_shapes(model, data_prop=not _has_endless_vector(model))
    except Exception:  # the rules in C++ throw whatever their vectors and numbers do
        return model


def _has_endless_vector(model: onnx.ModelProto) -> bool:
    """Whether a vector is declared that the propagation of values, which asks for no type, would never have written down."""
    for entry in (*model.graph.input, *model.graph.value_info, *model.graph.output):
        kind = entry.type.tensor_type
        if len(kind.shape.dim) == 1 and kind.shape.dim[0].dim_value > _MOST_WRITTEN_VALUES:
            return True
    return False


def _is_unsafe(node: onnx.NodeProto) -> bool:
    """Whether shape inference must not see a node, or one in a body of it."""
    key = ("" if node.domain == "ai.onnx" else node.domain, node.op_type)
    attribute, numbers = SAFE_NUMBERS.get(key, ("", range(0)))
    if key in _UNSAFE or any(each.name == attribute and each.i not in numbers for each in node.attribute):
        return True
    bodies = [each.g for each in node.attribute if each.HasField("g")]
    return any(_is_unsafe(inner) for body in bodies for inner in body.node)


def _infer_without(model: onnx.ModelProto, nodes: Sequence[onnx.NodeProto]) -> onnx.ModelProto:
    """The model with what ONNX infers when it does not see `nodes`."""
    seen, found = onnx.ModelProto(), onnx.ModelProto()
    seen.CopyFrom(model)
    for node in nodes:
        seen.graph.node.remove(node)
    found.CopyFrom(model)
    del found.graph.value_info[:]
    found.graph.value_info.extend(onnx.shape_inference.infer_shapes(seen, data_prop=not _has_endless_vector(seen)).graph.value_info)
    return found

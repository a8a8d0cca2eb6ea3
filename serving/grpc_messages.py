"""Messages of the protocol's gRPC service, made of the table below.

Source: Open Inference Protocol, `grpc_predict_v2.proto`; package, names and numbers are its own. The table spares generated code,
which fits some versions of protobuf alone. The messages live in a pool of their own, where those of a client library in the same
process do not meet them.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "inference"
SERVICE = f"{PACKAGE}.GRPCInferenceService"
METHODS = ("ServerLive", "ServerReady", "ModelReady", "ServerMetadata", "ModelMetadata", "ModelInfer")

_MODEL = ("name:1 string", "version:2 string")
_PARAMETERS = "InferParameter"
MESSAGES: dict[str, tuple[str, ...]] = {
    "ServerLiveRequest": (),
    "ServerLiveResponse": ("live:1 bool",),
    "ServerReadyRequest": (),
    "ServerReadyResponse": ("ready:1 bool",),
    "ModelReadyRequest": _MODEL,
    "ModelReadyResponse": ("ready:1 bool",),
    "ServerMetadataRequest": (),
    "ServerMetadataResponse": ("name:1 string", "version:2 string", "extensions:3 repeated string"),
    "ModelMetadataRequest": _MODEL,
    "ModelMetadataResponse": (
        "name:1 string",
        "versions:2 repeated string",
        "platform:3 string",
        "inputs:4 repeated ModelMetadataResponse.TensorMetadata",
        "outputs:5 repeated ModelMetadataResponse.TensorMetadata",
    ),
    "ModelMetadataResponse.TensorMetadata": ("name:1 string", "datatype:2 string", "shape:3 repeated int64"),
    "InferParameter": (
        "bool_param:1 oneof bool",
        "int64_param:2 oneof int64",
        "string_param:3 oneof string",
        "double_param:4 oneof double",
        "uint64_param:5 oneof uint64",
    ),
    "InferTensorContents": (
        "bool_contents:1 repeated bool",
        "int_contents:2 repeated int32",
        "int64_contents:3 repeated int64",
        "uint_contents:4 repeated uint32",
        "uint64_contents:5 repeated uint64",
        "fp32_contents:6 repeated float",
        "fp64_contents:7 repeated double",
        "bytes_contents:8 repeated bytes",
    ),
    "ModelInferRequest": (
        "model_name:1 string",
        "model_version:2 string",
        "id:3 string",
        "parameters:4 map",
        "inputs:5 repeated ModelInferRequest.InferInputTensor",
        "outputs:6 repeated ModelInferRequest.InferRequestedOutputTensor",
        "raw_input_contents:7 repeated bytes",
    ),
    "ModelInferRequest.InferInputTensor": (
        "name:1 string",
        "datatype:2 string",
        "shape:3 repeated int64",
        "parameters:4 map",
        "contents:5 InferTensorContents",
    ),
    "ModelInferRequest.InferRequestedOutputTensor": ("name:1 string", "parameters:2 map"),
    "ModelInferResponse": (
        "model_name:1 string",
        "model_version:2 string",
        "id:3 string",
        "parameters:4 map",
        "outputs:5 repeated ModelInferResponse.InferOutputTensor",
        "raw_output_contents:6 repeated bytes",
    ),
    "ModelInferResponse.InferOutputTensor": (
        "name:1 string",
        "datatype:2 string",
        "shape:3 repeated int64",
        "parameters:4 map",
        "contents:5 InferTensorContents",
    ),
}
"""Each message, those inside of others by dotted names, with its fields: name, number, label and type. A map is one of strings to
`InferParameter`; fields of a oneof are the choices of that."""

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = ("string", "bool", "bytes", "int32", "int64", "uint32", "uint64", "float", "double")


def _message_classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="open_inference.proto", package=PACKAGE, syntax="proto3")
    made: dict[str, descriptor_pb2.DescriptorProto] = {}
    for path, fields in MESSAGES.items():
        outer, _, name = path.rpartition(".")
        message = made[path] = made[outer].nested_type.add(name=name) if outer else file.message_type.add(name=name)
        for field in fields:
            _add_field(message, path, field)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {path: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{path}")) for path in MESSAGES}


def _add_field(message: descriptor_pb2.DescriptorProto, path: str, text: str) -> None:
    head, *label, kind = text.split()
    name, number = head.split(":")
    is_repeated = label == ["repeated"] or kind == "map"
    field = message.field.add(name=name, number=int(number), label=_Field.LABEL_REPEATED if is_repeated else _Field.LABEL_OPTIONAL)
    if kind == "map":
        _set_type(field, _add_map_entry(message, path))
        return
    _set_type(field, kind)
    if label == ["oneof"]:
        if not message.oneof_decl:
            message.oneof_decl.add(name="parameter_choice")
        field.oneof_index = 0


def _add_map_entry(message: descriptor_pb2.DescriptorProto, path: str) -> str:
    entry = message.nested_type.add(name="ParametersEntry")
    entry.options.map_entry = True
    for number, (name, kind) in enumerate((("key", "string"), ("value", _PARAMETERS)), 1):
        _set_type(entry.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL), kind)
    return f"{path}.ParametersEntry"


def _set_type(field: descriptor_pb2.FieldDescriptorProto, kind: str) -> None:
    if kind in _SCALARS:
        field.type = _Field.Type.Value(f"TYPE_{kind.upper()}")
        return
    field.type, field.type_name = _Field.TYPE_MESSAGE, f".{PACKAGE}.{kind}"


CLASSES = _message_classes()
"""The class of each message of `MESSAGES`."""

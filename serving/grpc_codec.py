"""Inference requests and answers as messages of gRPC: elements as raw bytes or as typed lists.

Source: Open Inference Protocol, "gRPC". Answers are raw, as Triton's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .datatypes import DATATYPES, array_of_bytes, array_of_numbers
from .errors import InvalidRequestError
from .grpc_messages import CLASSES
from .http_codec import REFUSED_PARAMETERS, InferRequest
from .interface import VERSION, Interface

_CONTENTS = {
    "BOOL": "bool_contents",
    "INT8": "int_contents",
    "INT16": "int_contents",
    "INT32": "int_contents",
    "INT64": "int64_contents",
    "UINT8": "uint_contents",
    "UINT16": "uint_contents",
    "UINT32": "uint_contents",
    "UINT64": "uint64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
}
"""The field of `InferTensorContents` for each datatype that has one."""


def read_request(interface: Interface, message: Any) -> InferRequest:
    """The request in a `ModelInferRequest`; `InvalidRequestError` says what is wrong with it."""
    _check_parameters(message.parameters, "the request")
    raw = message.raw_input_contents
    if raw and len(raw) != len(message.inputs):
        raise InvalidRequestError(f"there are {len(raw)} raw_input_contents for {len(message.inputs)} inputs")
    arrays: dict[str, np.ndarray] = {}
    for number, tensor in enumerate(message.inputs):
        if tensor.name in arrays:
            raise InvalidRequestError(f"input {tensor.name!r} is there twice")
        _check_parameters(tensor.parameters, f"input {tensor.name!r}")
        spec, shape = interface.checked_input(tensor.name, tensor.datatype, tensor.shape)
        if not raw:
            arrays[tensor.name] = _array_of_contents(tensor, spec.dtype, shape)
            continue
        if tensor.HasField("contents"):
            raise InvalidRequestError(f"input '{tensor.name}' has contents and raw_input_contents")
        arrays[tensor.name] = array_of_bytes(tensor.name, spec.dtype, shape, raw[number])
    inputs = interface.in_order(arrays)
    for tensor in message.outputs:
        _check_parameters(tensor.parameters, f"output {tensor.name!r}")
    outputs = interface.numbers_of([tensor.name for tensor in message.outputs])
    return InferRequest(message.id, inputs, outputs, [True] * len(outputs), _timeout(message.parameters))


def write_answer(interface: Interface, request: InferRequest, results: Sequence[np.ndarray]) -> bytes:
    """A `ModelInferResponse` with `results`, the wanted outputs in order."""
    answer = CLASSES["ModelInferResponse"](model_name=interface.name, model_version=VERSION, id=request.id)
    for number, array in zip(request.outputs, results, strict=True):
        spec = interface.outputs[number]
        answer.outputs.add(name=spec.name, datatype=DATATYPES[spec.dtype], shape=array.shape)
        answer.raw_output_contents.append(array.tobytes())
    content: bytes = answer.SerializeToString()
    return content


def _array_of_contents(tensor: Any, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    field = _CONTENTS.get(tensor.datatype)
    if field is None:
        raise InvalidRequestError(f"input '{tensor.name}' is {tensor.datatype}, which raw_input_contents alone can hold")
    others = [other.name for other, _ in tensor.contents.ListFields() if other.name != field]
    if others:
        raise InvalidRequestError(f"input '{tensor.name}' is {tensor.datatype}: its elements belong into {field}, not {others[0]}")
    return array_of_numbers(tensor.name, dtype, shape, list(getattr(tensor.contents, field)))


def _check_parameters(parameters: Any, where: str) -> None:
    for key in REFUSED_PARAMETERS:
        if key in parameters and any(value for _, value in parameters[key].ListFields()):
            raise InvalidRequestError(f"{where}: the parameter {key} is not supported")


def _timeout(parameters: Any) -> float | None:
    """In seconds, from Triton's parameter in microseconds."""
    if "timeout" not in parameters:
        return None
    given = parameters["timeout"]
    value = given.uint64_param or given.int64_param
    if value < 0 or given.WhichOneof("parameter_choice") not in ("int64_param", "uint64_param"):
        raise InvalidRequestError("the parameter timeout must be a number of microseconds")
    return value / 1e6 or None

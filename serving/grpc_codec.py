"""Inference requests and answers as messages of gRPC: elements as raw bytes or as typed lists.

Source: Open Inference Protocol, "gRPC". Answers are raw, as Triton's.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .datatypes import DATATYPES, array_of_numbers
from .errors import InvalidRequestError
from .grpc_messages import CLASSES
from .http_codec import REFUSED_PARAMETERS
from .interface import VERSION, ModelInterface
from .request import KEPT_HEADS, LONGEST_KEPT, InferRequest, RawInput, RequestHead

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


def read_request(interface: ModelInterface, message: Any) -> InferRequest:
    """The request in a `ModelInferRequest`, whose raw contents it takes out; `InvalidRequestError` says what is wrong with it."""
    contents = list(message.raw_input_contents)
    if not contents:
        return interface.request(_read_head(interface, message, 0), contents)
    message.ClearField("raw_input_contents")
    text = message.SerializeToString()
    read = _kept_head if len(text) <= LONGEST_KEPT else _head_of_bytes
    return interface.request(read(interface, text, len(contents)), contents)


def write_answer(interface: ModelInterface, head: RequestHead, results: Sequence[np.ndarray]) -> bytes:
    """A `ModelInferResponse` with `results`, the wanted outputs in order."""
    answer = CLASSES["ModelInferResponse"]()
    answer.ParseFromString(_kept_answer_head(interface, head.outputs, tuple(array.shape for array in results)))
    answer.id = head.id
    answer.raw_output_contents.extend([array.tobytes() for array in results])
    content: bytes = answer.SerializeToString()
    return content


@functools.lru_cache(maxsize=KEPT_HEADS)
def _kept_answer_head(interface: ModelInterface, numbers: tuple[int, ...], shapes: tuple[tuple[int, ...], ...]) -> bytes:
    """The bytes of a `ModelInferResponse` without contents."""
    answer = CLASSES["ModelInferResponse"](model_name=interface.name, model_version=VERSION)
    for number, shape in zip(numbers, shapes, strict=True):
        spec = interface.outputs[number]
        answer.outputs.add(name=spec.name, datatype=DATATYPES[spec.dtype], shape=shape)
    content: bytes = answer.SerializeToString()
    return content


def _head_of_bytes(interface: ModelInterface, text: bytes, raw: int) -> RequestHead:
    message = CLASSES["ModelInferRequest"]()
    message.ParseFromString(text)
    return _read_head(interface, message, raw)


_kept_head = functools.lru_cache(maxsize=KEPT_HEADS)(_head_of_bytes)


def _read_head(interface: ModelInterface, message: Any, raw: int) -> RequestHead:
    """The head that `message` is, beside which there are `raw` raw contents."""
    _check_parameters(message.parameters, "the request")
    if raw and raw != len(message.inputs):
        raise InvalidRequestError(f"there are {raw} raw_input_contents for {len(message.inputs)} inputs")
    given: dict[str, RawInput | np.ndarray] = {}
    for number, tensor in enumerate(message.inputs):
        if tensor.name in given:
            raise InvalidRequestError(f"input {tensor.name!r} is there twice")
        _check_parameters(tensor.parameters, f"input {tensor.name!r}")
        spec, shape = interface.checked_input(tensor.name, tensor.datatype, tensor.shape)
        if not raw:
            given[tensor.name] = _array_of_contents(tensor, spec.dtype, shape)
            continue
        if tensor.HasField("contents"):
            raise InvalidRequestError(f"input '{tensor.name}' has contents and raw_input_contents")
        given[tensor.name] = RawInput(spec, shape, number)
    inputs = interface.checked_order(given)
    for tensor in message.outputs:
        _check_parameters(tensor.parameters, f"output {tensor.name!r}")
    outputs = tuple(interface.numbers_of([tensor.name for tensor in message.outputs]))
    return RequestHead(message.id, inputs, outputs, (True,) * len(outputs), _timeout(message.parameters))


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

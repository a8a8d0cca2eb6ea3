"""Inference requests and answers as JSON, with or without the binary tensor data extension.

Source: Open Inference Protocol, "HTTP/REST", and Triton's extension_binary_data.md: the body is JSON of a length that a header
tells, then the bytes of the tensors that have `binary_data_size`, in order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .datatypes import DATATYPES, array_of_bytes, array_of_numbers, numbers_of_array
from .errors import InvalidRequestError
from .interface import VERSION, Interface

LENGTH_HEADER = "Inference-Header-Content-Length"
"""Bytes of the JSON before the binary data."""
_ENCODER = json.JSONEncoder(separators=(",", ":"))
REFUSED_PARAMETERS = ("shared_memory_region", "classification", "sequence_id", "priority")
"""Parameters of extensions which change what a request means and are not served."""


@dataclass(frozen=True)
class InferRequest:
    """A request that fits its model: inputs in order, numbers of the outputs that it wants, and which of these as bytes.

    `timeout` is in seconds, None where the request has none.
    """

    id: str
    inputs: list[np.ndarray]
    outputs: list[int]
    binary: list[bool]
    timeout: float | None = None


def read_request(interface: Interface, body: bytes, header_length: str | None) -> InferRequest:
    """The request in `body`, the JSON of which takes `header_length` bytes, or all if that is None.

    `InvalidRequestError` says what is wrong with it.
    """
    size = _length(header_length, len(body))
    record = _object(_parsed(body[:size] if size < len(body) else body), "the request")
    parameters = _parameters(record, "the request")
    arrays = _read_inputs(interface, record, memoryview(body)[size:])
    inputs = interface.in_order(arrays)
    wanted = [_object(each, "an output") for each in _list(record.get("outputs", []), "outputs")]
    names = [_text(each, "name", "an output") for each in wanted]
    is_binary = parameters.get("binary_data_output", False) is True
    chosen = [
        _parameters(each, f"output {name!r}").get("binary_data", is_binary) is True
        for each, name in zip(wanted, names, strict=True)
    ]
    outputs = interface.numbers_of(names)
    identity = _text(record, "id", "the request") if "id" in record else ""
    return InferRequest(identity, inputs, outputs, chosen or [is_binary] * len(outputs), _timeout(parameters))


def write_answer(interface: Interface, request: InferRequest, results: Sequence[np.ndarray]) -> tuple[bytes, int | None]:
    """The body of an answer with `results`, the wanted outputs in order, and the bytes of its JSON if there are others."""
    outputs, blobs = [], []
    for number, array, is_binary in zip(request.outputs, results, request.binary, strict=True):
        spec = interface.outputs[number]
        entry: dict[str, Any] = {"name": spec.name, "datatype": DATATYPES[spec.dtype], "shape": list(array.shape)}
        if is_binary:
            blobs.append(array.tobytes())
            entry["parameters"] = {"binary_data_size": len(blobs[-1])}
        else:
            entry["data"] = numbers_of_array(array)
        outputs.append(entry)
    record = {"model_name": interface.name, "model_version": VERSION, "outputs": outputs}
    if request.id:
        record["id"] = request.id
    head = _ENCODER.encode(record).encode()
    return (b"".join([head, *blobs]), len(head)) if blobs else (head, None)


def _read_inputs(interface: Interface, record: Mapping[str, Any], blob: memoryview) -> dict[str, np.ndarray]:
    """Inputs by name. All bytes of `blob` belong to one of them."""
    arrays: dict[str, np.ndarray] = {}
    begin = 0
    for given in _list(record.get("inputs"), "inputs"):
        entry = _object(given, "an input")
        name = _text(entry, "name", "an input")
        where = f"input {name!r}"
        if name in arrays:
            raise InvalidRequestError(f"{where} is there twice")
        spec, shape = interface.checked_input(name, _text(entry, "datatype", where), _list(entry.get("shape"), f"{where}: shape"))
        size = _parameters(entry, where).get("binary_data_size")
        if size is None:
            arrays[name] = array_of_numbers(name, spec.dtype, shape, entry.get("data"))
            continue
        if type(size) is not int or not 0 <= size <= len(blob) - begin:
            left = len(blob) - begin
            raise InvalidRequestError(f"{where}: binary_data_size is {_short(size)}, but {left} bytes of binary data are left")
        if "data" in entry:
            raise InvalidRequestError(f"{where} has data and binary_data_size")
        arrays[name] = array_of_bytes(name, spec.dtype, shape, blob[begin : begin + size])
        begin += size
    if begin != len(blob):
        raise InvalidRequestError(f"{len(blob) - begin} bytes of binary data belong to no input")
    return arrays


def _length(header: str | None, size: int) -> int:
    if header is None:
        return size
    if not (header.isascii() and header.isdigit() and len(header) < 20 and int(header) <= size):
        raise InvalidRequestError(f"{LENGTH_HEADER} is {_short(header)}; the body has {size} bytes")
    return int(header)


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8"))
    except RecursionError:
        raise InvalidRequestError("the request is no JSON that can be read: nested too deep") from None
    except ValueError as error:  # of UTF-8, of JSON, of numbers with thousands of digits
        raise InvalidRequestError(f"the request is no JSON that can be read: {str(error)[:200]}") from None


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidRequestError(f"{where} must be a JSON object, not {_short(value)}")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidRequestError(f"{where} must be a list, not {_short(value)}")
    return value


def _text(record: Mapping[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise InvalidRequestError(f"{where}: {key} must be a string, not {_short(value)}")
    return value


def _parameters(record: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    found = _object(record.get("parameters", {}), f"{where}: parameters")
    for key in REFUSED_PARAMETERS:
        if found.get(key):
            raise InvalidRequestError(f"{where}: the parameter {key} is not supported")
    return found


def _timeout(parameters: Mapping[str, Any]) -> float | None:
    """In seconds, from Triton's parameter in microseconds."""
    value = parameters.get("timeout")
    if value is None or value == 0:
        return None
    if type(value) is not int or not 0 < value < 1 << 63:
        raise InvalidRequestError(f"the parameter timeout must be a number of microseconds, not {_short(value)}")
    return value / 1e6


def _short(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return "missing" if value is None else repr(value)[:60]

"""Inference requests and answers as JSON, with or without the binary tensor data extension.

Source: Open Inference Protocol, "HTTP/REST", and Triton's extension_binary_data.md: the body is JSON of a length that a header
tells, then the bytes of the tensors that have `binary_data_size`, in order.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..runtime.signature import TensorSpec
from .datatypes import DATATYPES, array_of_numbers, numbers_of_array
from .errors import InvalidRequestError
from .interface import VERSION, ModelInterface
from .request import KEPT_HEADS, LONGEST_KEPT, InferRequest, RawInput, RequestHead

LENGTH_HEADER = "Inference-Header-Content-Length"
"""Bytes of the JSON before the binary data."""
_ENCODER = json.JSONEncoder(separators=(",", ":"))
REFUSED_PARAMETERS = ("shared_memory_region", "classification", "sequence_id", "priority")
"""Parameters of extensions which change what a request means and are not served."""


def read_request(interface: ModelInterface, body: bytes, header_length: str | None) -> InferRequest:
    """The request in `body`, the JSON of which takes `header_length` bytes, or all if that is None.

    `InvalidRequestError` says what is wrong with it.
    """
    size = _length(header_length, len(body))
    blob = memoryview(body)[size:]
    read = _kept_head if size <= LONGEST_KEPT and blob else _read_head
    head, bounds = read(interface, body[:size], len(blob))
    return interface.request(head, [blob[begin:end] for begin, end in bounds])


def write_answer(interface: ModelInterface, head: RequestHead, results: Sequence[np.ndarray]) -> tuple[bytes, int | None]:
    """The body of an answer with `results`, the wanted outputs in order, and the bytes of its JSON if there are others."""
    if all(head.binary) and not head.id:
        text = _kept_answer_head(interface, head.outputs, tuple(array.shape for array in results))
        return b"".join([text, *(array.tobytes() for array in results)]), len(text)
    outputs, blobs = [], []
    for number, array, is_binary in zip(head.outputs, results, head.binary, strict=True):
        entry = _answer_entry(interface.outputs[number], array.shape, is_binary)
        if is_binary:
            blobs.append(array.tobytes())
        else:
            entry["data"] = numbers_of_array(array)
        outputs.append(entry)
    text = _answer_text(interface, outputs, head.id)
    return (b"".join([text, *blobs]), len(text)) if blobs else (text, None)


@functools.lru_cache(maxsize=KEPT_HEADS)
def _kept_answer_head(interface: ModelInterface, numbers: tuple[int, ...], shapes: tuple[tuple[int, ...], ...]) -> bytes:
    outputs = [_answer_entry(interface.outputs[number], shape, True) for number, shape in zip(numbers, shapes, strict=True)]
    return _answer_text(interface, outputs, "")


def _answer_entry(spec: TensorSpec, shape: Sequence[int], is_binary: bool) -> dict[str, Any]:
    """The entry of an output, without its elements."""
    entry: dict[str, Any] = {"name": spec.name, "datatype": DATATYPES[spec.dtype], "shape": list(shape)}
    if is_binary:
        entry["parameters"] = {"binary_data_size": math.prod(shape) * spec.numpy_dtype.itemsize}
    return entry


def _answer_text(interface: ModelInterface, outputs: Sequence[Mapping[str, Any]], identity: str) -> bytes:
    record = {"model_name": interface.name, "model_version": VERSION, "outputs": outputs}
    if identity:
        record["id"] = identity
    return _ENCODER.encode(record).encode()


def _read_head(interface: ModelInterface, text: bytes, size: int) -> tuple[RequestHead, tuple[tuple[int, int], ...]]:
    """The head that the JSON `text` is, before `size` bytes of binary data, and where each of its binary inputs lies in these."""
    record = _object(_parsed(text), "the request")
    parameters = _parameters(record, "the request")
    given, bounds = _read_inputs(interface, record, size)
    inputs = interface.checked_order(given)
    wanted = [_object(each, "an output") for each in _list(record.get("outputs", []), "outputs")]
    names = [_text(each, "name", "an output") for each in wanted]
    is_binary = parameters.get("binary_data_output", False) is True
    chosen = [
        _parameters(each, f"output {name!r}").get("binary_data", is_binary) is True
        for each, name in zip(wanted, names, strict=True)
    ]
    outputs = tuple(interface.numbers_of(names))
    identity = _text(record, "id", "the request") if "id" in record else ""
    binary = tuple(chosen or [is_binary] * len(outputs))
    return RequestHead(identity, inputs, outputs, binary, _timeout(parameters)), tuple(bounds)


_kept_head = functools.lru_cache(maxsize=KEPT_HEADS)(_read_head)


def _read_inputs(
    interface: ModelInterface, record: Mapping[str, Any], blob_size: int
) -> tuple[dict[str, RawInput | np.ndarray], list[tuple[int, int]]]:
    """Inputs by name, and where the binary ones lie among `blob_size` bytes, all of which belong to one of them."""
    found: dict[str, RawInput | np.ndarray] = {}
    bounds: list[tuple[int, int]] = []
    begin = 0
    for given in _list(record.get("inputs"), "inputs"):
        entry = _object(given, "an input")
        name = _text(entry, "name", "an input")
        where = f"input {name!r}"
        if name in found:
            raise InvalidRequestError(f"{where} is there twice")
        spec, shape = interface.checked_input(name, _text(entry, "datatype", where), _list(entry.get("shape"), f"{where}: shape"))
        size = _parameters(entry, where).get("binary_data_size")
        if size is None:
            found[name] = array_of_numbers(name, spec.dtype, shape, entry.get("data"))
            continue
        if type(size) is not int or not 0 <= size <= blob_size - begin:
            left = blob_size - begin
            raise InvalidRequestError(f"{where}: binary_data_size is {_short(size)}, but {left} bytes of binary data are left")
        if "data" in entry:
            raise InvalidRequestError(f"{where} has data and binary_data_size")
        found[name] = RawInput(spec, shape, len(bounds))
        bounds.append((begin, begin + size))
        begin += size
    if begin != blob_size:
        raise InvalidRequestError(f"{blob_size - begin} bytes of binary data belong to no input")
    return found, bounds


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

"""Tensors of a model: their element types, dims and data."""

from __future__ import annotations

import math
from collections.abc import Iterator

import onnx

from dlc.frontends.onnx.validation.problems import Problems, place_of

_EXPORT = "export the model again"
_MOST_BYTES = 1 << 47
"""The user's half of the address space of x86-64 and AArch64 with pages of 4 KiB."""

_KINDS = onnx.TensorProto.DataType
_PACKED_BITS = {
    _KINDS.Value(name): bits
    for name, bits in {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6}.items()
    if name in _KINDS.keys()  # noqa: SIM118
}
"""Bits of an element of the types of which several share a byte; older onnx packages lack some of them."""
_UNPACKED = {"FLOAT6E2M3", "FLOAT6E3M2"}
"""Those of which int32_data holds one a number."""


def check_tensors(graph: onnx.GraphProto, problems: Problems) -> None:
    """Every tensor in the graph, its nodes and their subgraphs."""
    for place, tensor in tensors_of(graph):
        what = _fault(tensor)
        if what:
            problems.add(place, what, _EXPORT)


def tensors_of(graph: onnx.GraphProto) -> Iterator[tuple[str, onnx.TensorProto]]:
    """The tensors of a graph, with where they are."""
    for tensor in graph.initializer:
        yield f"initializer '{tensor.name}'", tensor
    for sparse in graph.sparse_initializer:
        yield f"sparse initializer '{sparse.values.name}'", sparse.values
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield f"{place_of(node)}, attribute '{attribute.name}'", attribute.t
            elif attribute.HasField("g"):
                yield from tensors_of(attribute.g)


def _fault(tensor: onnx.TensorProto) -> str:
    """What is wrong with a tensor, or an empty text."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL:  # the loader has read what files hold
        return "has data in another file, which a model in memory cannot name; load it with onnx.load"
    if tensor.data_type not in _KINDS.values() or tensor.data_type == _KINDS.UNDEFINED:
        return f"element type {tensor.data_type} does not exist"
    if any(dim < 0 for dim in tensor.dims):
        return f"dims {list(tensor.dims)} are negative"
    count = math.prod(tensor.dims)
    if tensor.data_type == _KINDS.STRING:
        return _typed_fault(tensor, "string_data", count)
    if _bytes_of(tensor.data_type, count) > _MOST_BYTES:
        return f"dims {list(tensor.dims)} are more than any machine can address"
    return _data_fault(tensor, count)


def _bytes_of(kind: int, count: int) -> int:
    if kind in _PACKED_BITS:
        return -(-count * _PACKED_BITS[kind] // 8)
    return count * int(onnx.helper.tensor_dtype_to_np_dtype(kind).itemsize)


def _data_fault(tensor: onnx.TensorProto, count: int) -> str:
    """Whether the data has as many bytes or numbers as the dims say."""
    size = _bytes_of(tensor.data_type, count)
    typed = onnx.helper.tensor_dtype_to_field(tensor.data_type)
    if not tensor.HasField("raw_data"):
        return _typed_fault(tensor, typed, count)
    if len(getattr(tensor, typed)):
        return f"has data twice, in raw_data and in {typed}"
    if len(tensor.raw_data) != size:
        return f"has {len(tensor.raw_data)} bytes of data but its dims {list(tensor.dims)} need {size}"
    return ""


def _typed_fault(tensor: onnx.TensorProto, typed: str, count: int) -> str:
    if tensor.data_type in (_KINDS.COMPLEX64, _KINDS.COMPLEX128):
        count *= 2
    elif tensor.data_type in _PACKED_BITS and _KINDS.Name(tensor.data_type) not in _UNPACKED:
        count = -(-count * _PACKED_BITS[tensor.data_type] // 8)
    have = len(getattr(tensor, typed))
    return "" if have == count else f"has {have} numbers in {typed} but its dims {list(tensor.dims)} need {count}"

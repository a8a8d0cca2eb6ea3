"""The types that a model declares for its values, and whether its nodes make such."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx

from dlc.dialects.dl.types import NUMPY_DTYPES, Dim, TensorType, dtype_of_numpy
from dlc.frontends.onnx.validation.problems import Problems, place_of


@dataclass(frozen=True)
class DeclaredTypes:
    """Types by value name as the file has them, before anything is inferred."""

    types: Mapping[str, TensorType]
    problems: Problems

    def compare(self, node: onnx.NodeProto, name: str, made: TensorType | None) -> None:
        """Note a problem if `node` makes the value `name` with another element type, rank or size than is declared."""
        declared = self.types.get(name)
        if declared is None or made is None or _agree(declared, made, _counts_doubtfully(node)):
            return
        what = f"makes '{name}' as {made} but the model declares {declared}"
        self.problems.add(place_of(node), what, "correct the declaration, or export the model again", tolerable=True)


def _counts_doubtfully(node: onnx.NodeProto) -> bool:
    """Whether the onnx package infers other sizes than the op has: with ceil_mode it counts windows that begin in the padding."""
    return any(attribute.name == "ceil_mode" and attribute.i for attribute in node.attribute)


def _agree(declared: TensorType, made: TensorType, any_size: bool) -> bool:
    if declared.dtype != made.dtype or declared.rank != made.rank:
        return False
    if any_size:
        return True
    pairs = zip(declared.shape, made.shape, strict=True)
    return all(left == right or not isinstance(left, int) or not isinstance(right, int) for left, right in pairs)


def declared_types(graph: onnx.GraphProto) -> dict[str, TensorType]:
    """The plain types that a graph declares for its inner values and outputs, as far as they are known."""
    pairs = [(entry.name, declared_type(entry)) for entry in (*graph.value_info, *graph.output)]
    return {name: kind for name, kind in pairs if kind is not None}


def declared_type(entry: onnx.ValueInfoProto) -> TensorType | None:
    """Plain type of a value, with dim_params as symbols; None where rank or element type is unknown or unsupported."""
    tensor = entry.type.tensor_type
    if not entry.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    try:
        dtype = dtype_of_numpy(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except (KeyError, TypeError, ValueError):
        return None
    return TensorType(tuple(_dim(dim) for dim in tensor.shape.dim), dtype) if dtype in NUMPY_DTYPES else None


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    return dim.dim_param or None

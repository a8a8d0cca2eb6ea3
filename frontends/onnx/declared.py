"""The types that a model declares for its values, and whether its nodes make such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import onnx

from dlc.dialects.dl.types import NUMPY_DTYPES, Dim, TensorType, dtype_of_numpy
from dlc.frontends.onnx.validation.problems import Problems, place_of


@dataclass(frozen=True)
class Declaration:
    """What a model says of a value: its element type by dl's name, or ONNX's where dl has none, and its dims; None is not said."""

    element: str | None
    shape: tuple[Dim, ...] | None

    def __str__(self) -> str:
        dims = ["..."] if self.shape is None else ["?" if dim is None else str(dim) for dim in self.shape]
        return f"tensor<{'x'.join([*dims, self.element or '?'])}>"

    def allows(self, made: TensorType, any_size: bool) -> bool:
        """Whether a value may be of type `made`; with `any_size`, its sizes do not count."""
        if self.element not in (None, made.dtype):
            return False
        if self.shape is None:
            return True
        if len(self.shape) != made.rank:
            return False
        pairs = zip(self.shape, made.shape, strict=True)
        return any_size or all(left == right or not isinstance(left, int) or not isinstance(right, int) for left, right in pairs)


@dataclass(frozen=True)
class DeclaredTypes:
    """Declarations by value name as the file has them, before anything is inferred."""

    types: Mapping[str, Sequence[Declaration]]
    problems: Problems
    has_sizes: bool
    """Whether sizes hold that bodies declare."""

    @classmethod
    def of(cls, graph: onnx.GraphProto, problems: Problems, has_sizes: bool) -> DeclaredTypes:
        """What `graph` declares; without `has_sizes`, shapes or values of inputs are other than the model says."""
        types = declared_types(graph)
        if not has_sizes:
            types = {name: [replace(each, shape=None) for each in declared] for name, declared in types.items()}
        return cls(types, problems, has_sizes)

    def compare(self, node: onnx.NodeProto, name: str, made: TensorType | None) -> None:
        """Note a problem if `node` makes the value `name` with another element type, rank or size than is declared."""
        if made is None:
            return
        declared = next((each for each in self.types.get(name, ()) if not each.allows(made, _counts_doubtfully(node))), None)
        if declared is None:
            return
        what = f"makes '{name}' as {made} but the model declares {declared}"
        self.problems.add(place_of(node), what, "correct the declaration, or export the model again", tolerable=True)

    def compare_taken(self, node: onnx.NodeProto, entry: onnx.ValueInfoProto, given: TensorType | None) -> None:
        """Note a problem if a body of `node` declares its input `entry` otherwise than what it is given.

        What a Loop carries may change its shape, so that the declared one holds for its first step alone in some models.
        """
        if given is None or not entry.type.HasField("tensor_type"):
            return
        declared = _declaration(entry.type.tensor_type)
        if node.op_type != "Scan":
            declared = replace(declared, shape=None)
        if not declared.allows(given, any_size=not self.has_sizes):
            what = f"its body is given '{entry.name}' as {given} but declares {declared}"
            self.problems.add(place_of(node), what, "correct the declaration, or export the model again", tolerable=True)


def _counts_doubtfully(node: onnx.NodeProto) -> bool:
    """Whether the onnx package infers other sizes than the op has.

    With ceil_mode it counts windows that begin in the padding, and it takes STFT for two-sided where onesided has its default.
    """
    if node.op_type == "STFT":
        return not any(attribute.name == "onesided" for attribute in node.attribute)
    return any(attribute.name == "ceil_mode" and attribute.i for attribute in node.attribute)


def declared_types(graph: onnx.GraphProto) -> dict[str, list[Declaration]]:
    """What a graph declares of its inner values and outputs that are tensors; an output may be declared twice."""
    found: dict[str, list[Declaration]] = {}
    for entry in (*graph.value_info, *graph.output):
        if entry.type.HasField("tensor_type"):
            found.setdefault(entry.name, []).append(_declaration(entry.type.tensor_type))
    return found


def _declaration(tensor: onnx.TypeProto.Tensor) -> Declaration:
    shape = tuple(_dim(dim) for dim in tensor.shape.dim) if tensor.HasField("shape") else None
    return Declaration(_element(tensor.elem_type), shape)


def _element(kind: int) -> str | None:
    """dl's name of an element type of ONNX, or ONNX's; None where it is undefined or unknown."""
    if kind == onnx.TensorProto.UNDEFINED or kind not in onnx.TensorProto.DataType.values():
        return None
    try:
        dtype = dtype_of_numpy(onnx.helper.tensor_dtype_to_np_dtype(kind))
    except (KeyError, TypeError, ValueError):
        dtype = ""
    return dtype if dtype in NUMPY_DTYPES else onnx.TensorProto.DataType.Name(kind).lower()


def declared_type(entry: onnx.ValueInfoProto) -> TensorType | None:
    """Plain type of a value, with dim_params as symbols; None where rank or element type is unknown or unsupported."""
    tensor = entry.type.tensor_type
    if not entry.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    dtype = _element(tensor.elem_type)
    if dtype is None or dtype not in NUMPY_DTYPES:
        return None
    return TensorType(tuple(_dim(dim) for dim in tensor.shape.dim), dtype)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    return dim.dim_param or None

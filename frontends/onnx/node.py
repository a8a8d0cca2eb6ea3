"""One ONNX node as its importer sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.dialects.dl.types import TensorType, dtype_of_numpy, tensor_type


class UnsupportedFeature(Exception):
    """An importer can't import its node; the message is the reason, in words for the user."""


class UnknownValue(UnsupportedFeature):
    """An importer must know the elements of the value `name`, or its dims (`of_dims`)."""

    def __init__(self, reason: str, name: str, of_dims: bool = False) -> None:
        self.name, self.of_dims = name, of_dims
        super().__init__(reason)


@dataclass(frozen=True)
class NodeContext:
    """Inputs, attributes and constants of one node; see `importers.py` for what an importer returns.

    `constants` gives the array behind a value's name where it is known at import, `materialize` the MLIR value of any name,
    `new_param` the value of an array as a new weight, `declared` the type that the model declares for a name, with symbols, and
    `import_body` what a graph within the node gives, from its inputs.
    """

    node: onnx.NodeProto
    opset: int
    constants: Callable[[str], np.ndarray | None]
    materialize: Callable[[str], ir.Value]
    new_param: Callable[[np.ndarray, str], ir.Value]
    declared: Callable[[str], TensorType | None]
    import_body: Callable[[onnx.GraphProto, Sequence[ir.Value | np.ndarray]], list[ir.Value | np.ndarray]]

    @property
    def num_inputs(self) -> int:
        return len(self.node.input)

    @property
    def num_outputs(self) -> int:
        return len(self.node.output)

    def has_input(self, index: int) -> bool:
        """True when input `index` is given (optional inputs may be absent or named "")."""
        return index < len(self.node.input) and bool(self.node.input[index])

    def uses_output(self, index: int) -> bool:
        """True when output `index` is named."""
        return index < len(self.node.output) and bool(self.node.output[index])

    def value(self, index: int) -> ir.Value:
        """MLIR value of an input that must be given."""
        if not self.has_input(index):
            self.unsupported(f"input {index} is missing")
        return self.materialize(self.node.input[index])

    def with_value(self, index: int, value: ir.Value) -> NodeContext:
        """The node with another value for an input, whose elements are not known."""
        name = f"{self.node.input[index]}#{index}"
        node = onnx.NodeProto()
        node.CopyFrom(self.node)
        node.input[index] = name
        return replace(
            self,
            node=node,
            materialize=lambda each: value if each == name else self.materialize(each),
            constants=lambda each: None if each == name else self.constants(each),
        )

    def optional_value(self, index: int) -> ir.Value | None:
        """MLIR value of an input, or None where it is absent."""
        return self.value(index) if self.has_input(index) else None

    def values(self) -> list[ir.Value]:
        """MLIR values of all inputs."""
        return [self.value(index) for index in range(self.num_inputs)]

    def type(self, index: int) -> TensorType:
        """Plain type of an input (dynamic dims are None)."""
        plain = tensor_type(self.value(index).type)
        if plain is None:
            self.unsupported(f"input {index} is no tensor of a supported element type")
        return plain

    def dtype(self, index: int) -> str | None:
        """Element type of an input that is given; None where dl has none such."""
        array = self.constant(index)
        if array is not None:
            return dtype_of_numpy(array.dtype)
        plain = tensor_type(self.materialize(self.node.input[index]).type)
        return None if plain is None else plain.dtype

    def rank(self, index: int) -> int:
        """Rank of an input."""
        return self.type(index).rank

    def constant(self, index: int) -> np.ndarray | None:
        """Array of an input that is known at import, else None (also where it is absent)."""
        return self.constants(self.node.input[index]) if self.has_input(index) else None

    def required_constant(self, index: int, what: str) -> np.ndarray:
        """Array of an input that must be known at import."""
        array = self.constant(index)
        if array is None:
            if not self.has_input(index):
                self.unsupported(f"{what} (input {index}) is missing")
            self.unknown(index, f"{what} (input {index}) must be known at compile time")
        return array

    def constant_scalar(self, index: int, what: str) -> Any:
        """The one number, as a NumPy scalar, of an input that must be known at import."""
        array = self.required_constant(index, what)
        if array.size != 1:
            self.unsupported(f"{what} (input {index}) has {array.size} numbers; give it one")
        return array.reshape(-1)[0]

    def attribute(self, name: str, default: Any = None) -> Any:
        """Python value of an attribute (str, int, float, lists of them, arrays for tensors), or `default`."""
        for attribute in self.node.attribute:
            if attribute.name == name:
                return _plain(onnx.helper.get_attribute_value(attribute))
        return default

    def has_attribute(self, name: str) -> bool:
        return any(attribute.name == name for attribute in self.node.attribute)

    def constant_value(self, array: np.ndarray | float | int, dtype: str | None = None) -> ir.Value:
        """A `dl.constant` of an array, converted to a dl dtype where one is given. For large arrays use `new_param`."""
        from dlc.dialects import dl
        from dlc.dialects.dl.types import NUMPY_DTYPES

        found: ir.Value = dl.constant(value=np.asarray(array, NUMPY_DTYPES[dtype] if dtype else None))
        return found

    def unknown(self, index: int, reason: str, of_dims: bool = False) -> NoReturn:
        """Report that the elements of an input, or its dims, must be known: code may be specialised on what they come from."""
        raise UnknownValue(reason, self.node.input[index], of_dims)

    def unsupported(self, reason: str) -> NoReturn:
        """Report that this node can't be imported, and why."""
        raise UnsupportedFeature(reason)


def key_of(node: onnx.NodeProto) -> tuple[str, str]:
    """Domain and op as the table of importers has them."""
    return ("" if node.domain == "ai.onnx" else node.domain, node.op_type)


def attribute_kinds(node: onnx.NodeProto) -> str:
    """The attributes of a node and their kinds, for messages."""
    kind = onnx.AttributeProto.AttributeType.Name
    return ", ".join(f"{entry.name}: {kind(entry.type)}" for entry in node.attribute) or "none"


def op_of(node: onnx.NodeProto) -> str:
    """The op with its domain, for messages."""
    domain, op = key_of(node)
    return f"{domain}.{op}" if domain else op


def label_of(node: onnx.NodeProto, index: int) -> str:
    """The name of the node at a place of its graph, for messages: its own, else its first output's."""
    return node.name or next((name for name in node.output if name), f"{node.op_type}_{index}")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, (list, tuple)) or type(value).__name__.startswith("Repeated"):
        return [_plain(item) for item in value]
    return value

"""Plain types of the operands of an op, by field."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from dlc._mlir import ir
from dlc.dialects.dl.types import TensorType, tensor_type

OperandValue: TypeAlias = ir.Value | Sequence[ir.Value] | None
"""What one operand field takes: a value, None for an optional one that is absent, values for a variadic one."""
InferredTypes: TypeAlias = tuple[TensorType, ...]


class _NotTensor:
    """Stands for the type of an operand that is no dl tensor."""


_NOT_TENSOR = _NotTensor()


def plain_type(mlir: ir.Type) -> Any:
    """The plain type of a dl tensor; what `is_tensor` is false of for others."""
    return tensor_type(mlir) or _NOT_TENSOR


def types_of(group: Any) -> Any:
    """The plain types of an operand field: one, None, or a tuple of them, in which a single one that is no tensor is all."""
    if group is None:
        return None
    if isinstance(group, list):
        types = tuple(plain_type(value.type) for value in group)
        return _NOT_TENSOR if _NOT_TENSOR in types else types
    return plain_type(group.type)


def is_tensor(types: Any) -> bool:
    """Whether what `types_of` gives stands for tensors alone, or for nothing."""
    return types is not _NOT_TENSOR

"""Whether inputs of a node are of the kinds that its op takes: floats where it takes floats, and of one type where it says so."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import onnx

from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.validation.nodes import schema_of

_KINDS = {"f": "float", "bf": "float", "i": "integer", "ui": "integer", "i1": "bool"}


@dataclass(frozen=True)
class _Parameter:
    """What an op takes as an input."""

    kinds: frozenset[str] | None
    """None where it takes what is no plain tensor, too."""
    type_name: str
    """Which others that have it share the type; empty where none do."""


def check_kinds(node: NodeContext) -> None:
    """Refuse a node with an input of a kind that no version of its op takes, or two of unlike types where it takes one.

    Widths are left to the op of dl that it becomes.
    """
    domain = "" if node.node.domain == "ai.onnx" else node.node.domain
    first: dict[str, int] = {}
    for index, parameter in enumerate(_parameters(node.node.op_type, node.opset, domain)[: node.num_inputs]):
        if parameter.kinds is None or not node.has_input(index):
            continue
        dtype = node.dtype(index)
        kind = _kind_of(dtype)
        if kind is not None and kind not in parameter.kinds:
            node.unsupported(f"input {index} is of kind {kind} but the op takes {' or '.join(sorted(parameter.kinds))}")
        other = first.setdefault(parameter.type_name, index) if parameter.type_name and dtype else index
        if dtype != node.dtype(other):
            node.unsupported(f"input {index} has elements of {dtype} but input {other} of {node.dtype(other)}; cast one of them")


@functools.lru_cache(maxsize=1024)
def _parameters(op: str, version: int, domain: str) -> tuple[_Parameter, ...]:
    """The inputs of an op by its schema."""
    schema = schema_of(op, version, domain)
    return () if schema is None else tuple(map(_parameter_of, schema.inputs))


def _parameter_of(parameter: onnx.defs.OpSchema.FormalParameter) -> _Parameter:
    is_named = parameter.is_homogeneous and not parameter.type_str.startswith("tensor(")
    return _Parameter(_kinds_of(frozenset(parameter.types)), parameter.type_str if is_named else "")


def _kinds_of(types: frozenset[str]) -> frozenset[str] | None:
    names = [name.removeprefix("tensor(").removesuffix(")") for name in types]
    if not all(name.startswith("tensor(") for name in types):
        return None
    found = {
        "float" if "float" in name or name == "double" else "bool" if name == "bool" else "integer" if "int" in name else name
        for name in names
    }
    return frozenset(found)


def _kind_of(dtype: str | None) -> str | None:
    if dtype is None:
        return None
    return _KINDS.get(dtype) or _KINDS.get(dtype.rstrip("0123456789"))

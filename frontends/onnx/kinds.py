"""Whether the inputs of a node are of the kinds that its op takes: floats where it takes floats, integers where integers."""

from __future__ import annotations

import functools

from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.validation.nodes import schema_of

_KINDS = {"f": "float", "bf": "float", "i": "integer", "ui": "integer", "i1": "bool"}


def check_kinds(node: NodeContext) -> None:
    """Refuse a node with an input of a kind that no version of its op takes. Widths are left to the op of dl that it becomes."""
    domain = "" if node.node.domain == "ai.onnx" else node.node.domain
    accepted = _accepted(node.node.op_type, node.opset, domain)
    for index, kinds in enumerate(accepted[: node.num_inputs]):
        if kinds is None or not node.has_input(index):
            continue
        kind = _kind_of(node.dtype(index))
        if kind is not None and kind not in kinds:
            node.unsupported(f"input {index} is of kind {kind} but the op takes {' or '.join(sorted(kinds))}")


@functools.lru_cache(maxsize=1024)
def _accepted(op: str, version: int, domain: str) -> tuple[frozenset[str] | None, ...]:
    """The kinds of each input by the op's schema; None where it takes what is no plain tensor, too."""
    schema = schema_of(op, version, domain)
    if schema is None:
        return ()
    return tuple(_kinds_of(frozenset(parameter.types)) for parameter in schema.inputs)


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

"""Reads what a module at any level takes and gives from its `dl.signature` attribute (see docs/design/0001-contracts.md)."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects.dl.types import tensor_type
from dlc.errors import InvalidInputError
from dlc.runtime.signature import Computation, Dim, Signature, TensorSpec

_ATTRIBUTE = "dl.signature"


def has_signature(module: ir.Module) -> bool:
    """Whether the module states what it takes and gives."""
    return _ATTRIBUTE in module.operation.attributes


def signature_of(module: ir.Module) -> Signature:
    """Signature of a lowered module; `InvalidInputError` when it states none."""
    if not has_signature(module):
        raise InvalidInputError(f"the module has no attribute {_ATTRIBUTE}; run dl-bind-params on the dl module first")
    entries = ir.DictAttr(module.operation.attributes[_ATTRIBUTE])
    return Signature(
        entry=ir.StringAttr(entries["entry"]).value,
        inputs=_specs(entries["inputs"]),
        outputs=_specs(entries["outputs"]),
        params=_specs(entries["params"]),
        precompute=_computation(ir.DictAttr(entries["precompute"])) if "precompute" in entries else None,
    )


def _computation(entries: ir.DictAttr) -> Computation:
    return Computation(ir.StringAttr(entries["entry"]).value, _specs(entries["params"]), _specs(entries["results"]))


def _specs(entries: ir.Attribute) -> tuple[TensorSpec, ...]:
    return tuple(_spec(ir.DictAttr(entry)) for entry in ir.ArrayAttr(entries))


def _spec(entry: ir.DictAttr) -> TensorSpec:
    plain = tensor_type(ir.TypeAttr(entry["type"]).value)
    if plain is None:
        raise InvalidInputError(f"{_ATTRIBUTE}: {entry['type']} is no tensor of a dl element type")
    names = [ir.StringAttr(name).value for name in ir.ArrayAttr(entry["dims"])] if "dims" in entry else []
    shape: list[Dim] = list(plain.shape)
    if len(names) > len(shape):
        raise InvalidInputError(f'{_ATTRIBUTE}: {len(names)} names of dims for {entry["type"]}; give a name, or "", for each dim')
    for axis, name in enumerate(names):
        if shape[axis] is None and name:
            shape[axis] = name
    return TensorSpec(ir.StringAttr(entry["name"]).value, tuple(shape), plain.dtype, "donated" in entry)

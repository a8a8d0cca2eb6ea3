"""Reads a module's signature, which it carries at every level as the attribute `dl.signature`."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects.dl.types import tensor_type
from dlc.errors import VerifyError
from dlc.runtime.signature import Signature, TensorSpec

ATTRIBUTE = "dl.signature"


def has_signature(module: ir.Module) -> bool:
    """Whether the module says what it takes and gives."""
    return ATTRIBUTE in module.operation.attributes


def signature_of(module: ir.Module) -> Signature:
    """The signature of a module at any level; `VerifyError` when it has none or it is malformed."""
    if not has_signature(module):
        raise VerifyError(f"the module has no '{ATTRIBUTE}' attribute; run dl-bind-params on it at the dl level")
    try:
        fields = ir.DictAttr(module.operation.attributes[ATTRIBUTE])
        specs = {key: _specs(fields[key]) for key in ("inputs", "outputs", "params")}
        return Signature(entry=ir.StringAttr(fields["entry"]).value, **specs)
    except (KeyError, ValueError, TypeError) as error:
        raise VerifyError(f"the module's '{ATTRIBUTE}' attribute is malformed: {error}") from None


def _specs(entries: ir.Attribute) -> tuple[TensorSpec, ...]:
    return tuple(_spec(ir.DictAttr(entry)) for entry in ir.ArrayAttr(entries))


def _spec(entry: ir.DictAttr) -> TensorSpec:
    """One `{name, type, dims}`; the optional `dims` names dynamic dims, "" where a dim has no name."""
    name = ir.StringAttr(entry["name"]).value
    kind = tensor_type(ir.TypeAttr(entry["type"]).value)
    if kind is None:
        raise ValueError(f"'{name}' is not a ranked tensor of a supported element type")
    shape = kind.shape
    if "dims" in entry:
        symbols = [ir.StringAttr(item).value for item in ir.ArrayAttr(entry["dims"])]
        shape = tuple(symbol or None if dim is None else dim for dim, symbol in zip(shape, symbols, strict=True))
    return TensorSpec(name, shape, kind.dtype)

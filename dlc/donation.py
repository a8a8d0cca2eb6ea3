"""Inputs that a caller gives away: compiled code may write them and return results in their memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dlc._mlir import ir
from dlc.diagnostics import did_you_mean
from dlc.errors import InvalidInputError
from dlc.lowering.stages import stage_of
from dlc.sources import Source, copy_module

_DONATED = "dl.donated"


def donating(source: Source, names: Sequence[str]) -> Source:
    """The same source with the attribute `dl.donated` on the inputs called `names`.

    `InvalidInputError` names one that the model does not have, and a model that is no dl module with one entry.
    """
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InvalidInputError(f"donate takes a list of names of inputs, not {names!r}")
    module = copy_module(source)
    if stage_of(module) != "dl":
        raise InvalidInputError("donate needs a model at the dl level; mark arguments with dl.donated in MLIR of other levels")
    entries = [op for op in module.body.operations if _is_public(op.operation)]
    if len(entries) != 1:
        raise InvalidInputError(f"donate needs a model with one public function, not {len(entries)}; make the others private")
    with module.context, ir.Location.unknown():
        _mark(entries[0].operation, names)
    return replace(source, module=module)


def _is_public(op: ir.Operation) -> bool:
    return op.name == "func.func" and "sym_visibility" not in op.attributes and len(op.regions[0].blocks) > 0


def _mark(function: ir.Operation, names: Sequence[str]) -> None:
    count = len(function.regions[0].blocks[0].arguments)
    given = list(ir.ArrayAttr(function.attributes["arg_attrs"])) if "arg_attrs" in function.attributes else []
    attributes = [ir.DictAttr(entry) for entry in given] or [ir.DictAttr.get({})] * count
    known = {
        str(entry["dl.name"].value) if "dl.name" in entry else f"arg{index}": index
        for index, entry in enumerate(attributes)
        if "dl.param" not in entry
    }
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f" (inputs: {', '.join(known) or 'none'})"
            raise InvalidInputError(f"donate: the model has no input '{name}'{hint}")
        named = {entry.name: entry.attr for entry in attributes[known[name]]}
        attributes[known[name]] = ir.DictAttr.get({**named, _DONATED: ir.UnitAttr.get()})
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)

"""The text form of a machine: a dictionary on a module, by the field names of its record; records inside are dictionaries again."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from dlc._mlir import ir
from dlc.errors import TargetError
from dlc.targets.machine.cpu import FLAT, Machine
from dlc.targets.machine.gpu import GpuMachine

TARGET = "dlc.target"
"""The module attribute that holds the CPU, by the field names of `Machine`."""

GPU = "dlc.gpu"
"""The module attribute that holds the GPU, by the field names of `GpuMachine`."""

_NOUNS = {TARGET: "a CPU", GPU: "a GPU"}
_Facts = TypeVar("_Facts", Machine, GpuMachine)

_KNOWN: dict[tuple[str, type], Machine | GpuMachine] = {}
"""What texts of attributes say: each pass on each function asks, and reading takes several times as long as printing."""
_MOST_KNOWN = 64


def write(module: ir.Operation, name: str, facts: Machine | GpuMachine) -> None:
    """State `facts` on `module`; members of inner records that have their default are left out."""
    default = type(facts)()
    with module.context, ir.Location.unknown():
        entries = {key: _to_attribute(value, getattr(default, key)) for key, value in vars(facts).items()}
        module.attributes[name] = ir.DictAttr.get(entries)


def read(attribute: ir.Attribute, name: str, kind: type[_Facts]) -> _Facts:
    """The facts that `write` wrote, or a person: what is left out has the default of `kind`."""
    text = str(attribute), kind
    if text not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[text] = _read(attribute, name, kind)
    known = _KNOWN[text]
    assert isinstance(known, kind)
    return known


def _read(attribute: ir.Attribute, name: str, kind: type[_Facts]) -> _Facts:
    default = kind()
    flat: dict[str, object] = {each: getattr(default, each) for each in FLAT} if isinstance(default, Machine) else {}
    known = vars(default) | flat
    listed = ", ".join(sorted(known))
    if not isinstance(attribute, ir.DictAttr):
        raise TargetError(f"{name} is {attribute}; give a dictionary of {listed}, or run dl-set-target")
    found = {}
    for entry in attribute:
        value = _from_attribute(entry.attr, known.get(entry.name))
        if value is None:
            raise TargetError(f"{name}: '{entry.name} = {entry.attr}' is no fact of {_NOUNS[name]} (facts: {listed})")
        found[entry.name] = value
    return default.override(**found)


def _to_attribute(value: object, default: object) -> ir.Attribute:
    if isinstance(value, frozenset):
        return ir.ArrayAttr.get([ir.StringAttr.get(item) for item in sorted(value)])
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    if isinstance(value, float):
        return ir.FloatAttr.get(ir.F64Type.get(), value)
    if isinstance(value, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    members = {key: (each, getattr(default, key)) for key, each in vars(value).items()}
    return ir.DictAttr.get({key: _to_attribute(*pair) for key, pair in members.items() if pair[0] != pair[1]})


def _from_attribute(attribute: ir.Attribute, default: object) -> Any:
    """The value of the kind of `default` that `attribute` holds; None where it holds none."""
    if dataclasses.is_dataclass(default) and not isinstance(default, type) and isinstance(attribute, ir.DictAttr):
        return _record(attribute, default)
    if isinstance(default, float) and isinstance(attribute, ir.FloatAttr | ir.IntegerAttr):
        return float(attribute.value)
    if isinstance(default, str) and isinstance(attribute, ir.StringAttr):
        return str(attribute.value)
    if isinstance(default, int) and isinstance(attribute, ir.IntegerAttr):
        return int(attribute.value)
    is_list = isinstance(attribute, ir.ArrayAttr) and all(isinstance(item, ir.StringAttr) for item in attribute)
    if isinstance(default, frozenset) and is_list:
        return frozenset(str(ir.StringAttr(item).value) for item in ir.ArrayAttr(attribute))
    return None


def _record(attribute: ir.DictAttr, default: Any) -> Any:
    """The record `default` with what `attribute` states; None where it states anything else."""
    known: Mapping[str, object] = vars(default)
    found = {entry.name: _from_attribute(entry.attr, known.get(entry.name)) for entry in attribute}
    return None if None in found.values() else dataclasses.replace(default, **found)

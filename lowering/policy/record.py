"""The policy in use: the groups of its fields, how one is overridden, read, and stated on a module."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlc._mlir import ir
from dlc.errors import InvalidInputError
from dlc.lowering.policy.blocks import BlockPolicy
from dlc.lowering.policy.cost import CostPolicy
from dlc.lowering.policy.fusion import FusionPolicy
from dlc.lowering.policy.gpu import GpuPolicy
from dlc.lowering.policy.graph import GraphPolicy
from dlc.lowering.policy.limits import Limits
from dlc.lowering.policy.memory import MemoryPolicy
from dlc.lowering.policy.packing import PackingPolicy
from dlc.lowering.policy.parallel import ParallelPolicy
from dlc.lowering.policy.search import SearchPolicy
from dlc.lowering.policy.setting import Setting
from dlc.lowering.policy.tiles import TilePolicy
from dlc.lowering.policy.winograd import WinogradPolicy

POLICY = "dlc.policy"
"""The module attribute with the fields that differ from their defaults, as JSON; absent where none does."""

FILE = "DLC_POLICY"
"""The environment variable that names a JSON file of fields that differ from their defaults."""


@dataclass(frozen=True)
class Policy:
    """All fields, in groups by what they decide. Names of fields are unique, so `override` takes them without their group."""

    graph: GraphPolicy = field(default_factory=GraphPolicy)
    packing: PackingPolicy = field(default_factory=PackingPolicy)
    winograd: WinogradPolicy = field(default_factory=WinogradPolicy)
    fusion: FusionPolicy = field(default_factory=FusionPolicy)
    tiles: TilePolicy = field(default_factory=TilePolicy)
    blocks: BlockPolicy = field(default_factory=BlockPolicy)
    cost: CostPolicy = field(default_factory=CostPolicy)
    memory: MemoryPolicy = field(default_factory=MemoryPolicy)
    parallel: ParallelPolicy = field(default_factory=ParallelPolicy)
    search: SearchPolicy = field(default_factory=SearchPolicy)
    gpu: GpuPolicy = field(default_factory=GpuPolicy)
    limits: Limits = field(default_factory=Limits)

    def override(self, **changes: Any) -> Policy:
        """The same policy with other values, by field name; `InvalidInputError` for an unknown name or a value out of range."""
        groups: dict[str, dict[str, Any]] = {}
        for name, value in changes.items():
            group = _GROUP_OF.get(name)
            if group is None:
                raise InvalidInputError(f"the policy has no field '{name}'; `python -m bench fit --list` lists them")
            groups.setdefault(group, {})[name] = _checked(name, value)
        return dataclasses.replace(
            self, **{group: dataclasses.replace(getattr(self, group), **found) for group, found in groups.items()}
        )

    def value_of(self, name: str) -> Any:
        """The value of the field `name`."""
        return getattr(getattr(self, _GROUP_OF[name]), name)

    def changes(self) -> dict[str, Any]:
        """The fields that differ from their defaults, sorted."""
        if self is _DEFAULT:
            return {}
        return {name: self.value_of(name) for name in sorted(_GROUP_OF) if self.value_of(name) != _DEFAULT.value_of(name)}

    def text(self) -> str:
        """The changes as JSON; empty for the default policy."""
        found = self.changes()
        return json.dumps(found, sort_keys=True) if found else ""


def _fields() -> Iterator[tuple[str, dataclasses.Field[Any]]]:
    for group in dataclasses.fields(Policy):
        for entry in dataclasses.fields(group.default_factory()):  # type: ignore[operator,arg-type]
            yield group.name, entry


_GROUP_OF: Mapping[str, str] = {entry.name: group for group, entry in _fields()}
_FIELDS: Mapping[str, dataclasses.Field[Any]] = {entry.name: entry for _, entry in _fields()}
_DEFAULT = Policy()


def group_of(name: str) -> str:
    """The group of a field."""
    return _GROUP_OF[name]


def settings() -> dict[str, Setting]:
    """What is known of each field that is one number, by name."""
    return {name: entry.metadata["setting"] for name, entry in _FIELDS.items() if "setting" in entry.metadata}


def _checked(name: str, value: Any) -> Any:
    """`value` as one of the field `name`; `InvalidInputError` where it is none."""
    default, stated = _FIELDS[name].default, _FIELDS[name].metadata.get("setting")
    if stated is None:
        if not isinstance(value, (list, tuple)) or not value or not all(type(item) is int and item > 0 for item in value):
            raise InvalidInputError(f"field '{name}' of the policy is {value!r}; give a list of whole numbers above 0")
        return tuple(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not stated.low <= value <= stated.high:
        raise InvalidInputError(f"field '{name}' of the policy is {value!r}; give a number from {stated.low} to {stated.high}")
    if isinstance(default, int) and value != int(value):
        raise InvalidInputError(f"field '{name}' of the policy is {value!r}; give a whole number")
    return int(value) if isinstance(default, int) else float(value)


def read_policy(file: str | Path) -> Policy:
    """The policy in a JSON file of fields that differ from their defaults; `InvalidInputError` where it says anything else."""
    try:
        content = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"can't read the policy {file}: {error}") from None
    if not isinstance(content, dict):
        raise InvalidInputError(f"the policy {file} is no object; give one of field names and values")
    return Policy().override(**content)


_CURRENT: ContextVar[Policy | None] = ContextVar("policy", default=None)
_FROM_FILE: dict[str, Policy] = {}


def policy() -> Policy:
    """The policy in use: that of the innermost `using`, else that of `DLC_POLICY`, else the default."""
    found = _CURRENT.get()
    return found if found is not None else _from_environment()


def _from_environment() -> Policy:
    file = os.environ.get(FILE)
    if not file:
        return _DEFAULT
    if file not in _FROM_FILE:
        _FROM_FILE[file] = read_policy(file)
    return _FROM_FILE[file]


@contextmanager
def using(chosen: Policy) -> Iterator[None]:
    """Make `chosen` the policy in use."""
    token = _CURRENT.set(chosen)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def policy_of(module: ir.Operation) -> Policy:
    """The policy that a module states in `dlc.policy`, else the one in use; `InvalidInputError` where that is none."""
    if POLICY not in module.attributes:
        return policy()
    text = module.attributes[POLICY]
    try:
        changes = json.loads(text.value) if isinstance(text, ir.StringAttr) else None
    except ValueError:
        changes = None
    if not isinstance(changes, dict):
        raise InvalidInputError(f"'{POLICY}' of the module is no JSON object of the policy's fields; leave it to the compiler")
    return Policy().override(**changes)


def state_policy(module: ir.Operation) -> None:
    """State the policy in use on a module, where it is not the default, so that workers obey it and keys of code differ."""
    text = policy().text()
    if text and POLICY not in module.attributes:
        with module.context:
            module.attributes[POLICY] = ir.StringAttr.get(text)

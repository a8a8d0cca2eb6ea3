"""Finds targets by listing folders: `targets/<name>/target.py` holds one class derived from `Target`; no list is kept anywhere.

`register_target` adds one that lives elsewhere. A target's module is imported when it is first asked for.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dlc.diagnostics import did_you_mean
from dlc.errors import TargetError

if TYPE_CHECKING:
    from dlc.targets.base import Target

_ROOT = Path(__file__).parent
_PLUGINS: dict[str, Target] = {}


@functools.lru_cache(maxsize=1)
def _folders() -> tuple[str, ...]:
    return tuple(sorted(file.parent.name for file in _ROOT.glob("*/target.py")))


@functools.cache
def _target_in(folder: str) -> Target:
    """The target that `targets/<folder>/target.py` defines."""
    from dlc.targets.base import Target

    module = importlib.import_module(f"dlc.targets.{folder}.target")
    found: type[Target] = next(
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Target) and value.__module__ == module.__name__
    )
    return found()


def targets() -> Iterator[Target]:
    """All targets: those of folders by name, then those that were registered."""
    yield from (_target_in(folder) for folder in _folders())
    yield from _PLUGINS.values()


def find_target(name: str) -> Target:
    """The target that a machine called `name` (`cpu`, `cpu:haswell`, `haswell`, `gpu:sm_90`) belongs to.

    `TargetError` that lists the names for one that is unknown.
    """
    if not isinstance(name, str):
        raise TargetError(f"a target is a name like cpu:haswell, not {name!r}")
    family = name.partition(":")[0]
    own = _target_in(family) if family in _folders() else _PLUGINS.get(family)
    found = own if own and own.supports(name) else next((target for target in targets() if target.supports(name)), None)
    if found is None:
        names = own.names() if own else [known for target in targets() for known in target.names()]
        raise TargetError(f"unknown target '{name}'{did_you_mean(name, names)} (targets: {', '.join(names)})")
    return found


def register_target(target: Target) -> None:
    """Make a target known in this process, by its name; one of the same name that was registered before goes.

    `TargetError` for an object that is no target, and for a name that a target of dlc has.
    """
    from dlc.targets.base import Target

    if not isinstance(target, Target):
        raise TargetError(f"{target!r} is no target; give an object of a class derived from dlc.Target")
    if not target.name.isidentifier() or not target.stages or not target.forms:
        raise TargetError(f"target {target!r} needs a name that is an identifier, stages, and forms to emit")
    if any(known.supports(target.name) for known in map(_target_in, _folders())):
        raise TargetError(f"the name '{target.name}' belongs to a target of dlc; give another one")
    _PLUGINS[target.name] = target

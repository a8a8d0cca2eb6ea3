"""Steps of a schedule as records: as they were made, and as text gives them."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints

from dlc.errors import ScheduleError
from dlc.lowering.pass_base import Pass

METHODS: Mapping[str, str] = {
    "tile": "affine-tile-band",
    "split": "affine-split-loop",
    "strip_mine": "affine-strip-mine-loop",
    "interchange": "affine-interchange-band",
    "fuse": "affine-fuse-loops",
    "distribute": "affine-distribute-loop",
    "fission": "affine-distribute-loop",
    "skew": "affine-skew-band",
    "peel": "affine-peel-loop",
    "split_index_set": "affine-split-index-set",
    "unroll": "affine-unroll-loop",
    "unroll_and_jam": "affine-unroll-and-jam-loop",
    "vectorize": "affine-vectorize-loop",
    "parallelize": "affine-parallelize-loop",
    "pack": "affine-pack-buffer",
    "reverse": "affine-reverse-loop",
    "shift": "affine-shift-statement",
    "compute_at": "affine-compute-at",
    "tile_registers": "affine-set-register-tile",
    "search": "affine-search-nest",
    "bind": "affine-bind-loop",
}
"""The methods of `dlc.Schedule` and the passes that do the same; the passes' options are the methods' arguments in order."""

SHARED = ("function", "assume_no_alias", "reassociate")
"""Options that say where a pass works, not what it does."""


@dataclass(frozen=True)
class Recorded:
    """A step that was made, and the names of the loops that it returned."""

    change: Pass
    loops: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """A loop that an earlier step returned, by the variable that holds it."""

    variable: str


@dataclass(frozen=True)
class Planned:
    """A step as text gives it: the pass, its options, and the variables that hold the loops which it returns."""

    kind: type[Pass]
    given: Mapping[str, object]
    targets: tuple[str, ...] = ()

    def change(self, variables: Mapping[str, str]) -> Pass:
        """The pass, where the variables of earlier steps have those values."""
        return self.kind(**{key: _resolved(value, variables) for key, value in self.given.items()})


def _resolved(value: object, variables: Mapping[str, str]) -> object:
    if isinstance(value, tuple):
        return tuple(_resolved(item, variables) for item in value)
    return variables[value.variable] if isinstance(value, Result) else value


@dataclass(frozen=True)
class Steps:
    """What the text of a schedule says."""

    where: Mapping[str, Any]
    """The options that all steps share."""
    steps: tuple[Planned, ...]


def arguments_of(change: Pass) -> Iterator[tuple[str, object]]:
    """The options that differ from their defaults, and say what the pass does."""
    for field in dataclasses.fields(change):
        value = getattr(change, field.name)
        if field.name not in SHARED and value != field.default:
            yield field.name, value


def require_kinds(change: Pass) -> None:
    """ScheduleError for an argument of a step that is of another kind than the option it stands for."""
    kinds = get_type_hints(type(change))
    for name, value in arguments_of(change):
        if not _is_of(value, kinds[name]):
            kind = kinds[name] if get_origin(kinds[name]) else kinds[name].__name__
            raise ScheduleError(f"'{name}' of {change.name()} is {value!r}", f"give a value of type {kind}, numbers of 64 bits")


def _is_of(value: object, kind: Any) -> bool:
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_is_of(item, get_args(kind)[0]) for item in value)
    if kind is int:
        return hasattr(value, "__index__") and not isinstance(value, bool) and operator.index(value).bit_length() < 64
    return isinstance(value, kind)

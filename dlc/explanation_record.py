"""Explanations as plain data that a file keeps, and back. Unlike `Explanation.to_json`, nothing is left out."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Union, cast

from dlc.explanation import Explanation
from dlc.targets.schedules import ScheduleTable


def to_record(explanation: Explanation) -> dict[str, Any]:
    """Plain data (for JSON) that `from_record` reads."""
    return cast("dict[str, Any]", _plain(explanation))


def from_record(record: object) -> Explanation:
    """The explanation that a record holds. `ValueError` where it is none."""
    try:
        return cast(Explanation, _rebuilt(Explanation, record))
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"no record of an explanation: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, ScheduleTable):
        return value.to_json()
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value


def _rebuilt(kind: Any, value: Any) -> Any:
    """A value of a type that an explanation has, of plain data. `TypeError` where it is of another one."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else _rebuilt(arguments[0], value)
    if kind is ScheduleTable:
        return ScheduleTable.of_json(value)
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return cast(type, kind)(**{each.name: _rebuilt(hints[each.name], value[each.name]) for each in fields(kind)})
    if origin is tuple:
        return tuple(_rebuilt(arguments[0], each) for each in _of(list, value))
    if origin is not None:  # a mapping by names
        return {key: _rebuilt(arguments[1], each) for key, each in _of(dict, value).items()}
    return float(value) if kind is float and type(value) is int else _of(kind, value)


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r:.40} is no {kind.__name__}")
    return value

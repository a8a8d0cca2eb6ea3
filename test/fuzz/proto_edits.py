"""Edits of protobuf messages: any field of any part, by its kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from fuzz.byte_edits import NUMBERS

_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 1e-45, 1e38, -1e38, float("nan"), float("inf"), float("-inf"))
_TEXTS = (
    "",
    "x",
    "NOTSET",
    "SAME_UPPER",
    "linear",
    "../../etc/passwd",
    "a\0b",
    "ä☃",
    "y" * 300,
    "com.microsoft",
    "ai.onnx.ml",
    "-1",
    " ",
)
_INTEGERS = {FieldDescriptor.CPPTYPE_INT32: 32, FieldDescriptor.CPPTYPE_INT64: 64, FieldDescriptor.CPPTYPE_UINT64: 64}


@dataclass(frozen=True)
class Site:
    """A field of one message of a model."""

    message: Message
    field: FieldDescriptor

    @property
    def value(self) -> Any:
        return getattr(self.message, self.field.name)


def sites(message: Message) -> list[Site]:
    """The fields that are set in a message and in those inside it, with one place in four where nothing is set."""
    found = []
    for field, value in message.ListFields():
        found.append(Site(message, field))
        if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                found += sites(inner)
    return found


def edit(random: Random, site: Site, model: Message) -> None:
    """Change the field in place to something of its kind, or to nothing."""
    if random.random() < 0.1:
        site.message.ClearField(site.field.name)
    elif site.field.is_repeated:
        _edit_list(random, site, model)
    elif site.field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        _replace(random, site, model)
    else:
        setattr(site.message, site.field.name, new_value(random, site.field, site.value, model))


def _edit_list(random: Random, site: Site, model: Message) -> None:
    items = list(site.value)
    random.choice(_LIST_EDITS)(random, site, items, model)
    if site.field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        items = [_copied(item) for item in items]
    site.message.ClearField(site.field.name)
    site.value.extend(items)


def _copied(message: Message) -> Message:
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def _drop(random: Random, site: Site, items: list[Any], model: Message) -> None:
    del items[random.randrange(len(items))]


def _double(random: Random, site: Site, items: list[Any], model: Message) -> None:
    items.insert(random.randrange(len(items) + 1), random.choice(items))


def _swap(random: Random, site: Site, items: list[Any], model: Message) -> None:
    first, second = random.randrange(len(items)), random.randrange(len(items))
    items[first], items[second] = items[second], items[first]


def _borrow(random: Random, site: Site, items: list[Any], model: Message) -> None:
    """An item of the same field elsewhere in the model."""
    others = [item for other in sites(model) if other.field is site.field for item in other.value]
    items.append(random.choice(others or items))


def _change(random: Random, site: Site, items: list[Any], model: Message) -> None:
    if site.field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        _borrow(random, site, items, model)
        return
    index = random.randrange(len(items))
    items[index] = new_value(random, site.field, items[index], model)


_LIST_EDITS: Sequence[Callable[[Random, Site, list[Any], Message], None]] = (
    _drop,
    _double,
    _swap,
    _borrow,
    _change,
    _change,
    _change,
)


def _replace(random: Random, site: Site, model: Message) -> None:
    """Put a message of the same type from elsewhere in the model here."""
    same = [other.value for other in sites(model) if other.field is site.field and not other.field.is_repeated]
    copy = _copied(random.choice(same or [site.value]))
    site.message.ClearField(site.field.name)
    site.value.CopyFrom(copy)


def new_value(random: Random, field: FieldDescriptor, old: Any, model: Message) -> Any:
    """Another value for a field that holds no message."""
    kind = field.cpp_type
    if kind in _INTEGERS:
        return _integer(random, old, _INTEGERS[kind], signed=kind != FieldDescriptor.CPPTYPE_UINT64)
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return random.choice(list(field.enum_type.values)).number
    if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return random.choice((*_FLOATS, old * 2, old + 1, -old))
    return _text(random, field, old, model)


def _integer(random: Random, old: int, bits: int, signed: bool) -> int:
    number = random.choice((*NUMBERS, old + 1, old - 1, -old, old * 2, random.randrange(30), random.randrange(30)))
    number &= 2**bits - 1
    return number - 2**bits if signed and number >= 2 ** (bits - 1) else number


def _text(random: Random, field: FieldDescriptor, old: Any, model: Message) -> Any:
    if field.type == FieldDescriptor.TYPE_BYTES:
        raw = bytearray(old)
        del raw[random.randrange(len(raw) + 1) :]
        return bytes(raw) + random.randbytes(random.choice((0, 0, 1, 4, 8)))
    known = [item for site in sites(model) if site.field.type == FieldDescriptor.TYPE_STRING for item in _texts(site)]
    return random.choice((random.choice(known or ["x"]), random.choice(known or ["x"]), random.choice(_TEXTS)))


def _texts(site: Site) -> list[str]:
    return list(site.value) if site.field.is_repeated else [site.value]

"""Ops of ai.onnx.ml that look strings up in tables."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dlc.dtypes import NUMPY_DTYPES
from dlc.runtime.host.registry import HostNode, HostOpError, host_op
from dlc.runtime.host.strings import STRINGS

_ML = "ai.onnx.ml"
_KINDS = {"strings": object, "int64s": np.int64, "floats": np.float32}
_DEFAULTS = {"strings": ("default_string", "_Unused"), "int64s": ("default_int64", -1), "floats": ("default_float", -0.0)}


@host_op("LabelEncoder", STRINGS, domain=_ML, always=False)
def label_encoder(node: HostNode, x: np.ndarray) -> np.ndarray:
    """The value of each key (ai.onnx.ml LabelEncoder), a default for those that the table lacks; nan is a key like others."""
    known, filler, dtype = node.once(_labels)
    given = x.reshape(-1).tolist()
    keys = given if x.dtype.kind in "Oiu" else list(map(_key, given))
    return np.fromiter(map(known.get, keys, itertools.repeat(filler)), dtype, x.size).reshape(x.shape)


def _labels(node: HostNode) -> tuple[dict[Any, Any], Any, Any]:
    """Values by key, the value of all others, and the dtype of values."""
    keys, _ = _table(node, "keys")
    values, kind = _table(node, "values")
    if len(keys) != len(values):
        raise HostOpError(f"has {len(keys)} keys for {len(values)} values; give as many")
    default = node.get("default_tensor")
    name, otherwise = _DEFAULTS[kind]
    filler = default.reshape(-1)[0] if default is not None else node.get(name, otherwise)
    known = {_key(key): value for key, value in zip(keys, values, strict=True)}
    return known, filler, values.dtype if isinstance(values, np.ndarray) else _KINDS[kind]


def _table(node: HostNode, side: str) -> tuple[Any, str]:
    """Keys or values of the table, and the name of their kind."""
    tensor = node.get(f"{side}_tensor")
    if tensor is not None:
        kind = "strings" if tensor.dtype == object else "int64s" if tensor.dtype.kind in "iu" else "floats"
        return tensor.reshape(-1), kind
    for kind in _KINDS:
        if node.get(f"{side}_{kind}"):
            return node.get(f"{side}_{kind}"), kind
    if node.get("classes_strings"):  # of version 1, which maps both ways
        raise HostOpError("is of version 1; export the model with ai.onnx.ml 2 or later")
    raise HostOpError(f"has no {side}; give {side}_tensor, {side}_strings, {side}_int64s or {side}_floats")


def _key(key: Any) -> Any:
    """A key that is equal to itself: all nans are one."""
    return "nan" if isinstance(key, float) and key != key else key


@host_op("CategoryMapper", STRINGS, domain=_ML)
def category_mapper(node: HostNode, x: np.ndarray) -> np.ndarray:
    """Strings as integers or the other way (ai.onnx.ml CategoryMapper)."""
    texts, numbers = node.get("cats_strings") or (), node.get("cats_int64s") or ()
    if len(texts) != len(numbers):
        raise HostOpError(f"has {len(texts)} strings for {len(numbers)} integers; give as many")
    is_text = x.dtype == object
    table: dict[Any, Any] = dict(zip(texts, numbers, strict=True) if is_text else zip(numbers, texts, strict=True))
    filler = node.get("default_int64", -1) if is_text else node.get("default_string", "_Unused")
    found = [table.get(key, filler) for key in x.reshape(-1).tolist()]
    return np.array(found, np.int64 if is_text else object).reshape(x.shape)


@host_op("OneHotEncoder", STRINGS, domain=_ML, always=False)
def one_hot_encoder(node: HostNode, x: np.ndarray) -> np.ndarray:
    """A new last axis with 1 at the category of each element, as f32 (ai.onnx.ml OneHotEncoder)."""
    categories = list(node.get("cats_strings") or node.get("cats_int64s") or ())
    places = {category: place for place, category in enumerate(categories)}
    flat = x.reshape(-1).tolist()
    unknown = next((value for value in flat if value not in places), None)
    if unknown is not None and not node.get("zeros", 1):
        raise HostOpError(f"{unknown!r} is none of the categories; set `zeros`, or give one of them")
    found = np.zeros((len(flat), len(categories)), NUMPY_DTYPES["f32"])
    for row, value in zip(found, flat, strict=True):
        if value in places:
            row[places[value]] = 1
    return found.reshape(*x.shape, len(categories))

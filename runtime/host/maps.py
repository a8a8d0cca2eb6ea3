"""Ops on maps, which are Python dicts here (ai.onnx.ml)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dlc.runtime.host.registry import HostNode, HostOpError, host_op
from dlc.runtime.host.strings import convert

MAPS = "maps live on the host"
_ML = "ai.onnx.ml"
_CAST_TYPES = {"TO_FLOAT": "f32", "TO_INT64": "i64", "TO_STRING": "string"}


@host_op("ZipMap", MAPS, domain=_ML)
def zip_map(node: HostNode, x: np.ndarray) -> list[dict[Any, float]]:
    """A map from class labels to scores for each row of x, [N, C] or [C] (ai.onnx.ml ZipMap)."""
    labels = node.get("classlabels_int64s") or node.get("classlabels_strings") or ()
    rows = x.reshape(1, -1) if x.ndim < 2 else x
    if rows.shape[1] != len(labels):
        raise HostOpError(f"{rows.shape[1]} scores come with {len(labels)} labels; give one label each")
    return [dict(zip(labels, map(float, row), strict=True)) for row in rows]


@host_op("DictVectorizer", MAPS, domain=_ML)
def dict_vectorizer(node: HostNode, given: Mapping[Any, Any]) -> np.ndarray:
    """The values of a map in the order of the vocabulary, 0 (or "") for those it lacks, as [1, C] (ai.onnx.ml DictVectorizer)."""
    words = node.get("string_vocabulary") or node.get("int64_vocabulary") or ()
    kind = type(next(iter(given.values()), 0.0))
    missing = kind()
    values = [given.get(word, missing) for word in words]
    dtype = object if kind is str else np.int64 if kind is int else np.float32
    return np.array([values], dtype)


@host_op("CastMap", MAPS, domain=_ML)
def cast_map(node: HostNode, given: Mapping[int, Any]) -> np.ndarray:
    """The values of a map by their keys in order, as [1, C]; keys are places where the form is SPARSE (ai.onnx.ml CastMap)."""
    to = _CAST_TYPES.get(node.get("cast_to", "TO_FLOAT"))
    if to is None:
        raise HostOpError(f"cast_to is '{node.get('cast_to')}'; give {', '.join(_CAST_TYPES)}")
    keys = sorted(given)
    if node.get("map_form", "DENSE") == "SPARSE":
        keys = list(range(node.get("max_map", 1)))
    filler: Any = "" if any(isinstance(value, str) for value in given.values()) else 0.0
    values = [given.get(key, filler) for key in keys]
    return convert(np.array([values], object if filler == "" else np.float32), to)

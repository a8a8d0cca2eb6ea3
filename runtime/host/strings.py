"""Ops on tensors of strings."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from dlc.dtypes import NUMPY_DTYPES
from dlc.runtime.host.registry import HostNode, HostOpError, host_op

STRINGS = "strings are not compiled"


def string_array(values: Any) -> np.ndarray:
    """Strings as an array of dtype object."""
    return np.asarray(values, dtype=object)


def map_strings(function: Callable[[str], Any], array: np.ndarray, dtype: Any = object) -> np.ndarray:
    """An array of `dtype` with what `function` makes of each string of `array`."""
    found = np.empty(array.shape, dtype)
    flat = found.reshape(-1)
    for index, text in enumerate(array.reshape(-1)):
        flat[index] = function(text)
    return found


@host_op("StringConcat", STRINGS)
def string_concat(node: HostNode, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Each string of x with that of y behind it; shapes broadcast (ONNX StringConcat)."""
    return string_array(np.add(string_array(x), string_array(y)))


@host_op("StringSplit", STRINGS)
def string_split(node: HostNode, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The parts of each string along a new last axis, filled up with "", and their numbers as i64 (ONNX StringSplit).

    Without a delimiter, strings are cut at runs of spaces, which are cut off their ends, too.
    """
    delimiter, most = node.get("delimiter") or None, node.get("maxsplit", -1)
    parts = [text.split(delimiter, most) for text in x.reshape(-1)]
    counts = np.array([len(each) for each in parts], np.int64)
    width = int(counts.max(initial=0))
    found = np.full((len(parts), width), "", object)
    for row, each in zip(found, parts, strict=True):
        row[: len(each)] = each
    return found.reshape(*x.shape, width), counts.reshape(x.shape)


@host_op("RegexFullMatch", STRINGS)
def regex_full_match(node: HostNode, x: np.ndarray) -> np.ndarray:
    """Whether all of a string matches `pattern`, as i1 (ONNX RegexFullMatch, whose expressions are those of RE2)."""
    return map_strings(_matcher(node.get("pattern", "")), x, np.bool_)


@functools.lru_cache(maxsize=64)
def _matcher(pattern: str) -> Callable[[str], bool]:
    try:
        compiled = re.compile(pattern.replace(r"\z", r"\Z"))
    except re.error as error:
        raise HostOpError(f"the pattern '{pattern}' is no regular expression: {error}") from None
    return lambda text: compiled.fullmatch(text) is not None


@host_op("Cast", STRINGS, always=False)
def cast(node: HostNode, x: np.ndarray) -> np.ndarray:
    """To strings, or from strings to numbers (ONNX Cast); a string that is no number is refused."""
    return convert(x, node.get("to"))


@host_op("CastLike", STRINGS, always=False)
def cast_like(node: HostNode, x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """As Cast, to the type of `like`."""
    return convert(x, "string" if like.dtype == object else like.dtype)


def convert(x: np.ndarray, to: Any) -> np.ndarray:
    """An array with elements of another type: "string", a dl element type or a NumPy dtype."""
    if to == "string":
        return x if x.dtype == object else map_strings(lambda value: _shown(value), x)
    if to is None or x.dtype.kind == "c":
        raise HostOpError(
            f"casts from {x.dtype} to {to or 'this type'} are not supported; cast strings or numbers that are not complex"
        )
    dtype: np.dtype = np.dtype(NUMPY_DTYPES.get(to, to))
    if x.dtype != object:
        return x.astype(dtype)
    return map_strings(functools.partial(_number, dtype), x, dtype)


def _shown(value: Any) -> str:
    """A number as text: floats in the fewest digits that give them back."""
    if isinstance(value, np.bool_ | bool):
        return "1" if value else "0"
    if isinstance(value, np.integer):
        return str(int(value))
    text = str(value)
    for special, name in (("nan", "NaN"), ("-inf", "-INF"), ("inf", "INF")):
        if text == special:
            return name
    return text


def _number(dtype: np.dtype, text: str) -> Any:
    try:
        if "_" in text:  # which Python takes between digits
            raise ValueError(text)
        if dtype.kind in "iu":
            number, limits = int(text), np.iinfo(dtype)
            if not limits.min <= number <= limits.max:
                raise OverflowError(text)
            return number
        return bool(int(text)) if dtype.kind == "b" else np.array(float(text)).astype(dtype)
    except (ValueError, OverflowError):
        raise HostOpError(f"the string '{text}' is no number of type {dtype}; give one, or strings that are") from None


@host_op("Equal", STRINGS, always=False)
def equal(node: HostNode, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether two strings are the same; shapes broadcast (ONNX Equal)."""
    return np.asarray(np.equal(x, y), np.bool_)

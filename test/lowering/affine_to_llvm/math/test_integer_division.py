"""Vectors of integers are divided exactly, whatever their values: near multiples, at the ends of the range. A zero is refused."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import dlc

_COUNT = 1 << 16
_DTYPES = {"i32": np.int32, "i16": np.int16, "i8": np.int8, "ui8": np.uint8}


def _operands(dtype: npt.DTypeLike, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Dividends near multiples of divisors of all magnitudes, in i64; the first ones are all pairs of extremes."""
    random, ends = np.random.default_rng(seed), np.iinfo(np.dtype(dtype))
    divisors = random.integers(ends.min, ends.max, _COUNT, np.int64, endpoint=True) >> random.integers(0, ends.bits, _COUNT)
    any_number = random.integers(ends.min, ends.max, _COUNT, np.int64, endpoint=True)
    whole = any_number // np.where(divisors == 0, 1, divisors)
    dividends = np.clip(whole * divisors + random.integers(-1, 2, _COUNT), ends.min, ends.max)
    extremes = np.unique(np.clip([ends.min, ends.min + 1, -1, 0, 1, 2, 3, ends.max - 1, ends.max], ends.min, ends.max))
    dividends[: extremes.size**2] = np.repeat(extremes, extremes.size)
    divisors[: extremes.size**2] = np.tile(extremes, extremes.size)
    return dividends, np.where(divisors == 0, 1, divisors)


@pytest.mark.parametrize("name", _DTYPES)
@pytest.mark.parametrize("op", ["div", "mod"])
def test_integer_division_is_exact(op: str, name: str) -> None:
    dtype = _DTYPES[name]
    kind, attributes = f"tensor<{_COUNT}x{name}>", "{fmod = true} " if op == "mod" else ""
    body = f'%y = "dl.{op}"(%a, %b) {attributes}: ({kind}, {kind}) -> {kind}'
    model = dlc.compile(f"func.func @main_graph(%a: {kind}, %b: {kind}) -> {kind} {{\n  {body}\n  return %y : {kind}\n}}")
    for seed in range(4):
        a, b = _operands(dtype, seed)
        quotient = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
        expected = quotient if op == "div" else a - quotient * b
        result = np.zeros(_COUNT, dtype)
        model.run([a.astype(dtype), b.astype(dtype)], [result])
        np.testing.assert_array_equal(result, expected.astype(dtype))
    b[-1] = 0
    with pytest.raises(dlc.InvalidInputError, match="integer division by zero"):
        model.run([a.astype(dtype), b.astype(dtype)], [result])

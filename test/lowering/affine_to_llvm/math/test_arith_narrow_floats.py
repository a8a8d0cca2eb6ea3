"""Arithmetic on f16 and bf16, compiled and run: one rounding to nearest even an op, NaN stays NaN."""

from __future__ import annotations

import numpy as np
import pytest
from elementwise_kernel import NUMPY, ElementwiseKernel

KINDS = ("f16", "bf16")
LANES = (0, 16)
EVERY = np.arange(1 << 16, dtype=np.uint16)
BINARY = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
}
UNARY = {"math.sqrt": np.sqrt, "math.floor": np.floor, "math.roundeven": np.rint, "math.absf": np.abs}


def _same(got: np.ndarray, want: np.ndarray) -> None:
    """Equal numbers; NaN where and only where wanted, whatever its payload."""
    np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))


def _vector(kind: str, lanes: int) -> str:
    return f"vector<{lanes}x{kind}>" if lanes else kind


def _pairs(kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    first, second = rng.permutation(EVERY), rng.permutation(EVERY)
    near = (rng.normal(size=EVERY.size).astype(np.float32).astype(NUMPY[kind]) for _ in range(2))
    return tuple(np.concatenate([a.view(NUMPY[kind]), b]) for a, b in zip((first, second), near, strict=True))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BINARY)
def test_binary_rounds_the_f32_result_once(name: str, kind: str, lanes: int) -> None:
    x, y = _pairs(kind)
    got = ElementwiseKernel(f"%y = arith.{name} %x0, %x1 : <t>", [kind, kind], kind, lanes)(x, y)
    with np.errstate(all="ignore"):
        _same(got, BINARY[name](x.astype(np.float32), y.astype(np.float32)).astype(NUMPY[kind]))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNARY)
def test_unary_rounds_the_f32_result_once(name: str, kind: str, lanes: int) -> None:
    x = EVERY.view(NUMPY[kind])
    got = ElementwiseKernel(f"%y = {name} %x0 : <t>", [kind], kind, lanes)(x)
    with np.errstate(all="ignore"):
        _same(got, UNARY[name](x.astype(np.float32)).astype(NUMPY[kind]))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", KINDS)
def test_compare_and_select(kind: str, lanes: int) -> None:
    x, y = _pairs(kind)
    condition = f"vector<{lanes}xi1>, <t>" if lanes else "<t>"
    body = f"%c = arith.cmpf olt, %x0, %x1 : <t>\n%y = arith.select %c, %x0, %x1 : {condition}"
    got = ElementwiseKernel(body, [kind, kind], kind, lanes)(x, y)
    with np.errstate(invalid="ignore"):
        _same(got, np.where(x.astype(np.float32) < y.astype(np.float32), x, y))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wide", ["f32", "f64"])
def test_extension_is_exact(wide: str, kind: str, lanes: int) -> None:
    x = EVERY.view(NUMPY[kind])
    got = ElementwiseKernel(f"%y = arith.extf %x0 : <t> to {_vector(wide, lanes)}", [kind], wide, lanes)(x)
    with np.errstate(invalid="ignore"):
        _same(got, x.astype(NUMPY[wide]))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wide", ["f32", "f64"])
def test_truncation_rounds_to_nearest_even(wide: str, kind: str, lanes: int) -> None:
    """Every narrow number, the midpoints to its neighbours, values just beside those, and NaN told by its last bit alone."""
    with np.errstate(all="ignore"):
        exact = EVERY.view(NUMPY[kind]).astype(NUMPY[wide])
        middle = (exact[:-1] + exact[1:]) / 2
        faint = np.array([np.inf], exact.dtype).view(f"u{exact.itemsize}") + 1
        beside = [np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)]
        x = np.concatenate([exact, middle, *beside, faint.view(exact.dtype)])
        want = _round(x, kind)
    body = f"%y = arith.truncf %x0 : <t> to {_vector(kind, lanes)}"
    _same(ElementwiseKernel(body, [wide], kind, lanes)(x), want)


def _round(x: np.ndarray, kind: str) -> np.ndarray:
    """`x` rounded once; ml_dtypes rounds f64 to bf16 through f32, twice, so the f32 step is made odd here."""
    if x.dtype == np.float32 or kind == "f16":
        return x.astype(NUMPY[kind])
    single = x.astype(np.float32)
    toward_zero = np.where(np.abs(single.astype(np.float64)) > np.abs(x), np.nextafter(single, np.float32(0)), single)
    inexact = np.isfinite(x) & (toward_zero.astype(np.float64) != x)
    odd = (toward_zero.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)
    return odd.astype(NUMPY[kind])


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["sitofp", "uitofp"])
@pytest.mark.parametrize("integer", ["i8", "i32", "i64"])
def test_integers_to_narrow_floats(integer: str, name: str, kind: str, lanes: int) -> None:
    """Integers that f32 holds exactly, so that the result is rounded once."""
    limits = np.iinfo(NUMPY[integer])
    x = np.clip(np.random.default_rng(0).integers(-70_000, 70_000, 4096), limits.min, limits.max).astype(NUMPY[integer])
    got = ElementwiseKernel(f"%y = arith.{name} %x0 : <t> to {_vector(kind, lanes)}", [integer], kind, lanes)(x)
    unsigned = x.view(x.dtype.str.replace("i", "u")) if name == "uitofp" else x
    with np.errstate(over="ignore"):
        _same(got, unsigned.astype(np.float32).astype(NUMPY[kind]))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "low"), [("fptosi", -120.0), ("fptoui", 0.0)])
@pytest.mark.parametrize("integer", ["i8", "i32", "i64"])
def test_narrow_floats_to_integers_truncate(integer: str, name: str, low: float, kind: str, lanes: int) -> None:
    x = np.linspace(low, 120, 4096).astype(np.float32).astype(NUMPY[kind])
    got = ElementwiseKernel(f"%y = arith.{name} %x0 : <t> to {_vector(integer, lanes)}", [kind], integer, lanes)(x)
    np.testing.assert_array_equal(got, np.trunc(x.astype(np.float32)).astype(NUMPY[integer]))

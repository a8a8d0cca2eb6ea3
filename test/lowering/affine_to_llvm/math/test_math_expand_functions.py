"""The expansions of `math-expand-functions` against NumPy in extended precision, over dense sweeps and special values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from elementwise_kernel import NUMPY, ElementwiseKernel, ulp_errors

from dlc.lowering.affine_to_llvm.math import math_expand_functions
from dlc.lowering.affine_to_llvm.math.math_expand_functions import EXPANSIONS
from dlc.targets.machine import Machine

WIDE = np.longdouble
LANES = {"f32": 16, "f64": 8}
POINTS = 40_000

pytestmark = pytest.mark.skipif(np.finfo(WIDE).nmant < 63, reason="needs 80-bit long double as the reference")


@dataclass(frozen=True)
class Function:
    """A NumPy reference, the intervals to sweep densely, and the largest error in ulp for f32 and f64."""

    reference: Callable[..., np.ndarray]
    intervals: tuple[tuple[float, float], ...]
    f32: float
    f64: float


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64)).astype(WIDE)


def _rsqrt(x: np.ndarray) -> np.ndarray:
    return 1 / np.sqrt(x)


ANGLES = ((-10.0, 10.0), (-1e5, 1e5), (-3e8, 3e8))
UNARY = {
    "exp": Function(np.exp, ((-110, 92), (-750, 712), (-1, 1)), 1.6, 1),
    "exp2": Function(np.exp2, ((-151, 130), (-1080, 1030), (-1, 1)), 1.1, 1),
    "expm1": Function(np.expm1, ((-20, 20), (-2, 2), (-100, 712)), 1.6, 2),
    "sinh": Function(np.sinh, ((-90, 90), (-2, 2), (-712, 712)), 2, 2.5),
    "cosh": Function(np.cosh, ((-90, 90), (-2, 2), (-712, 712)), 1.5, 1.5),
    "tanh": Function(np.tanh, ((-10, 10), (-1, 1), (-25, 25)), 5, 3),
    "log": Function(np.log, ((0, 4), (0.5, 1.5)), 1, 1),
    "log2": Function(np.log2, ((0, 4), (0.9, 1.1)), 1, 1),
    "log10": Function(np.log10, ((0, 4), (0.9, 1.1)), 1, 1),
    "log1p": Function(np.log1p, ((-1, 4), (-0.1, 0.1)), 1.5, 1.2),
    "asinh": Function(np.arcsinh, ((-5, 5), (-0.1, 0.1)), 2, 2),
    "acosh": Function(np.arccosh, ((1, 5), (1, 1.01)), 3, 3),
    "atanh": Function(np.arctanh, ((-1, 1), (-0.1, 0.1)), 2.2, 2.2),
    "cbrt": Function(np.cbrt, ((-5, 5),), 1, 1),
    "rsqrt": Function(_rsqrt, ((0, 5),), 1.6, 1.6),
    "sin": Function(np.sin, ANGLES, 1.8, 1),
    "cos": Function(np.cos, ANGLES, 1.8, 1),
    "tan": Function(np.tan, ANGLES, 3.8, 2.5),
    "asin": Function(np.arcsin, ((-1, 1),), 2, 2),
    "acos": Function(np.arccos, ((-1, 1), (0.99, 1)), 1.5, 1.5),
    "atan": Function(np.arctan, ((-5, 5), (-100, 100)), 2, 2),
    "erf": Function(_erf, ((-4, 4), (-1, 1), (-7, 7)), 5, 2),
}
BINARY = {"powf": (np.power, 1.5), "atan2": (np.arctan2, 2.0)}
SPECIAL = (0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 33.0, 7.000001, 1e-40, 1e-310, 1e30, 3e38, 1e300, math.inf)
SIGNED = (*SPECIAL, *(-x for x in SPECIAL), math.nan)


def _every_magnitude(dtype: type) -> np.ndarray:
    """Random bit patterns: every exponent, subnormals, infinities and NaN with payloads."""
    layout = {np.float32: np.uint32, np.float64: np.uint64}[dtype]
    bits = np.random.default_rng(0).integers(0, np.iinfo(layout).max, POINTS, dtype=layout)
    return bits.view(dtype)


def _sweep(function: Function, dtype: type) -> np.ndarray:
    with np.errstate(over="ignore"):
        special = np.array(SIGNED).astype(dtype)
    lines = [np.linspace(low, high, POINTS).astype(dtype) for low, high in function.intervals]
    return np.concatenate([special, *lines, _every_magnitude(dtype)])


def _assert_within(got: np.ndarray, reference: np.ndarray, limit: float, *arguments: np.ndarray) -> None:
    errors = ulp_errors(got, reference)
    worst = int(np.argmax(errors))
    shown = ", ".join(repr(argument[worst]) for argument in arguments)
    assert errors[worst] <= limit, f"{errors[worst]:.2f} ulp at {shown}: {got[worst]!r}, want {reference[worst]!r}"
    zero = got == 0
    assert np.array_equal(np.signbit(got[zero]), np.signbit(reference[zero])), "sign of zero"


def test_every_expansion_is_tested() -> None:
    names = {name.removeprefix("math.") for name in EXPANSIONS}
    assert names == {*UNARY, *BINARY, "sincos"}


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, kind: str) -> None:
    function = UNARY[name]
    x = _sweep(function, NUMPY[kind])
    body = f"%y = math.{name} %x0 : <t>"
    got = ElementwiseKernel(body, [kind], kind, LANES[kind])(x)
    with np.errstate(all="ignore"):
        reference = function.reference(x.astype(WIDE))
    _assert_within(got, reference, getattr(function, kind), x)
    few = x[:: x.size // 500]
    scalar = ElementwiseKernel(body, [kind], kind)(few)
    np.testing.assert_array_equal(scalar, got[:: x.size // 500])


@pytest.mark.parametrize("lanes", [0, 8])
def test_exp_without_avx512(lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(math_expand_functions, "facts_of", lambda _: Machine())
    x = _sweep(UNARY["exp"], np.float32)
    got = ElementwiseKernel("%y = math.exp %x0 : <t>", ["f32"], "f32", lanes)(x)
    with np.errstate(all="ignore"):
        reference = np.exp(x.astype(WIDE))
    _assert_within(got, reference, UNARY["exp"].f32, x)


def test_exp_of_numbers_known_not_to_be_positive() -> None:
    """Within 5 ulp of normal results, 0 below them, 0 and NaN for -inf and NaN."""
    below = _every_magnitude(np.float32)
    lines = [np.linspace(low, 0, POINTS).astype(np.float32) for low in (-110, -2)]
    x = np.concatenate([-np.abs(below), *lines, np.array([-0.0, 0.0, -np.inf, np.nan], np.float32)])
    got = ElementwiseKernel("%y = math.exp %x0 {dlc.nonpositive} : <t>", ["f32"], "f32", 16)(x)
    with np.errstate(all="ignore"):
        reference = np.exp(x.astype(WIDE))
    _assert_within(got, np.where(reference < np.finfo(np.float32).tiny, 0, reference), 5, x)


@pytest.mark.parametrize("negation", ["", "%minus = arith.negf %x0 : <t>"])
@pytest.mark.parametrize("lanes", [0, 8, 16])
def test_one_and_exp(lanes: int, negation: str) -> None:
    """Within 3 ulp and infinite where the sum is, on every target and for scalars, too."""
    lines = [np.linspace(low, high, POINTS).astype(np.float32) for low, high in ((-110, 92), (88, 89.6), (-2, 2))]
    x = np.concatenate([np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32), *lines, _every_magnitude(np.float32)])
    one = "dense<1.0>" if lanes else "1.0"
    argument = "%minus" if negation else "%x0"
    body = f"%one = arith.constant {one} : <t>\n{negation}\n%e = math.exp {argument} : <t>\n%y = arith.addf %e, %one : <t>"
    got = ElementwiseKernel(body, ["f32"], "f32", lanes)(x)
    with np.errstate(all="ignore"):
        reference = 1 + np.exp((-x if negation else x).astype(WIDE))
    _assert_within(got, reference, 3, x)


@pytest.mark.parametrize("lanes", [0, 16])
def test_sigmoid_times_tanh(lanes: int) -> None:
    """Within 8 ulp; finite, never above 1 and right for the special values of both."""
    rng = np.random.default_rng(2)
    special = np.array([0.0, -0.0, 9.02, -9.02, 88, -88, 100, -100, np.inf, -np.inf, np.nan], np.float32)
    x, gate = (
        np.concatenate([grid.ravel(), rng.uniform(-12, 12, POINTS).astype(np.float32)]) for grid in np.meshgrid(special, special)
    )
    gate[-POINTS // 4 :] = rng.uniform(-86, 90, POINTS // 4)
    x[-POINTS // 2 :] = np.geomspace(1e-34, 1, POINTS // 2) * rng.choice([-1, 1], POINTS // 2)
    one = "dense<1.0>" if lanes else "1.0"
    lines = (
        f"%one = arith.constant {one} : <t>",
        "%minus = arith.negf %x1 : <t>",
        "%e = math.exp %minus : <t>",
        "%sum = arith.addf %e, %one : <t>",
        "%q = arith.divf %one, %sum : <t>",
        "%t = math.tanh %x0 : <t>",
        "%y = arith.mulf %q, %t : <t>",
    )
    got = ElementwiseKernel("\n".join(lines), ["f32", "f32"], "f32", lanes)(x, gate)
    with np.errstate(all="ignore"):
        reference = np.tanh(x.astype(WIDE)) / (1 + np.exp(-gate.astype(WIDE)))
    normal = ~(np.abs(reference) < np.finfo(np.float32).tiny)
    _assert_within(got[normal], reference[normal], 8, x[normal], gate[normal])
    np.testing.assert_allclose(got[~normal].astype(WIDE), reference[~normal], rtol=0, atol=2.0**-126)
    assert not (np.abs(got) > 1).any()


def test_log1p_of_numbers_known_to_be_within_0_and_1() -> None:
    x = np.concatenate([np.linspace(0, 1, POINTS), np.geomspace(1e-37, 1, POINTS), [np.nan]]).astype(np.float32)
    got = ElementwiseKernel("%y = math.log1p %x0 {dlc.unit_interval} : <t>", ["f32"], "f32", 16)(x)
    _assert_within(got, np.log1p(x.astype(WIDE)), 2, x)


def _pairs(name: str, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of special values, and random pairs (for powf with results over the whole range)."""
    rng = np.random.default_rng(1)
    with np.errstate(over="ignore"):
        special = np.array(SIGNED).astype(dtype)
    first, second = (grid.ravel() for grid in np.meshgrid(special, special))
    if name == "atan2":
        return tuple(np.concatenate([grid, rng.normal(size=POINTS).astype(dtype)]) for grid in (first, second))
    base = np.concatenate([np.exp(rng.uniform(-50, 50, POINTS)), rng.uniform(0.9, 1.1, POINTS)]).astype(dtype)
    reach = math.log(float(np.finfo(dtype).max)) * 1.1
    exponent = rng.uniform(-reach, reach, base.size) / (np.log(base.astype(np.float64)) + 1e-12)
    return np.concatenate([first, base]), np.concatenate([second, exponent.astype(dtype)])


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, kind: str) -> None:
    function, limit = BINARY[name]
    x, y = _pairs(name, NUMPY[kind])
    got = ElementwiseKernel(f"%y = math.{name} %x0, %x1 : <t>", [kind, kind], kind, LANES[kind])(x, y)
    with np.errstate(all="ignore"):
        reference = function(x.astype(WIDE), y.astype(WIDE))
    _assert_within(got, reference, limit, x, y)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_sincos_equals_sin_and_cos(kind: str) -> None:
    x = _sweep(UNARY["sin"], NUMPY[kind])
    for name, result in (("sin", 0), ("cos", 1)):
        both = f"%s:2 = math.sincos %x0 : <t>\n%y = arith.addf %s#{result}, %s#{result} : <t>"
        one = f"%s = math.{name} %x0 : <t>\n%y = arith.addf %s, %s : <t>"
        got, want = (ElementwiseKernel(body, [kind], kind, LANES[kind])(x) for body in (both, one))
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["erf", "tanh"])
def test_f32_saturates_at_exactly_one(name: str) -> None:
    x = np.array([3.93, 9.02, 100, np.inf], np.float32) if name == "erf" else np.array([9.02, 100, np.inf], np.float32)
    kernel = ElementwiseKernel(f"%y = math.{name} %x0 : <t>", ["f32"], "f32", 16)
    assert (kernel(x) == 1).all()
    assert (kernel(-x) == -1).all()
    assert (np.abs(kernel(np.linspace(-12, 12, POINTS).astype(np.float32))) <= 1).all()


@pytest.mark.parametrize("name", ["exp", "erf", "tanh", "sin", "log"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_narrow_floats_round_the_f32_result_once(name: str, kind: str) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(NUMPY[kind])
    narrow = ElementwiseKernel(f"%y = math.{name} %x0 : <t>", [kind], kind, 16)(x)
    wide = ElementwiseKernel(f"%y = math.{name} %x0 : <t>", ["f32"], "f32", 16)(x.astype(np.float32))
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(narrow.astype(np.float32), wide.astype(NUMPY[kind]).astype(np.float32))


@pytest.mark.parametrize("lanes", [0, 16])
def test_object_code_calls_no_math_library(lanes: int, tmp_path: Path) -> None:
    instructions = ("sqrt", "floor", "ceil", "trunc", "round", "roundeven", "absf", "copysign")
    names = [*UNARY, *BINARY, *instructions]
    lines = ["%s0 = arith.addf %x0, %x0 : <t>"]
    for index, name in enumerate(names):
        operands = f"%s{index}, %x0" if name in BINARY or name == "copysign" else f"%s{index}"
        lines.append(f"%s{index + 1} = math.{name} {operands} : <t>")
    lines.append(f"%y = arith.addf %s{len(names)}, %x0 : <t>")
    for kind in ("f32", "f64"):
        code = ElementwiseKernel("\n".join(lines), [kind], kind, lanes).object_code(tmp_path)
        symbols = {text.decode() for text in re.findall(rb"(?<=\0)[a-z_0-9]+(?=\0)", code)}
        called = {name for name in (*names, "fma", "pow", "fabs") if {name, f"{name}f"} & symbols}
        assert not called

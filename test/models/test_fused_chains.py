"""Chains of dl ops that become one kernel: what they compute, and that nothing between the ops is stored."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import dlc
from dlc.dialects.dl.interpreter import interpret

NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
TOLERANCE = {"f64": 1e-6, "f32": 1e-5, "f16": 4e-3, "bf16": 3e-2}
SEGMENTS = "operandSegmentSizes = array<i32: 1, 1, 1>"
CHAINS = {
    "softmax": ("R", 3, '%r = "dl.softmax"(%a0) {axis = -1 : i64} : (R) -> R'),
    "log_softmax": ("R", 3, '%r = "dl.log_softmax"(%a0) {axis = -1 : i64} : (R) -> R'),
    "scaled_softmax": (
        "RR",
        3,
        '%s = "dl.mul"(%a0, %a1) : (R, R) -> R  %r = "dl.softmax"(%s) {axis = -1 : i64} : (R) -> R',
    ),
    "layer_norm": (
        "RRWW",
        3,
        '%s = "dl.add"(%a0, %a1) : (R, R) -> R\n'
        f'%n = "dl.layer_norm"(%s, %a2, %a3) {{axis = -1 : i64, {SEGMENTS}}} : (R, W, W) -> R\n'
        '%r = "dl.relu"(%n) : (R) -> R',
    ),
    "rms_norm": (
        "RRW",
        2,
        '%s = "dl.add"(%a0, %a1) : (R, R) -> R\n'
        '%r = "dl.rms_norm"(%s, %a2) {axis = -1 : i64, operandSegmentSizes = array<i32: 1, 1>} : (R, W) -> R',
    ),
    "gelu": ("RW", 1, '%s = "dl.add"(%a0, %a1) : (R, W) -> R\n%r = "dl.gelu"(%s) : (R) -> R'),
}
"""Kinds of the arguments (R: rows, W: weights of a row), loops over the elements of a row, and the ops."""


def text_of(name: str, rows: str, columns: int, dtype: str) -> str:
    """A module whose function is the chain on `rows` rows."""
    kinds, _, body = CHAINS[name]
    types = {"R": f"tensor<{rows}x{columns}x{dtype}>", "W": f"tensor<{columns}x{dtype}>"}
    for kind, text in types.items():
        body = re.sub(rf"\b{kind}\b", text, body)
    dims = ' {dl.dims = ["n", ""]}' if rows == "?" else ""
    arguments = ", ".join(f"%a{index}: {types[kind]}{dims if kind == 'R' else ''}" for index, kind in enumerate(kinds))
    return f"func.func @main({arguments}) -> {types['R']} {{\n{body}\nreturn %r : {types['R']}\n}}"


def arrays_for(name: str, rows: int, columns: int, dtype: str) -> list[np.ndarray]:
    """Random inputs of the chain."""
    generator = np.random.default_rng(0)
    shapes = {"R": (rows, columns), "W": (columns,)}
    return [generator.standard_normal(shapes[kind]).astype(NUMPY[dtype]) for kind in CHAINS[name][0]]


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("dtype", NUMPY)
@pytest.mark.parametrize("rows", [5, "?"])
@pytest.mark.parametrize("name", CHAINS)
def test_chain(name: str, rows: int | str, dtype: str) -> None:
    """Equal to the interpreter for whole vectors, tails, and rows that stay in registers; on two threads the same bits."""
    for columns in (1, 37, 64):
        text = text_of(name, str(rows), columns, dtype)
        single, double = (dlc.compile(text, num_threads=threads) for threads in (1, 2))
        for count in (5,) if rows == 5 else (1, 6):
            inputs = arrays_for(name, count, columns, dtype)
            (want,) = interpret(dlc.parse_module(text.encode(), "chain"), inputs, {})
            (have,) = single(*inputs)
            wide = np.asarray(want, np.float64)
            bound = TOLERANCE[dtype] * max(1.0, float(np.abs(wide).max()))
            np.testing.assert_allclose(np.asarray(have, np.float64), wide, rtol=0, atol=bound)
            np.testing.assert_array_equal(double(*inputs)[0], have)


@pytest.mark.parametrize("rows", [8, "?"])
@pytest.mark.parametrize("name", CHAINS)
def test_chain_is_one_nest_without_buffers(name: str, rows: int | str) -> None:
    """One loop over the rows, the fewest over their elements, and no buffer but the result."""
    text = str(dlc.lower(text_of(name, str(rows), 48, "f32"), to="affine"))
    kernel = text.split("func.func private")[1].split("func.func")[0]
    assert "memref.alloc" not in kernel
    depths = [len(line) - len(line.lstrip()) for line in kernel.splitlines() if "affine.for" in line]
    assert depths.count(min(depths)) == 1
    assert len(depths) == 1 + CHAINS[name][1], kernel

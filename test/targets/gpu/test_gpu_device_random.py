"""Models of random sizes on the GPU of this machine give what NumPy and onnxruntime do; skipped without one (`make check-gpu`)."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from cuda_driver import missing
from reference_session import reference_session

import dlc
from bench import nodes

_REASON = missing()
pytestmark = [pytest.mark.cuda, pytest.mark.skipif(bool(_REASON), reason=_REASON)]
pytest.importorskip("onnxruntime")

_DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
_TOLERANCE = {"f32": 1e-5, "tf32": 2e-3, "f16": 3e-3, "bf16": 2e-2}
"""Of the norm of a result: roundings of operands, and of results."""


def _assert_close(have: np.ndarray, want: np.ndarray, kind: str) -> None:
    have, want = have.astype(np.float64), want.astype(np.float64)
    assert have.shape == want.shape
    assert np.linalg.norm(have - want) <= _TOLERANCE[kind] * np.linalg.norm(want)


def _numbers(random: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return random.standard_normal(shape, np.float32).astype(_DTYPES[dtype])


def _text(op: str, arguments: list[np.ndarray], result: tuple[int, ...], dtype: str, attributes: str = "") -> str:
    """A function of one op."""
    kinds = [f"tensor<{'x'.join(map(str, values.shape))}x{dtype}>" for values in arguments]
    kind = f"tensor<{'x'.join(map(str, result))}x{dtype}>"
    names = ", ".join(f"%a{index}" for index in range(len(kinds)))
    given = ", ".join(f"%a{index}: {each}" for index, each in enumerate(kinds))
    return f"""func.func @main({given}) -> {kind} {{
  %0 = "dl.{op}"({names}) {{{attributes}}} : ({", ".join(kinds)}) -> {kind}
  return %0 : {kind}
}}"""


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["f32", "tf32", "f16", "bf16"])
def test_products(kind: str, seed: int) -> None:
    """From one row on, with and without a batch."""
    random = np.random.default_rng(seed)
    dtype, precision = ("f32", "tf32") if kind == "tf32" else (kind, None)
    m, n, k = (int(2 ** random.uniform(0, 9.5)) for _ in range(3))
    batch = (int(random.integers(1, 5)),) if seed % 3 == 0 else ()
    a, b = _numbers(random, (*batch, m, k), dtype), _numbers(random, (*batch, k, n), dtype)
    compiled = dlc.compile(_text("matmul", [a, b], (*batch, m, n), dtype), "gpu", precision=precision)
    want = a.astype(np.float64) @ b.astype(np.float64)
    for _ in range(3):
        _assert_close(compiled(a, b)[0], want, kind)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_attention(kind: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    heads, width = int(random.integers(1, 9)), int(random.choice((32, 40, 64, 96, 128)))
    queries = keys = int(random.integers(1, 700))
    is_causal = bool(seed % 2)
    if not is_causal:
        keys = int(random.integers(1, 700))
    q, k, v = (_numbers(random, (1, heads, length, width), kind) for length in (queries, keys, keys))
    text = _text("attention", [q, k, v], q.shape, kind, f"is_causal = {str(is_causal).lower()}")
    have = dlc.compile(text, "gpu")(q, k, v)[0]
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) / np.sqrt(width)
    if is_causal:
        scores = np.where(np.tri(queries, keys, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    _assert_close(have, powers / powers.sum(axis=-1, keepdims=True) @ v.astype(np.float64), kind)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("precision", [None, "tf32", "bf16"])
def test_convolutions(precision: str | None, seed: int) -> None:
    random = np.random.default_rng(seed)
    batch, inner, outer, size = (int(random.integers(1, most)) for most in (4, 80, 130, 40))
    window, stride = int(random.choice((1, 3, 5))), int(random.choice((1, 2)))
    result = (size + 2 * (window // 2) - window) // stride + 1
    attributes = {"pads": [window // 2] * 4, "strides": [stride] * 2}
    model = nodes.conv((batch, inner, size, size), (outer, inner, window, window), (batch, outer, result, result), attributes)
    x = _numbers(random, (batch, inner, size, size), "f32")
    (want,) = reference_session(model).run(None, {"x": x})
    _assert_close(dlc.compile(model, "gpu", precision=precision)(x)[0], want, precision or "f32")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["softmax", "layer_norm", "rms_norm", "silu"])
def test_rows(kind: str, seed: int) -> None:
    """Of one to 40,000 numbers."""
    random = np.random.default_rng(seed)
    rows, columns = int(2 ** random.uniform(0, 9)), int(2 ** random.uniform(0, 15.3))
    builders = {
        "softmax": lambda: nodes.unary("Softmax", (rows, columns), axis=-1),
        "layer_norm": lambda: nodes.layer_norm(rows, columns),
        "rms_norm": lambda: nodes.rms_norm(rows, columns),
        "silu": lambda: nodes.silu((rows, columns)),
    }
    model = builders[kind]()
    name = model.graph.input[0].name
    x = _numbers(random, (rows, columns), "f32")
    (want,) = reference_session(model).run(None, {name: x})
    _assert_close(dlc.compile(model, "gpu")(x)[0], want, "f32")

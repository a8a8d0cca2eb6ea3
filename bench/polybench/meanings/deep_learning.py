"""The nests of deep learning. Their data are seeded random numbers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from bench.polybench.meanings.meaning import Arguments, Meaning, scalars


def _random(dtype: np.dtype, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    return [generator.standard_normal(shape).astype(dtype) for shape in shapes]


def matmul_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    return [np.zeros((size.M, size.N), dtype), *_random(dtype, (size.M, size.K), (size.K, size.N))]


def matmul(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    c[:] = a @ b


def matmul_chain_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    shapes = (size.M, size.K), (size.K, size.L), (size.L, size.N)
    return [np.zeros((size.M, size.N), dtype), np.zeros((size.M, size.L), dtype), *_random(dtype, *shapes)]


def matmul_chain(d: np.ndarray, hidden: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    hidden[:] = a @ b
    d[:] = hidden @ c


def conv3x3_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    shapes = (size.NB, size.IC, size.HP, size.WP), (size.OC, size.IC, 3, 3)
    return [np.zeros((size.NB, size.OC, size.H, size.W), dtype), *_random(dtype, *shapes)]


def conv3x3(y: np.ndarray, x: np.ndarray, kernel: np.ndarray) -> None:
    height, width = y.shape[2:]
    y[:] = 0
    for r in range(3):
        for s in range(3):
            y += np.einsum("oc,nchw->nohw", kernel[:, :, r, s], x[:, :, r : r + height, s : s + width], optimize=True)


def stencil_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    x = _random(dtype, (size.NC, size.HP, size.WP))
    return [np.zeros((size.NC, size.H, size.W), dtype), np.zeros((size.NC, size.HP, size.W), dtype), *x]


def stencil(y: np.ndarray, rows: np.ndarray, x: np.ndarray) -> None:
    rows[:] = (x[:, :, :-2] + x[:, :, 1:-1] + x[:, :, 2:]) / 3
    y[:] = (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / 3


def layer_norm_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    x, gamma, beta = _random(dtype, (size.M, size.N), (size.N,), (size.N,))
    return [np.zeros_like(x), x, gamma, beta, np.zeros(size.M, dtype), np.zeros(size.M, dtype)]


def layer_norm(y: np.ndarray, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> None:
    mean[:] = x.mean(1)
    variance[:] = x.var(1)
    y[:] = (x - mean[:, None]) / np.sqrt(variance[:, None] + x.dtype.type(1e-5)) * gamma + beta


def softmax_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    (x,) = _random(dtype, (size.M, size.N))
    return [np.zeros_like(x), x, np.zeros(size.M, dtype), np.zeros(size.M, dtype)]


def softmax(y: np.ndarray, x: np.ndarray, top: np.ndarray, total: np.ndarray) -> None:
    """Along the last axis, for any rank."""
    top[:] = x.max(-1)
    powers = np.exp(x - top[..., None])
    total[:] = powers.sum(-1)
    y[:] = powers / total[..., None]


def attention_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    heads, length = size.NH, size.S
    queries = _random(dtype, *[(heads, length, size.D)] * 3)
    rows = [np.zeros((heads, length), dtype) for _ in range(2)]
    results = [np.zeros((heads, length, size.D), dtype), np.zeros((heads, length, length), dtype)]
    return [*scalars(dtype, size.D**-0.5), *results, *queries, *rows]


def attention(
    scale: float,
    out: np.ndarray,
    scores: np.ndarray,
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    top: np.ndarray,
    total: np.ndarray,
) -> None:
    softmax(scores, queries @ keys.transpose(0, 2, 1) * scale, top, total)
    out[:] = scores @ values


MEANINGS = {
    "dl-matmul": Meaning(matmul_data, matmul),
    "dl-matmul-chain": Meaning(matmul_chain_data, matmul_chain),
    "dl-conv3x3": Meaning(conv3x3_data, conv3x3),
    "dl-stencil": Meaning(stencil_data, stencil),
    "dl-layer-norm": Meaning(layer_norm_data, layer_norm),
    "dl-softmax": Meaning(softmax_data, softmax),
    "dl-attention": Meaning(attention_data, attention),
}

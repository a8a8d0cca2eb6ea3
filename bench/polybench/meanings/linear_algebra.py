"""PolyBench's linear-algebra kernels and solvers."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np

from bench.polybench.meanings.meaning import Arguments, Meaning, grid, scalars, share


def two_products_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.NI, size.NK)
    a = share((i * j + 1) % size.NI, size.NI, dtype)
    i, j = grid(size.NK, size.NJ)
    b = share(i * (j + 1) % size.NJ, size.NJ, dtype)
    i, j = grid(size.NJ, size.NL)
    c = share((i * (j + 3) + 1) % size.NL, size.NL, dtype)
    i, j = grid(size.NI, size.NL)
    d = share(i * (j + 2) % size.NK, size.NK, dtype)
    return [*scalars(dtype, 1.5, 1.2), np.zeros((size.NI, size.NJ), dtype), a, b, c, d]


def two_products(alpha: float, beta: float, tmp: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> None:
    tmp[:] = alpha * a @ b
    d *= beta
    d += tmp @ c


def three_products_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.NI, size.NK)
    a = share((i * j + 1) % size.NI, 5 * size.NI, dtype)
    i, j = grid(size.NK, size.NJ)
    b = share((i * (j + 1) + 2) % size.NJ, 5 * size.NJ, dtype)
    i, j = grid(size.NJ, size.NM)
    c = share(i * (j + 3) % size.NL, 5 * size.NL, dtype)
    i, j = grid(size.NM, size.NL)
    d = share((i * (j + 2) + 2) % size.NK, 5 * size.NK, dtype)
    e, f, g = (np.zeros(shape, dtype) for shape in ((size.NI, size.NJ), (size.NJ, size.NL), (size.NI, size.NL)))
    return [e, a, b, f, c, d, g]


def three_products(e: np.ndarray, a: np.ndarray, b: np.ndarray, f: np.ndarray, c: np.ndarray, d: np.ndarray, g: np.ndarray) -> None:
    e[:] = a @ b
    f[:] = c @ d
    g[:] = e @ f


def atax_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.M, size.N)
    x = 1 + share(np.arange(size.N), size.N, dtype)
    return [share((i + j) % size.N, 5 * size.M, dtype), x, np.zeros(size.N, dtype), np.zeros(size.M, dtype)]


def atax(a: np.ndarray, x: np.ndarray, y: np.ndarray, tmp: np.ndarray) -> None:
    tmp[:] = a @ x
    y[:] = tmp @ a


def bicg_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.N, size.M)
    p, r = (share(np.arange(count), count, dtype) for count in (size.M, size.N))
    return [share(i * (j + 1) % size.N, size.N, dtype), np.zeros(size.M, dtype), np.zeros(size.N, dtype), p, r]


def bicg(a: np.ndarray, s: np.ndarray, q: np.ndarray, p: np.ndarray, r: np.ndarray) -> None:
    s[:] = r @ a
    q[:] = a @ p


def doitgen_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j, k = grid(size.NR, size.NQ, size.NP)
    a = share((i * j + k) % size.NP, size.NP, dtype)
    i, j = grid(size.NP, size.NP)
    return [a, share(i * j % size.NP, size.NP, dtype), np.zeros(size.NP, dtype)]


def doitgen(a: np.ndarray, c4: np.ndarray, total: np.ndarray) -> None:
    a[:] = a @ c4
    total[:] = a[-1, -1]


def mvt_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    n = size.N
    i, j = grid(n, n)
    vectors = [share((np.arange(n) + offset) % n, n, dtype) for offset in (0, 1, 3, 4)]
    return [*vectors, share(i * j % n, n, dtype)]


def mvt(x1: np.ndarray, x2: np.ndarray, y1: np.ndarray, y2: np.ndarray, a: np.ndarray) -> None:
    x1 += a @ y1
    x2 += y2 @ a


def _positive_definite(n: int, dtype: np.dtype) -> np.ndarray:
    """PolyBench's L L' with L's columns falling from 1."""
    lower = np.tril(np.broadcast_to(share(-np.arange(n), n, dtype) + 1, (n, n)))
    np.fill_diagonal(lower, 1)
    return lower @ lower.T


def cholesky_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    return [_positive_definite(size.N, dtype)]


def cholesky(a: np.ndarray) -> None:
    a[:] = np.linalg.cholesky(a) + np.triu(a, 1)


def durbin_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    return [(size.N + 1 - np.arange(size.N)).astype(dtype), np.zeros(size.N, dtype)]


def falling_correlations(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    """Of a definite matrix; with PolyBench's, fused multiply-adds alone move results by 9e-9 at LARGE."""
    return [0.5 * np.arange(2, size.N + 2).astype(dtype) ** dtype.type(-1.5), np.zeros(size.N, dtype)]


def durbin(r: np.ndarray, y: np.ndarray) -> None:
    one = r.dtype.type(1)
    beta, alpha = one, -r[0]
    y[0] = alpha
    for k in range(1, len(r)):
        beta = (one - alpha * alpha) * beta
        alpha = -(r[k] + r[k - 1 :: -1] @ y[:k]) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha


def gramschmidt_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.M, size.N)
    a = share(i * j % size.M, size.M, dtype) * 100 + 10
    return [a, np.zeros((size.N, size.N), dtype), np.zeros((size.M, size.N), dtype)]


def independent_columns(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    """As many independent columns as there are rows; PolyBench's are fewer, after which it divides rounding errors, or 0 by 0."""
    a = np.random.default_rng(0).standard_normal((size.M, size.N)) + 10 * np.sqrt(size.M) * np.eye(size.M, size.N)
    return [a.astype(dtype), *gramschmidt_data(size, dtype)[1:]]


def of_independent_columns(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What belongs to as many columns as there are rows: the others are rounding errors in any case."""
    a, r, q = arrays
    return [a[:, : len(a)], r[: len(a)], q[:, : len(a)]]


def gramschmidt(a: np.ndarray, r: np.ndarray, q: np.ndarray) -> None:
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(a[:, k] @ a[:, k])
        q[:, k] = a[:, k] / r[k, k]
        r[k, k + 1 :] = q[:, k] @ a[:, k + 1 :]
        a[:, k + 1 :] -= np.outer(q[:, k], r[k, k + 1 :])


def lu_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    return [_positive_definite(size.N, dtype)]


def lu(a: np.ndarray) -> None:
    """In PolyBench's order of sums; any other moves results on its matrix by 2e-12 at LARGE."""
    memory = np.empty(a.size, a.dtype)
    for k in range(len(a)):
        a[k + 1 :, k] /= a[k, k]
        rest = a[k + 1 :, k + 1 :]
        products = memory[: rest.size].reshape(rest.shape)
        rest -= np.multiply(a[k + 1 :, k, None], a[k, k + 1 :], out=products)


def ludcmp_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    b = share(np.arange(1, size.N + 1), size.N, dtype) / dtype.type(2) + dtype.type(4)
    return [_positive_definite(size.N, dtype), b, np.zeros(size.N, dtype), np.zeros(size.N, dtype)]


def ludcmp(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    lu(a)
    for i in range(len(a)):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in reversed(range(len(a))):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]


def trisolv_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    n = size.N
    i, j = grid(n, n)
    lower = np.tril((i + n - j + 1).astype(dtype) * 2 / dtype.type(n))
    return [lower, np.full(n, -999, dtype), np.arange(n).astype(dtype)]


def dominant_diagonal(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    """PolyBench's matrix, what lies below its diagonal over N; as it is, the order of sums moves results by 8e-12 at LARGE."""
    lower, x, b = trisolv_data(size, dtype)
    diagonal = np.diag(np.diag(lower))
    return [diagonal + (lower - diagonal) / dtype.type(size.N), x, b]


def trisolv(lower: np.ndarray, x: np.ndarray, b: np.ndarray) -> None:
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]


MEANINGS = {
    "2mm": Meaning(two_products_data, two_products),
    "3mm": Meaning(three_products_data, three_products),
    "atax": Meaning(atax_data, atax),
    "bicg": Meaning(bicg_data, bicg),
    "doitgen": Meaning(doitgen_data, doitgen),
    "mvt": Meaning(mvt_data, mvt),
    "cholesky": Meaning(cholesky_data, cholesky),
    "durbin": Meaning(durbin_data, durbin, checked_data=falling_correlations),
    "gramschmidt": Meaning(gramschmidt_data, gramschmidt, checked_data=independent_columns, observe=of_independent_columns),
    "lu": Meaning(lu_data, lu),
    "ludcmp": Meaning(ludcmp_data, ludcmp),
    "trisolv": Meaning(trisolv_data, trisolv, checked_data=dominant_diagonal),
}

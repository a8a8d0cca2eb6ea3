"""PolyBench's data mining and BLAS kernels."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from bench.polybench.meanings.meaning import Arguments, Meaning, grid, scalars, share


def correlation_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.N, size.M)
    data = share(i * j, size.M, dtype) + i.astype(dtype)
    return [*scalars(dtype, size.N), data, np.zeros((size.M, size.M), dtype), np.zeros(size.M, dtype), np.zeros(size.M, dtype)]


def correlation(float_n: float, data: np.ndarray, corr: np.ndarray, mean: np.ndarray, stddev: np.ndarray) -> None:
    mean[:] = data.sum(0) / float_n
    stddev[:] = np.sqrt(((data - mean) ** 2).sum(0) / float_n)
    stddev[stddev <= 0.1] = 1
    data -= mean
    data /= np.sqrt(float_n) * stddev
    corr[:] = data.T @ data
    np.fill_diagonal(corr, 1)


def covariance_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.N, size.M)
    return [*scalars(dtype, size.N), share(i * j, size.M, dtype), np.zeros((size.M, size.M), dtype), np.zeros(size.M, dtype)]


def covariance(float_n: float, data: np.ndarray, cov: np.ndarray, mean: np.ndarray) -> None:
    mean[:] = data.sum(0) / float_n
    data -= mean
    cov[:] = data.T @ data / (float_n - 1)


def gemm_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.NI, size.NJ)
    c = share((i * j + 1) % size.NI, size.NI, dtype)
    i, j = grid(size.NI, size.NK)
    a = share(i * (j + 1) % size.NK, size.NK, dtype)
    i, j = grid(size.NK, size.NJ)
    return [*scalars(dtype, 1.5, 1.2), c, a, share(i * (j + 2) % size.NJ, size.NJ, dtype)]


def gemm(alpha: float, beta: float, c: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    c *= beta
    c += alpha * a @ b


def gemver_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    n = size.N
    i, j = grid(n, n)
    u1 = np.arange(n).astype(dtype)
    u2, v1, v2, y, z = (share(np.arange(1, n + 1), n, dtype) / dtype.type(divisor) for divisor in (2, 4, 6, 8, 9))
    return [*scalars(dtype, 1.5, 1.2), share(i * j % n, n, dtype), u1, v1, u2, v2, np.zeros(n, dtype), np.zeros(n, dtype), y, z]


def gemver(
    alpha: float,
    beta: float,
    a: np.ndarray,
    u1: np.ndarray,
    v1: np.ndarray,
    u2: np.ndarray,
    v2: np.ndarray,
    w: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
) -> None:
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * (y @ a) + z
    w += alpha * (a @ x)


def gesummv_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    n = size.N
    i, j = grid(n, n)
    a, b = (share((i * j + offset) % n, n, dtype) for offset in (1, 2))
    return [*scalars(dtype, 1.5, 1.2), a, b, np.zeros(n, dtype), share(np.arange(n), n, dtype), np.zeros(n, dtype)]


def gesummv(alpha: float, beta: float, a: np.ndarray, b: np.ndarray, tmp: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    tmp[:] = a @ x
    y[:] = alpha * tmp + beta * (b @ x)


def symm_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.M, size.N)
    c, b = share((i + j) % 100, size.M, dtype), share((size.N + i - j) % 100, size.M, dtype)
    i, j = grid(size.M, size.M)
    a = np.where(j <= i, share((i + j) % 100, size.M, dtype), dtype.type(-999))  # what lies above the diagonal is not read
    return [*scalars(dtype, 1.5, 1.2), c, a, b]


def symm(alpha: float, beta: float, c: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    lower = np.tril(a)
    c *= beta
    c += alpha * (lower + np.tril(a, -1).T) @ b


def syr2k_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.N, size.N)
    c = share((i * j + 3) % size.N, size.M, dtype)
    i, j = grid(size.N, size.M)
    a, b = share((i * j + 1) % size.N, size.N, dtype), share((i * j + 2) % size.M, size.M, dtype)
    return [*scalars(dtype, 1.5, 1.2), c, a, b]


def syr2k(alpha: float, beta: float, c: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    product = alpha * a @ b.T
    c[:] = np.tril(beta * c + product + product.T) + np.triu(c, 1)


def syrk_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.N, size.N)
    c = share((i * j + 2) % size.M, size.M, dtype)
    i, j = grid(size.N, size.M)
    return [*scalars(dtype, 1.5, 1.2), c, share((i * j + 1) % size.N, size.N, dtype)]


def syrk(alpha: float, beta: float, c: np.ndarray, a: np.ndarray) -> None:
    c[:] = np.tril(beta * c + alpha * a @ a.T) + np.triu(c, 1)


def trmm_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.M, size.M)
    a = np.tril(share((i + j) % size.M, size.M, dtype), -1) + np.eye(size.M, dtype=dtype)
    i, j = grid(size.M, size.N)
    return [*scalars(dtype, 1.5), a, share((size.N + i - j) % size.N, size.N, dtype)]


def trmm(alpha: float, a: np.ndarray, b: np.ndarray) -> None:
    b[:] = alpha * (np.tril(a, -1).T @ b + b)


MEANINGS = {
    "correlation": Meaning(correlation_data, correlation),
    "covariance": Meaning(covariance_data, covariance),
    "gemm": Meaning(gemm_data, gemm),
    "gemver": Meaning(gemver_data, gemver),
    "gesummv": Meaning(gesummv_data, gesummv),
    "symm": Meaning(symm_data, symm),
    "syr2k": Meaning(syr2k_data, syr2k),
    "syrk": Meaning(syrk_data, syrk),
    "trmm": Meaning(trmm_data, trmm),
}

"""PolyBench's stencils, and its medley of other kernels."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from bench.polybench.meanings.meaning import Arguments, Meaning, grid, scalars, share


def deriche_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.W, size.H)
    image = share((313 * i + 991 * j) % 65536, 65535, dtype)
    return [*scalars(dtype, 0.25), image, *(np.zeros_like(image) for _ in range(3))]


def deriche(alpha: float, source: np.ndarray, result: np.ndarray, y1: np.ndarray, y2: np.ndarray) -> None:
    decay = np.exp(-alpha)
    k = (1 - decay) ** 2 / (1 + 2 * alpha * decay - np.exp(2 * alpha))
    ahead = k, k * decay * (alpha - 1)
    behind = k * decay * (alpha + 1), -k * np.exp(-2 * alpha)
    feedback = 2**-alpha, -np.exp(-2 * alpha)
    _recur(source, y1, feedback, ahead, 0)
    _recur(source[:, ::-1], y2[:, ::-1], feedback, behind, 1)
    result[:] = y1 + y2
    _recur(result.T, y1.T, feedback, ahead, 0)
    _recur(result[::-1].T, y2[::-1].T, feedback, behind, 1)
    result[:] = y1 + y2


def _recur(source: np.ndarray, result: np.ndarray, feedback: tuple[float, float], taps: tuple[float, float], delay: int) -> None:
    """A recursive filter along columns, whose two taps read the source `delay` and `delay + 1` columns before."""
    zero = np.zeros_like(source[:, 0])
    for j in range(source.shape[1]):
        x1, x2 = (source[:, j - back] if j >= back else zero for back in (delay, delay + 1))
        y1, y2 = (result[:, j - back] if j >= back else zero for back in (1, 2))
        result[:, j] = taps[0] * x1 + taps[1] * x2 + feedback[0] * y1 + feedback[1] * y2


def floyd_warshall_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.N, size.N)
    is_far = ((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)
    return [np.where(is_far, 999, i * j % 7 + 1).astype(np.int32)]


def floyd_warshall(path: np.ndarray) -> None:
    for k in range(len(path)):
        np.minimum(path, path[:, k, None] + path[k], out=path)


def nussinov_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    return [((np.arange(size.N) + 1) % 4).astype(np.int8), np.zeros((size.N, size.N), np.int32)]


def nussinov(bases: np.ndarray, table: np.ndarray) -> None:
    for i in reversed(range(len(bases) - 1)):
        row, below = table[i], table[i + 1]
        pairs = (bases[i] + bases[i + 2 :] == 3).astype(np.int32)
        np.maximum(row[i + 1 :], below[i + 1 :], out=row[i + 1 :])
        row[i + 1] = max(row[i + 1], below[i])
        row[i + 2 :] = np.maximum(row[i + 2 :], below[i + 1 : -1] + pairs)
        for k in range(i + 1, len(bases)):  # row[k] is final once it has seen row[k - 1]; it then splits those after it
            row[k] = max(row[k], row[k - 1])
            if k + 1 < len(bases):
                np.maximum(row[k + 1 :], row[k] + table[k + 1, k + 1 :], out=row[k + 1 :])


def adi_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.N, size.N)
    return [share(i + size.N - j, size.N, dtype), *(np.zeros((size.N, size.N), dtype) for _ in range(3))]


def adi(u: np.ndarray, v: np.ndarray, p: np.ndarray, q: np.ndarray, steps: int) -> None:
    n, one = len(u), u.dtype.type(1)
    dx, dt = one / u.dtype.type(n), one / u.dtype.type(steps)
    mul1, mul2 = 2 * dt / (dx * dx), dt / (dx * dx)
    a, b, d, e = -mul1 / 2, one + mul1, -mul2 / 2, one + mul2
    for _ in range(steps):
        _sweep(u.T, v.T, p, q, (a, b, d))
        _sweep(v, u, p, q, (d, e, a))


def _sweep(source: np.ndarray, result: np.ndarray, p: np.ndarray, q: np.ndarray, factors: tuple[float, float, float]) -> None:
    """Solve the tridiagonal systems along the rows of `result`; `source` has the other direction's values."""
    a, b, d = factors
    inner = slice(1, -1)
    last = source.shape[1] - 1
    result[inner, 0], p[inner, 0], q[inner, 0] = 1, 0, 1
    for j in range(1, last):
        below = a * p[inner, j - 1] + b
        p[inner, j] = -a / below
        above = -d * source[:-2, j] + (1 + 2 * d) * source[inner, j] - d * source[2:, j]
        q[inner, j] = (above - a * q[inner, j - 1]) / below
    result[inner, last] = 1
    for j in range(last - 1, 0, -1):
        result[inner, j] = p[inner, j] * result[inner, j + 1] + q[inner, j]


def fdtd_2d_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.NX, size.NY)
    fields = [share(i * (j + more), count, dtype) for more, count in ((1, size.NX), (2, size.NY), (3, size.NX))]
    return [*fields, np.arange(size.TMAX).astype(dtype)]


def fdtd_2d(ex: np.ndarray, ey: np.ndarray, hz: np.ndarray, edge: np.ndarray) -> None:
    half, most = ex.dtype.type(0.5), ex.dtype.type(0.7)
    for value in edge:
        ey[0] = value
        ey[1:] -= half * (hz[1:] - hz[:-1])
        ex[:, 1:] -= half * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= most * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def heat_3d_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j, k = grid(size.N, size.N, size.N)
    a = (i + j + (size.N - k)).astype(dtype) * 10 / dtype.type(size.N)
    return [a, a.copy()]


def heat_3d(a: np.ndarray, b: np.ndarray, steps: int) -> None:
    for _ in range(steps):
        _spread_heat(a, b)
        _spread_heat(b, a)


def _spread_heat(source: np.ndarray, result: np.ndarray) -> None:
    inner = slice(1, -1)
    middle = source[inner, inner, inner]
    rows = source[2:, inner, inner] - 2 * middle + source[:-2, inner, inner]
    columns = source[inner, 2:, inner] - 2 * middle + source[inner, :-2, inner]
    layers = source[inner, inner, 2:] - 2 * middle + source[inner, inner, :-2]
    result[inner, inner, inner] = source.dtype.type(0.125) * (rows + columns + layers) + middle


def jacobi_1d_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i = np.arange(size.N)
    return [share(i + 2, size.N, dtype), share(i + 3, size.N, dtype)]


def jacobi_1d(a: np.ndarray, b: np.ndarray, steps: int) -> None:
    third = a.dtype.type(0.33333)
    for _ in range(steps):
        b[1:-1] = third * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = third * (b[:-2] + b[1:-1] + b[2:])


def jacobi_2d_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.N, size.N)
    return [*(share(i * (j + more) + more, size.N, dtype) for more in (2, 3))]


def jacobi_2d(a: np.ndarray, b: np.ndarray, steps: int) -> None:
    for _ in range(steps):
        _smooth(a, b)
        _smooth(b, a)


def _smooth(source: np.ndarray, result: np.ndarray) -> None:
    inner = slice(1, -1)
    around = source[inner, :-2] + source[inner, 2:] + source[2:, inner] + source[:-2, inner]
    result[inner, inner] = source.dtype.type(0.2) * (source[inner, inner] + around)


def seidel_2d_data(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
    i, j = grid(size.N, size.N)
    return [share(i * (j + 2) + 2, size.N, dtype)]


def seidel_2d(a: np.ndarray, steps: int) -> None:
    """Points with one `2 i + j` do not depend on each other; they lie `n - 2` apart in memory."""
    n, flat, nine = len(a), a.reshape(-1), a.dtype.type(9)
    around = (-n - 1, -n, -n + 1, -1, 0, 1, n - 1, n, n + 1)
    for _ in range(steps):
        for wave in range(3, 3 * n - 5):
            first, last = max(1, (wave - n + 3) // 2), min(n - 2, (wave - 1) // 2)
            begin, end = first * (n - 2) + wave, last * (n - 2) + wave + 1
            flat[begin : end : n - 2] = sum(flat[begin + move : end + move : n - 2] for move in around) / nine


def uneven(data: Callable[[SimpleNamespace, np.dtype], Arguments]) -> Callable[[SimpleNamespace, np.dtype], Arguments]:
    """Random numbers in place of `data`; PolyBench's rise evenly along each axis, which smoothing leaves as they are."""

    def random(size: SimpleNamespace, dtype: np.dtype) -> Arguments:
        generator = np.random.default_rng(0)
        return [generator.random(values.shape).astype(dtype) for values in data(size, dtype)]

    return random


MEANINGS = {
    "deriche": Meaning(deriche_data, deriche),
    "floyd-warshall": Meaning(floyd_warshall_data, floyd_warshall, is_slow=True),
    "nussinov": Meaning(nussinov_data, nussinov),
    "adi": Meaning(adi_data, adi, ("TSTEPS",), is_slow=True),
    "fdtd-2d": Meaning(fdtd_2d_data, fdtd_2d),
    "heat-3d": Meaning(heat_3d_data, heat_3d, ("TSTEPS",), uneven(heat_3d_data), is_slow=True),
    "jacobi-1d": Meaning(jacobi_1d_data, jacobi_1d, ("TSTEPS",), uneven(jacobi_1d_data)),
    "jacobi-2d": Meaning(jacobi_2d_data, jacobi_2d, ("TSTEPS",), uneven(jacobi_2d_data)),
    "seidel-2d": Meaning(seidel_2d_data, seidel_2d, ("TSTEPS",), uneven(seidel_2d_data), is_slow=True),
}

"""The transforms of Winograd's tiles as scalar code with few operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder

_CONTRACT = "#arith.fastmath<contract>"


def transformed(b: Builder, rows: np.ndarray, columns: np.ndarray, tile: Sequence[ir.Value], dtype: str) -> list[ir.Value]:
    """`rows @ tile @ columns.T` of a tile, given and returned row by row."""
    width = columns.shape[1]
    sums = _Sums(b, dtype)
    found = [sums.product(rows, tile[column::width]) for column in range(width)]
    return [value for row in zip(*found, strict=True) for value in sums.product(columns, row)]


def chosen(b: Builder, loops: Sequence[int], values: Sequence[ir.Value]) -> ir.Value:
    """That of `values` which the iteration of `loops`, of as many values each, is at; the first loop counts most."""
    if len(loops) > 1:
        share = round(len(values) ** (1 / len(loops)))
        groups = [values[start : start + share] for start in range(0, len(values), share)]
        values = [chosen(b, loops[1:], group) for group in groups]
    index = b.iteration(loops[0])
    found = values[-1]
    for place, value in enumerate(values[:-1]):
        found = b.select(b.compare_index("eq", index, b.index(place)), value, found)
    return found


class _Sums:
    """Builds sums of multiples. Products and sums may be contracted to one instruction: their factors are exact."""

    def __init__(self, b: Builder, dtype: str) -> None:
        self._b = b
        self._dtype = dtype
        self._contract = ir.Attribute.parse(_CONTRACT)

    def product(self, matrix: np.ndarray, vector: Sequence[ir.Value]) -> list[ir.Value]:
        """`matrix @ vector`, with what rows or columns that differ in every second sign have in common computed once."""
        pairs = _mirrored(matrix.T)
        if pairs:
            return self._by_columns(matrix, vector, pairs)
        found: list[ir.Value] = []
        mirrored = _mirrored(matrix)
        for place, row in enumerate(matrix):
            if place - 1 in mirrored:
                continue
            if place in mirrored:
                even, odd = (self._sum(row[side::2], vector[side::2]) for side in (0, 1))
                found += [self._b.arith("add", even, odd, self._dtype), self._b.arith("sub", even, odd, self._dtype)]
            else:
                found.append(self._sum(row, vector))
        return found

    def _by_columns(self, matrix: np.ndarray, vector: Sequence[ir.Value], pairs: Sequence[int]) -> list[ir.Value]:
        """Even rows take the sums of pairs, odd rows their differences."""
        sides: tuple[list[ir.Value], list[ir.Value]] = ([], [])
        kept = [place for place in range(len(vector)) if place - 1 not in pairs]
        for place in kept:
            for side, name in enumerate(("add", "sub")):
                value = vector[place]
                if place in pairs:
                    value = self._b.arith(name, value, vector[place + 1], self._dtype)
                sides[side].append(value)
        return [self._sum(row[kept], sides[place % 2]) for place, row in enumerate(matrix)]

    def _sum(self, factors: np.ndarray, values: Sequence[ir.Value]) -> ir.Value:
        """The sum of multiples of `values`, beginning with one that needs no product."""
        terms = [(factor, value) for factor, value in zip(factors.tolist(), values, strict=True) if factor]
        terms.sort(key=lambda term: (abs(term[0]) != 1, term[0] < 0))
        (first, total), *rest = terms
        if first != 1:
            total = self._op("arith.mulf", total, self._b.scalar(first, self._dtype))
        for factor, value in rest:
            if abs(factor) == 1:
                total = self._b.arith("add" if factor > 0 else "sub", total, value, self._dtype)
            else:
                scaled = self._op("arith.mulf", value, self._b.scalar(factor, self._dtype))
                total = self._op("arith.addf", total, scaled)
        return total

    def _op(self, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return self._b.create(name, [lhs.type], [lhs, rhs], {"fastmath": self._contract})


def _mirrored(matrix: np.ndarray) -> list[int]:
    """Rows after which comes the same one with the sign of every second element turned."""
    signs = np.array([1, -1] * matrix.shape[1])[: matrix.shape[1]]
    found: list[int] = []
    for place in range(len(matrix) - 1):
        row, after = matrix[place], matrix[place + 1]
        is_mixed = row[::2].any() and row[1::2].any()
        if np.array_equal(after, row * signs) and is_mixed and place - 1 not in found:
            found.append(place)
    return found

"""Random `linalg.generic` ops on buffers: reductions of all kinds over affine subscripts, with what they mean in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

_PAIRS: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "sum": ("%v = arith.addf %a, %b : f32", np.add),
    "product": ("%v = arith.mulf %a, %b : f32", np.multiply),
    "distance": ("%d = arith.subf %a, %b : f32\n    %v = math.absf %d : f32", lambda a, b: np.abs(a - b)),
    "square": ("%d = arith.subf %a, %b : f32\n    %v = arith.mulf %d, %d : f32", lambda a, b: (a - b) ** 2),
    "least": ("%v = arith.minimumf %a, %b : f32", np.minimum),
}
_SUMS: dict[str, tuple[str, np.ufunc]] = {
    "sum": ("arith.addf", np.add),
    "max": ("arith.maximumf", np.maximum),
    "min": ("arith.minimumf", np.minimum),
}
_SIZES = (1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 48, 65)


@dataclass(frozen=True)
class Subscript:
    """A sum of loops with factors; `extent` is the size of the axis that it stays inside of."""

    factors: tuple[tuple[int, int], ...]

    def text(self) -> str:
        return " + ".join(f"d{loop} * {factor}" if factor != 1 else f"d{loop}" for loop, factor in self.factors)

    def extent(self, sizes: Sequence[int]) -> int:
        return 1 + sum(factor * (sizes[loop] - 1) for loop, factor in self.factors)

    def at(self, places: np.ndarray) -> np.ndarray:
        return np.asarray(sum(factor * places[loop] for loop, factor in self.factors))


@dataclass(frozen=True)
class RandomGeneric:
    """`out[...] = sum over the rest of pair(a[...], b[...])`, in f32; the loops `kept` make the result."""

    sizes: tuple[int, ...]
    operands: tuple[tuple[Subscript, ...], ...]
    result: tuple[Subscript, ...]
    parallel: tuple[bool, ...]
    pair: str
    kind: str

    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(one.extent(self.sizes) for one in each) for each in (*self.operands, self.result)]

    def text(self) -> str:
        dims = ", ".join(f"d{loop}" for loop in range(len(self.sizes)))
        maps = [f"affine_map<({dims}) -> ({', '.join(one.text() for one in each)})>" for each in (*self.operands, self.result)]
        kinds = ", ".join('"parallel"' if flag else '"reduction"' for flag in self.parallel)
        types = [f"memref<{'x'.join(map(str, shape))}xf32>" for shape in self.shapes()]
        arguments = ", ".join(f"%{name}: {kind} {{llvm.noalias}}" for name, kind in zip("xyz", types, strict=True))
        return f"""
func.func @generic({arguments}) attributes {{dl.kernel}} {{
  linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{kinds}]}}
      ins(%x, %y : {types[0]}, {types[1]}) outs(%z : {types[2]}) {{
  ^bb0(%a: f32, %b: f32, %r: f32):
    {_PAIRS[self.pair][0]}
    %s = {_SUMS[self.kind][0]} %r, %v : f32
    linalg.yield %s : f32
  }}
  return
}}"""

    def meaning(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """The result in f64."""
        places = np.indices(self.sizes).reshape(len(self.sizes), -1)
        given = [
            array.astype(np.float64)[tuple(one.at(places) for one in each)]
            for array, each in zip(arrays, self.operands, strict=False)
        ]
        result = arrays[-1].astype(np.float64)
        _SUMS[self.kind][1].at(result, tuple(one.at(places) for one in self.result), _PAIRS[self.pair][1](*given))
        return result


@st.composite
def random_generics(draw: Draw) -> RandomGeneric:
    """Products of all kinds, of two or three kept loops and one or two that are reduced; windows, strides, and scatters."""
    kept, reduced = draw(st.integers(1, 2)) + 1, draw(st.integers(1, 2))
    count = kept + reduced
    sizes = [draw(st.sampled_from(_SIZES)) for _ in range(count)]
    while np.prod(sizes) > 300_000:
        sizes[sizes.index(max(sizes))] //= 2
    order = draw(st.permutations(range(count)))
    window = draw(st.booleans())
    step = draw(st.sampled_from([1, 1, 2]))
    split = draw(st.integers(1, kept - 1))
    first = [(loop, 1) for loop in (*range(split), *range(kept, count))]
    second = [(loop, 1) for loop in (*range(split, kept), *range(kept, count))]
    operands = [[Subscript((each,)) for each in draw(st.permutations(part))] for part in (first, second)]
    if window:  # one operand is read at a kept loop plus a reduced one
        operands[0] = [Subscript(((0, step), (kept, 1)))] + [Subscript((each,)) for each in first if each[0] not in (0, kept)]
    scatter = not window and draw(st.booleans())
    result = [Subscript(((loop, 1),)) for loop in range(kept)]
    if scatter:  # the result is written at the sum of two loops
        result[0] = Subscript(((0, 1), (kept, 1)))
    flags = [loop < kept and not (scatter and loop == 0) for loop in range(count)]

    def renamed(parts: Sequence[Subscript]) -> tuple[Subscript, ...]:
        return tuple(Subscript(tuple((order[loop], factor) for loop, factor in one.factors)) for one in parts)

    places = [order.index(loop) for loop in range(count)]
    return RandomGeneric(
        tuple(sizes[place] for place in places),
        tuple(renamed(each) for each in operands),
        renamed(result),
        tuple(flags[place] for place in places),
        draw(st.sampled_from(list(_PAIRS))),
        draw(st.sampled_from(list(_SUMS))),
    )

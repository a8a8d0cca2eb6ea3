"""The matrices of Winograd's convolutions by three taps: F(2, 3) and F(4, 3), and F(2, 3) of stride 2.

Lavin, Gray: "Fast Algorithms for Convolutional Neural Networks" (2015), section 4. One dimension of a tile of m outputs y from
inputs d and three taps g:

    y = OUTPUT @ ((KERNEL @ g)[kernel_of] * (INPUT @ d))

F(2, 3) needs 4 products instead of 6 and only halves the taps: it is as accurate as the direct sum. F(4, 3) needs 6 instead of
12, and its factors of up to 8 cost about four bits in two dimensions.

With stride 2 (Yepez, Ko: "Stride 2 1-D, 2-D, and 3-D Winograd for Convolutional Neural Networks", 2020) inputs at even places meet
the outer two taps alone, those at odd places the middle one: F(2, 2) takes three products, and the middle tap two, 5 instead of 6
for two outputs of five inputs, with factors of 1. The last two multiply the same tap, so that there are four kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, product

import numpy as np

TAPS = 3


@dataclass(frozen=True)
class Group:
    """Neighbouring kernels of one dimension that tiles multiply in the same way: `uses` times each.

    A use of a kernel takes the inputs of the one before, `step / uses` of the matrices further. `needed[r]` uses come before all
    that the first r outputs of a tile do not need.
    """

    kernels: range
    uses: int
    needed: tuple[int, ...]


@dataclass(frozen=True)
class Matrices:
    """The transforms of one dimension: of inputs [n, w], of taps [k, 3], and to outputs [m, n], n products for m outputs; all f64.

    Outputs are `stride` inputs apart. Product i multiplies kernel `kernel_of[i]`, by default its own.
    """

    input: np.ndarray
    kernel: np.ndarray
    output: np.ndarray
    stride: int = 1
    shared: tuple[int, ...] = ()

    @property
    def outputs(self) -> int:
        """Outputs of a tile, m."""
        return len(self.output)

    @property
    def inputs(self) -> int:
        """Inputs of a tile, w."""
        return int(self.input.shape[1])

    @property
    def products(self) -> int:
        """Products of a tile, n."""
        return len(self.input)

    @property
    def step(self) -> int:
        """Inputs from one tile to the next."""
        return self.outputs * self.stride

    @property
    def kernel_of(self) -> tuple[int, ...]:
        """The kernel of each product."""
        return self.shared or tuple(range(len(self.kernel)))

    def uses_of(self, kernel: int) -> list[int]:
        """The products of a kernel."""
        return [place for place, each in enumerate(self.kernel_of) if each == kernel]

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The kernels in groups of neighbours."""
        found = [(kind, list(kernels)) for kind, kernels in groupby(range(len(self.kernel)), self._kind)]
        return tuple(Group(range(kernels[0], kernels[-1] + 1), *kind) for kind, kernels in found)

    def _kind(self, kernel: int) -> tuple[int, tuple[int, ...]]:
        uses = self.uses_of(kernel)
        return len(uses), tuple(
            int(np.count_nonzero(self.output[:outputs, uses].any(axis=0))) for outputs in range(self.outputs + 1)
        )

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """The kernels of the two dimensions that each kernel of two dimensions is made of.

        Those of two groups follow each other, and so do all of groups with the same uses.
        """
        pairs = sorted(product(self.groups, repeat=2), key=lambda pair: tuple(group.uses for group in pair))
        return tuple(place for rows, columns in pairs for place in product(rows.kernels, columns.kernels))

    @cached_property
    def kernels(self) -> np.ndarray:
        """The factors of the 3x3 taps in each kernel of two dimensions, [k * k, 9]."""
        return np.stack([np.kron(self.kernel[row], self.kernel[column]) for row, column in self.places])


def _matrix(*rows: str) -> np.ndarray:
    return np.array([[float(number) for number in row.split()] for row in rows])


MATRICES: Mapping[int, Matrices] = {
    2: Matrices(
        input=_matrix("1 0 -1 0", "0 1 1 0", "0 -1 1 0", "0 1 0 -1"),
        kernel=_matrix("1 0 0", ".5 .5 .5", ".5 -.5 .5", "0 0 1"),
        output=_matrix("1 1 1 0", "0 1 -1 -1"),
    ),
    4: Matrices(
        input=_matrix("4 0 -5 0 1 0", "0 -4 -4 1 1 0", "0 4 -4 -1 1 0", "0 -2 -1 2 1 0", "0 2 -1 -2 1 0", "0 4 0 -5 0 1"),
        kernel=_matrix("6 0 0", "-4 -4 -4", "-4 4 -4", "1 2 4", "1 -2 4", "0 0 24") / 24,
        output=_matrix("1 1 1 1 1 0", "0 1 -1 2 -2 0", "0 1 1 4 4 0", "0 1 -1 8 -8 1"),
    ),
}
"""The matrices of stride 1 by the outputs of a tile along one axis."""

STRIDED: Mapping[int, Matrices] = {
    2: Matrices(
        input=_matrix("1 0 -1 0 0", "0 0 1 0 0", "0 0 -1 0 1", "0 1 0 0 0", "0 0 0 1 0"),
        kernel=_matrix("1 0 0", "1 0 1", "0 0 1", "0 1 0"),
        output=_matrix("1 1 0 1 0", "0 1 1 0 1"),
        stride=2,
        shared=(0, 1, 2, 3, 3),
    ),
}
"""Those of stride 2."""

BY_STRIDE: Mapping[int, Mapping[int, Matrices]] = {1: MATRICES, 2: STRIDED}

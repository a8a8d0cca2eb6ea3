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

import numpy as np

TAPS = 3


@dataclass(frozen=True)
class Matrices:
    """The transforms of one dimension: of inputs [n, w], of taps [k, 3], and to outputs [m, n], n products for m outputs; all f64.

    Outputs are `stride` inputs apart. Each product multiplies its own kernel, those beyond the last one that.
    """

    input: np.ndarray
    kernel: np.ndarray
    output: np.ndarray
    stride: int = 1

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
        return tuple(min(place, len(self.kernel) - 1) for place in range(self.products))

    @property
    def kernels(self) -> np.ndarray:
        """The factors of the 3x3 taps in each kernel of two dimensions, row by row: [k * k, 9]."""
        return np.kron(self.kernel, self.kernel)


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
    ),
}
"""Those of stride 2."""

BY_STRIDE: Mapping[int, Mapping[int, Matrices]] = {1: MATRICES, 2: STRIDED}

"""The matrices of Winograd's convolutions by three taps: F(2, 3) and F(4, 3).

Lavin, Gray: "Fast Algorithms for Convolutional Neural Networks" (2015), section 4. One dimension of a tile of m outputs y from
m + 2 inputs d and three taps g:

    y = OUTPUT @ ((KERNEL @ g) * (INPUT @ d))

F(2, 3) needs 4 products instead of 6 and only halves the taps: it is as accurate as the direct sum. F(4, 3) needs 6 instead of
12, and its factors of up to 8 cost about four bits in two dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

TAPS = 3


@dataclass(frozen=True)
class Matrices:
    """The transforms of one dimension: of inputs [m + 2, m + 2], of taps [m + 2, 3], and to outputs [m, m + 2]; all f64."""

    input: np.ndarray
    kernel: np.ndarray
    output: np.ndarray

    @property
    def outputs(self) -> int:
        """Outputs of a tile, m."""
        return len(self.output)

    @property
    def inputs(self) -> int:
        """Inputs of a tile, m + 2; also the number of products."""
        return len(self.input)


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
"""The matrices by the outputs of a tile along one axis."""

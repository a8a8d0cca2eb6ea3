"""The sliding window that convolutions and poolings share: its attributes, the sizes it gives, and its NumPy view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from dlc.dialects.dl.types import Dim, Shape, require

T = TypeVar("T")

_WINDOW, _OF = "%window \u2299 ", " \u2299 "
"""How the symbol of a number of positions starts, and what stands between the dim, what is left by one window, and the stride."""


@dataclass(frozen=True)
class Layout:
    """Where the axes of an image of `rank` spatial axes stand, and those of a kernel.

    Channels first: [batch, channels, spatial...] and
    [out, in, taps...]. Last: [batch, spatial..., channels] and [taps..., in, out].
    """

    rank: int
    channels_last: bool = False

    @property
    def channel(self) -> int:
        """The channel axis of an image."""
        return self.rank + 1 if self.channels_last else 1

    @property
    def spatial(self) -> range:
        """The spatial axes of an image."""
        return range(1, self.rank + 1) if self.channels_last else range(2, self.rank + 2)

    @property
    def kernel_out(self) -> int:
        """The axis of a kernel that follows output channels."""
        return self.rank + 1 if self.channels_last else 0

    @property
    def kernel_in(self) -> int:
        """The axis of a kernel that follows input channels."""
        return self.rank if self.channels_last else 1

    @property
    def taps(self) -> range:
        """The spatial axes of a kernel."""
        return range(self.rank) if self.channels_last else range(2, self.rank + 2)

    def image(self, batch: T, channels: Sequence[T], places: Sequence[T]) -> list[T]:
        """What belongs to the axes of an image, in their order; `channels` may be several."""
        return [batch, *places, *channels] if self.channels_last else [batch, *channels, *places]

    def kernel(self, out: Sequence[T], inner: Sequence[T], taps: Sequence[T]) -> list[T]:
        """What belongs to the axes of a kernel, in their order."""
        return [*taps, *inner, *out] if self.channels_last else [*out, *inner, *taps]

    def spatial_of(self, image: Sequence[T]) -> tuple[T, ...]:
        """What belongs to the spatial axes of an image."""
        return tuple(image[axis] for axis in self.spatial)

    def taps_of(self, kernel: Sequence[T]) -> tuple[T, ...]:
        """What belongs to the spatial axes of a kernel."""
        return tuple(kernel[axis] for axis in self.taps)

    def first(self, image: np.ndarray) -> np.ndarray:
        """A view of an image with channels first."""
        return np.moveaxis(image, -1, 1) if self.channels_last else image

    def restored(self, image: np.ndarray) -> np.ndarray:
        """An image with channels first in this layout."""
        return np.ascontiguousarray(np.moveaxis(image, 1, -1)) if self.channels_last else image


def positions_in(dim: Dim, size: Dim) -> Callable[[int], int] | None:
    """How many positions a window has along an axis of a size, where `dim` is the symbol of that for the size `size`; else None."""
    start = f"{_WINDOW}{size}{_OF}"
    if not isinstance(dim, str) or not isinstance(size, str) or not dim.startswith(start):
        return None
    spare, stride, *rounding = map(int, dim.removeprefix(start).split(_OF))

    def count(given: int) -> int:
        left = given + spare
        if left < 0:
            return 0
        return left // stride + 1 if not rounding else min(-(-left // stride) + 1, -(-(given + rounding[0]) // stride))

    return count


@dataclass(frozen=True)
class Window:
    """A window of `kernel` taps per spatial axis that moves over the spatial axes of an image.

    Tap t at position o of an axis reads the element `o * stride + t * dilation - pad_begin`. With `ceil_mode` a last
    position that is not whole counts, too, unless it starts in the padding after the input.
    """

    kernel: Shape
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]
    ceil_mode: bool = False

    @staticmethod
    def of(
        label: str,
        kernel: Sequence[Dim],
        strides: Sequence[int],
        pads: Sequence[int],
        dilations: Sequence[int],
        ceil_mode: bool = False,
    ) -> Window:
        """Check the attributes against `label`; empty strides and dilations are 1, empty pads 0."""
        rank = len(kernel)
        strides, dilations = tuple(strides) or (1,) * rank, tuple(dilations) or (1,) * rank
        pads = tuple(pads) or (0,) * (2 * rank)
        for name, values in (("strides", strides), ("dilations", dilations)):
            require(label, len(values) == rank, f"{name} {list(values)} need one value per spatial axis, {rank}")
            require(label, min(values, default=1) > 0, f"{name} {list(values)} are not positive")
        require(label, len(pads) == 2 * rank, f"pads {list(pads)} need two values per spatial axis, {2 * rank}")
        require(label, min(pads, default=0) >= 0, f"pads {list(pads)} are negative")
        sizes = [size for size in kernel if isinstance(size, int)]
        require(label, min(sizes, default=1) > 0, f"kernel {list(kernel)} is not positive")
        return Window(tuple(kernel), strides, dilations, pads[:rank], pads[rank:], ceil_mode)

    @property
    def rank(self) -> int:
        """Number of spatial axes."""
        return len(self.kernel)

    def reach(self, axis: int) -> int | None:
        """Number of elements from the first tap to the last, both counted; None where the kernel is dynamic."""
        size = self.kernel[axis]
        return (size - 1) * self.dilations[axis] + 1 if isinstance(size, int) else None

    def lies_in_pads(self, axis: int) -> bool:
        """Whether a whole window fits into the padding before or after the input along an axis; false for a dynamic kernel."""
        reach = self.reach(axis)
        return reach is not None and max(self.pads_begin[axis], self.pads_end[axis]) >= reach

    def output_dims(self, label: str, dims: Shape, first: int = 2) -> Shape:
        """Number of positions per axis; `ConstraintError` where the window does not fit the padded input.

        The first spatial axis of the input is `first`.
        """
        return tuple(self._output_dim(label, axis, dim, first) for axis, dim in enumerate(dims))

    def _symbol(self, axis: int, dim: Dim, spare: int) -> Dim:
        """The symbol of the number of positions along an axis of a symbolic dim: equal for windows that fit in as often."""
        if dim is None:
            return None
        rounding = [self.pads_begin[axis]] if self.ceil_mode else []
        return _WINDOW + _OF.join(map(str, (dim, spare, self.strides[axis], *rounding)))

    def _output_dim(self, label: str, axis: int, dim: Dim, first: int = 2) -> Dim:
        reach, stride = self.reach(axis), self.strides[axis]
        begin, end = self.pads_begin[axis], self.pads_end[axis]
        if reach is None:
            return None
        if not isinstance(dim, int):
            return dim if stride == 1 and reach == begin + end + 1 else self._symbol(axis, dim, begin + end - reach)
        spare = dim + begin + end - reach
        require(
            label,
            spare >= 0,
            f"the window spans {reach} but the padded input has {dim + begin + end} on axis {axis + first}",
        )
        if not self.ceil_mode:
            return spare // stride + 1
        return min(-(-spare // stride) + 1, -(-(dim + begin) // stride))

    def read_by(self, tap: Sequence[int], position: Sequence[int]) -> tuple[int, ...]:
        """The place that a tap reads at a position; outside of the image in its pads."""
        parts = zip(position, self.strides, tap, self.dilations, self.pads_begin, strict=True)
        return tuple(place * stride + step * dilation - begin for place, stride, step, dilation, begin in parts)

    def view(self, x: np.ndarray, fill: float) -> np.ndarray:
        """`x`, padded with `fill`, as [batch, channels, positions..., taps...]."""
        outputs = [int(size or 0) for size in self.output_dims("", x.shape[2:])]
        reaches = [self.reach(axis) or 1 for axis in range(self.rank)]
        last = [(size - 1) * stride + reach for size, stride, reach in zip(outputs, self.strides, reaches, strict=True)]
        high = [max(end - size - begin, 0) for end, size, begin in zip(last, x.shape[2:], self.pads_begin, strict=True)]
        padding = [(0, 0), (0, 0), *zip(self.pads_begin, high, strict=True)]
        padded = np.pad(x, padding, constant_values=fill)
        view = np.lib.stride_tricks.sliding_window_view(padded, reaches, axis=tuple(range(2, x.ndim)))
        positions = [slice(0, end, stride) for end, stride in zip(last, self.strides, strict=True)]
        taps = [slice(None, None, dilation) for dilation in self.dilations]
        return view[(slice(None), slice(None), *positions, *taps)]

    def counts(self, axis: int, size: int, include_pads: bool) -> np.ndarray:
        """How many taps of each position of an axis lie inside the input of `size` (`include_pads`: or in its pads)."""
        outputs = self._output_dim("", axis, size)
        kernel, begin = self.kernel[axis], self.pads_begin[axis]
        assert isinstance(outputs, int) and isinstance(kernel, int)
        low, high = (-begin, size + self.pads_end[axis]) if include_pads else (0, size)
        starts, dilation = np.arange(outputs) * self.strides[axis] - begin, self.dilations[axis]
        first, end = (np.clip(-((starts - side) // dilation), 0, kernel) for side in (low, high))
        return end - first

"""Choices of Winograd's tiles."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import candidates, setting


@dataclass(frozen=True)
class WinogradPolicy:
    """The cost model of 3x3 convolutions by Winograd's tiles."""

    winograd_vectors: tuple[int, ...] = candidates(
        (2, 3), "vectors", "vectors of a block of channels where there are many registers"
    )
    default_results: int = setting(2, "results", "results of a tile along an axis where no accuracy is stated", 2, 4)
    direct_peak_share: float = setting(0.85, "share", "part of the peak that direct convolution reaches", 0.1, 1, 1)
    tiles_peak_share: float = setting(0.8, "share", "part of the peak that products of tiles reach", 0.1, 1, 1)
    tiles_margin: float = setting(1.1, "ratio", "by how much tiles must be estimated to be faster", 1, 4)
    version_gain: float = setting(
        1.15, "ratio", "by how much images up to usual ones must be faster with a version by taps, in the mean", 1, 16
    )
    strided_caution: float = setting(1.2, "ratio", "by how much the estimate of tiles with stride 2 is too long", 1, 4)
    far_moves: float = setting(6, "moves", "times that what whole images pass on crosses the last cache", 1, 16)
    far_byte_cycles: float = setting(1 / 6, "cycles", "a byte from beyond the second-level cache, hidden by nothing", 1 / 64, 2)
    transform_cycles: float = setting(
        5.0, "cycles", "a vector that a transform reads or writes, times multiply-adds a cycle", 0, 64
    )
    fewest_tile_columns: int = setting(16, "tiles", "tiles in a part of a row", 1, 128)
    usual_rows: tuple[int, ...] = candidates(
        (3584, 7168), "elements", "pixels of a side times channels: networks halve sides where they double channels"
    )
    open_rows: tuple[int, ...] = candidates((1, 2, 4, 8), "rows of tiles", "heights of a block of an image that is not known")

    def usual_sides(self, channels: int) -> list[int]:
        """Sides in pixels that images of so many channels have in networks, for estimates where they are not known."""
        return [max(1, size // max(1, channels)) for size in self.usual_rows]

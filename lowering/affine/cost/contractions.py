"""What products and convolutions cost before they are loops, by their sizes, for who chooses packing and Winograd's tiles.

Each is a nest to `cycles`; those whose schedule the search has yet to choose have None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dlc.lowering.policy import policy
from dlc.targets.machine import Machine


@dataclass(frozen=True)
class DirectConvolution:
    """A convolution by its taps, so many `products` for each of `pixels`."""

    pixels: int
    products: int
    element_bytes: int

    def total(self, _schedule: None, machine: Machine) -> float:
        """The products, or the kernel's way from memory."""
        lanes = machine.lanes(8 * self.element_bytes)
        issue = self.pixels * self.products / (machine.fma_ports * lanes) / policy().winograd.direct_peak_share
        return max(issue, self.products * self.element_bytes * policy().winograd.far_byte_cycles)


@dataclass(frozen=True)
class WinogradBlocks:
    """`count` blocks of so many `tiles`, each of which takes `products` products for a pair of channels."""

    count: int
    tiles: int
    products: int


@dataclass(frozen=True)
class WinogradConvolution:
    """A convolution by Winograd's tiles, whose kernel is `kernels` matrices of `inner` by `out` channels."""

    kernels: int
    inner: int
    out: int
    element_bytes: int

    @property
    def kernel_bytes(self) -> int:
        """Size of the transformed kernel."""
        return self.kernels * self.inner * self.out * self.element_bytes

    def total(self, blocks: WinogradBlocks, machine: Machine) -> float:
        """Products, transforms, a matrix of the kernel read for each product of a block, and what the transforms pass on.

        The kernel comes from beyond the second-level cache while the first block's products are computed, and while those of each
        are where it does not stay there.
        """
        vector, ports = machine.lanes(8 * self.element_bytes), machine.fma_ports
        kernel, (given, found) = self.kernel_bytes, self._passed_bytes(blocks)
        taken = blocks.tiles * blocks.products
        products = taken * self.inner * self.out / (ports * vector)
        products = products / policy().winograd.tiles_peak_share * (1 + 1 / max(blocks.tiles, 1))
        transforms = taken * -(-(self.inner + self.out) // vector) * policy().winograd.transform_cycles / ports
        read = kernel * blocks.products // self.kernels
        fetched = kernel * policy().winograd.far_byte_cycles
        streamed = max(products, fetched) if kernel + given + found > machine.l2_bytes else products
        passed = (given + found) * self._passing(blocks, machine)
        each = streamed + read / machine.l2.bytes_per_cycle + transforms + passed
        return blocks.count * each + max(0.0, fetched - streamed)

    def _passed_bytes(self, blocks: WinogradBlocks) -> tuple[int, int]:
        """What the transforms of a block give to its products, and these to the transforms back."""
        passed = blocks.tiles * blocks.products * self.element_bytes
        return passed * self.inner, passed * self.out

    def _passing(self, blocks: WinogradBlocks, machine: Machine) -> float:
        """Cycles to write and read a byte of what transforms and products of a block pass on.

        Blocks whose products would wait for the kernel share no loop with the transforms, so these pass on whole images.
        """
        l2, far = machine.l2_bytes, machine.l3_line_cycles / machine.line_bytes
        kernel, (given, found) = self.kernel_bytes, self._passed_bytes(blocks)
        shares = kernel <= max(given, l2 - given) or arrives_in_time(blocks.tiles, kernel, machine)
        largest = max(given, found)
        if blocks.count * largest > l2 and (blocks.count == 1 or largest > l2 or not shares):
            return policy().winograd.far_moves * far
        return 2 * (1 / machine.l2.bytes_per_cycle if given + found <= l2 // 2 else far)


@dataclass(frozen=True)
class WeightProduct:
    """A product of `rows` rows with so many `weights`, `grouped` of which lie in the bytes of one element (`lowering/vnni.py`).

    `working_set` counts all weights that are read in turn with these.
    """

    rows: int
    weights: int
    element_bytes: int
    grouped: int
    working_set: int

    def total(self, _schedule: None, machine: Machine) -> float:
        """Multiply-adds, widening for each register tile of rows, and the traffic of weights from where the working set lies.

        Work and traffic hide each other where one is much longer, and less where they are alike: the root of the sum of squares.
        """
        widening = -(-self.rows // policy().fusion.tile_rows) * machine.cycles("integer_i32") if self.grouped > 1 else 0.0
        issue = self.rows * machine.cycles("fma_f32") + widening
        stored = self.element_bytes / self.grouped
        traffic = stored / machine.streamed_bytes_per_cycle(self.working_set * stored)
        return self.weights * math.hypot(issue / machine.lanes(8 * self.element_bytes), traffic)


@dataclass(frozen=True)
class StridedSums:
    """`rows` sums, each of `inner` products, along a column whose elements lie apart."""

    rows: int
    inner: int

    def total(self, _schedule: None, _machine: Machine) -> float:
        """Sums of any machine: what waits for memory is the same on all."""
        packing = policy().packing
        return self.rows * (packing.summed_row_cycles + packing.summed_step_cycles * self.inner)


@dataclass(frozen=True)
class ColumnCopy:
    """A copy of `inner` elements that lie apart, side by side."""

    inner: int

    def total(self, _schedule: None, _machine: Machine) -> float:
        """As `StridedSums`."""
        return policy().packing.copied_element_cycles * self.inner


def arrives_in_time(rows: int, size: int, machine: Machine) -> bool:
    """Whether an operand of `size` bytes comes from the third-level cache as fast as `rows` rows are multiplied with it."""
    return (
        rows / machine.fma_ports >= policy().winograd.far_byte_cycles * machine.vector_bits / 8
        and size <= policy().blocks.quarter_share * machine.l3_bytes
    )

"""What products and convolutions cost before they are loops, by their sizes, for who chooses packing and Winograd's tiles.

Times are cycles of one core.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy import policy
from dlc.targets.machine import Machine


def direct_cycles(pixels: int, products: int, element_bytes: int, machine: Machine) -> float:
    """A convolution by its taps, so many `products` for each of `pixels`: these, or the kernel's way from memory."""
    issue = pixels * products / (machine.fma_ports * machine.lanes(8 * element_bytes)) / policy().winograd.direct_peak_share
    return max(issue, products * element_bytes * policy().winograd.far_byte_cycles)


@dataclass(frozen=True)
class WinogradTiles:
    """A convolution by Winograd's tiles: `blocks` blocks of so many `tiles`, each with `products` for a pair of channels."""

    blocks: int
    tiles: int
    products: int
    kernels: int
    inner: int
    out: int
    element_bytes: int

    @property
    def kernel_bytes(self) -> int:
        """Size of the transformed kernel."""
        return self.kernels * self.inner * self.out * self.element_bytes

    @property
    def given_bytes(self) -> int:
        """What the transforms of a block give to its products."""
        return self.products * self.inner * self.element_bytes

    @property
    def found_bytes(self) -> int:
        """What the products of a block give to the transforms back."""
        return self.products * self.out * self.element_bytes


def winograd_cycles(work: WinogradTiles, machine: Machine) -> float:
    """Products, transforms, the kernel read once a block, and what the transforms pass on.

    A kernel that does not stay in the second-level cache is fetched while products are computed.
    """
    vector, ports = machine.lanes(8 * work.element_bytes), machine.fma_ports
    kernel, given, found = work.kernel_bytes, work.given_bytes, work.found_bytes
    products = work.products * work.inner * work.out / (ports * vector)
    products = products / policy().winograd.tiles_peak_share * (1 + 1 / max(work.tiles, 1))
    transforms = work.products * -(-(work.inner + work.out) // vector) * policy().winograd.transform_cycles / ports
    streamed = kernel * policy().winograd.far_byte_cycles if kernel + given + found > machine.l2_bytes else 0.0
    passed = (given + found) * _passing(work, machine)
    return work.blocks * (max(products, streamed) + kernel / machine.l2.bytes_per_cycle + transforms + passed)


def _passing(work: WinogradTiles, machine: Machine) -> float:
    """Cycles to write and read a byte of what transforms and products of a block pass on.

    Blocks whose products would wait for the kernel share no loop with the transforms, so these pass on whole images.
    """
    l2, far = machine.l2_bytes, machine.l3_line_cycles / machine.line_bytes
    kernel, given, found = work.kernel_bytes, work.given_bytes, work.found_bytes
    shares = kernel <= max(given, l2 - given) or arrives_in_time(work.tiles, kernel, machine)
    largest = max(given, found)
    if work.blocks * largest > l2 and (work.blocks == 1 or largest > l2 or not shares):
        return policy().winograd.far_moves * far
    return 2 * (1 / machine.l2.bytes_per_cycle if given + found <= l2 // 2 else far)


def arrives_in_time(rows: int, size: int, machine: Machine) -> bool:
    """Whether an operand of `size` bytes comes from the third-level cache as fast as `rows` rows are multiplied with it."""
    return (
        rows / machine.fma_ports >= policy().winograd.far_byte_cycles * machine.vector_bits / 8
        and size <= policy().blocks.quarter_share * machine.l3_bytes
    )


def turning_pays(rows: int, inner: int) -> bool:
    """Whether a copy of a matrix whose columns lie apart costs less than sums of so many rows, `inner` long, along them."""
    packing = policy().packing
    return rows * (packing.summed_row_cycles + packing.summed_step_cycles * inner) > packing.copied_element_cycles * inner

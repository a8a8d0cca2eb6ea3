"""What warpgroups do, for `gpu_interpreter.py`: `wgmma` on shared memory by descriptors, its fences and waits (PTX ISA).

Tensor cores see shared memory as it was at the last `fence.proxy.async` of a thread, and a product reads it at any time between its
start and the wait for its group. Sums are there after the wait alone. So a missing fence, wait or barrier gives wrong numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gpu_tensor_maps import TensorCopies
from gpu_warps import WARP, AsyncGroups, fragments_of, rounded

_SWIZZLES = {0: 16, 1: 128, 2: 64, 3: 32}


@dataclass
class BlockMemory:
    """Dynamic shared memory of a block: what threads see, and what tensor cores do."""

    bytes: np.ndarray
    shown: np.ndarray = field(init=False)
    tensors: TensorCopies = field(init=False)

    def __post_init__(self) -> None:
        self.shown = np.full_like(self.bytes, 0x7F)
        self.tensors = TensorCopies((self.bytes, self.shown))

    def show(self) -> None:
        """`fence.proxy.async`: what has landed can be read by tensor cores."""
        self.shown[...] = self.bytes

    def address(self, view: np.ndarray) -> int:
        """Where a view starts, in bytes from the start, which is a multiple of 1024."""
        return int(view.__array_interface__["data"][0] - self.bytes.__array_interface__["data"][0])

    def matrix(self, descriptor: int, shape: tuple[int, int], element: np.dtype, is_along: bool) -> np.ndarray:
        """The operand that a descriptor names: `shape` is positions along the axis, and along the sum."""
        bits = int(descriptor)
        fields = tuple((bits >> at & 0x3FFF) << 4 for at in (16, 32))
        swizzle = _SWIZZLES[bits >> 62 & 3]
        places = _places(shape, element.itemsize, is_along, swizzle, *fields) + ((bits & 0x3FFF) << 4)
        places = places ^ (places // 128 % (swizzle // 16) * 16)
        every = places[..., None] + np.arange(element.itemsize)
        return self.shown[every].view(element)[..., 0]


@functools.lru_cache(maxsize=64)
def _places(shape: tuple[int, int], size: int, is_along: bool, row_bytes: int, leading: int, stride: int) -> np.ndarray:
    """Bytes from the start of a matrix to each element, before the swizzle."""
    axis, total = np.indices(shape)
    if is_along:
        assert shape[1] * size <= row_bytes
        return axis // 8 * stride + axis % 8 * row_bytes + total * size
    assert size == 2, "wgmma transposes elements of two bytes"
    per_row = row_bytes // size
    return axis // per_row * leading + axis % per_row * size + total // 8 * stride + total % 8 * row_bytes


@dataclass
class Products(AsyncGroups):
    """The products of one thread that are on their way."""

    is_ordered: bool = False
    """Whether `wgmma.fence` came after the last use of registers."""

    def fence(self) -> None:
        self.is_ordered = True

    def wait(self, left: int) -> None:
        """Registers may be used after it."""
        super().wait(left)
        self.is_ordered = False


@dataclass(frozen=True)
class WarpgroupShape:
    """Of one `wgmma`: columns and depth, the element, and whether each operand lies along the sum."""

    columns: int
    depth: int
    element: str
    along: tuple[bool, bool]


def multiply_async(lanes: Sequence[tuple[Products, BlockMemory, WarpgroupShape, int, Any, int, np.ndarray]]) -> list[np.ndarray]:
    """Start the product of the 16 rows that a warp has of a warpgroup's 64; the sums of each lane, which the wait fills in."""
    products, memory, shape, _, left, right, first = lanes[0]
    named = [(lane[3], 0 if np.ndim(left) else int(lane[4]), int(lane[5])) for lane in lanes]
    assert len(set(named)) == 1, "descriptors of a warp differ"
    if np.ndim(left):
        left = fragments_of([lane[4] for lane in lanes])
    sums = [lane[6] for lane in lanes]
    garbage = np.nan if first.dtype == np.float32 else 99
    found, is_ordered = [np.full_like(one, garbage) for one in sums], [lane[0].is_ordered for lane in lanes]
    read = functools.cache(lambda: _operands(memory, shape, left, right, lanes[0][3]))
    if products.order.random() < 0.5:
        read()

    @functools.cache
    def land() -> None:
        total = _fragments(read()[0] @ read()[1])
        for lane, (target, start) in enumerate(zip(found, sums, strict=True)):
            target[...] = total[lane] + start if is_ordered[lane] else garbage

    for lane in lanes:
        lane[0].groups[-1].append(land)
    return found


def _operands(
    memory: BlockMemory, shape: WarpgroupShape, left: int | np.ndarray, right: int, warp: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the left operand that a warp has, in registers or by a descriptor, and the right operand, as wide numbers."""
    element = np.dtype(shape.element)
    if isinstance(left, np.ndarray):
        lhs = left
    else:
        lhs = memory.matrix(left, (64, shape.depth), element, shape.along[0])[16 * warp : 16 * warp + 16]
    rhs = memory.matrix(right, (shape.columns, shape.depth), element, shape.along[1])
    wide = np.int32 if element == np.int8 else np.float32
    return rounded(lhs).astype(wide), rounded(rhs).astype(wide).T


def _fragments(total: np.ndarray) -> list[np.ndarray]:
    """The sums of each lane: of every 8 columns two neighbours in each of two rows."""
    parts = total.reshape(2, 8, -1, 4, 2)  # half, row, fragment, neighbours, side
    return [parts[:, lane // 4, :, lane % 4].transpose(1, 0, 2).reshape(-1) for lane in range(WARP)]

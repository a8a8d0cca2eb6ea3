"""`dl-pack-weights`: large matrices of weights come in blocks of columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType
from dlc.lowering.dl.matching import WeightFacts, attributes_of, dl_ops, functions, groups_of, has_one_use, source, type_of
from dlc.lowering.dl.patterns import built_like
from dlc.lowering.dl.precision import multiplies_bf16
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine, facts_of, is_for_gpu

_LEAST_BITS = 32
"""Narrower numbers are multiplied as such."""


@dataclass(frozen=True)
class PackWeights(Pass):
    """Let products with a matrix of weights read it in blocks of columns, by ops on weights.

    Rows of a matrix are far apart in memory, and a block of columns reads a little of each: on one core of AVX-512, 128x3072x768
    runs at 38 GFLOP/s with rows and at 145 with blocks, 128x768x3072 at 29 and 138, 1x3072x768 at 8 and 15. Rows of a small
    matrix are read across cache lines unless their length is a multiple of one. Zeros fill the last block. Columns that fill three
    quarters of a vector or less are blocks of their own, for products that sum along them: 64x6x1024 takes 16 us before and 6 us
    after, 100x10x512 0.55 and 1000x12x1000 0.95 of the time, 1000x16x1000 would take 1.26. A
    convolution of single pixels with channels last whose kernel is not in blocks is such a product: 1x13x13x512 to 1000 channels
    takes 3.4 ms before and 1.1 ms after. Where products become dot products of bf16, which read weights in blocks, smaller
    matrices are packed too: 56x56x96 to 24 channels takes 195 us in f32 and 102 us so. Modules for a GPU stay as they are: its
    blocks read panels to shared memory.

    before: %0 = "dl.matmul"(%x, %w) : (tensor<4x768xf32>, tensor<768x3072xf32>) -> tensor<4x3072xf32>
    after:  %r = "dl.reshape"(%w) {shape = [768, 64, 48]}   %p = "dl.transpose"(%r) {perm = [1, 0, 2]}
            %0 = "dl.packed_matmul"(%x, %p) : (tensor<4x768xf32>, tensor<64x768x48xf32>) -> tensor<4x3072xf32>
    """

    least: int = option(16 * 1024, "bytes of the smallest matrix that is packed")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        if self.least < 0:
            raise PassFailure(op, f"least is {self.least}", "give a number of bytes, 0 or more")
        if is_for_gpu(op):
            return
        cpu = facts_of(op)
        least = min(self.least, policy().packing.pairs_bytes) if multiplies_bf16(op) else self.least
        for function in functions(op):
            if "dl.precompute" in function.attributes:
                continue
            facts = WeightFacts()
            for operation in dl_ops(function):
                if _is_of_one_matrix(operation) and _is_packed(operation, least, facts):
                    facts.forget(operation)
                    _pack(operation, cpu)
                elif _is_pointwise(operation) and _is_packed(operation, least, facts):
                    facts.forget(operation)
                    _pack_pointwise(operation, cpu)


def _is_of_one_matrix(op: ir.Operation) -> bool:
    return op.name == "dl.matmul" and type_of(op.operands[1]).rank == 2


def _is_packed(op: ir.Operation, least: int, is_weight: WeightFacts) -> bool:
    """Whether the right-hand side is weights of `least` bytes or more, and the left-hand side is computed."""
    kind = type_of(op.operands[1])
    if not kind.is_static or op.parent.name != "func.func":
        return False
    size = (kind.num_elements or 0) * bits_of(kind) // 8
    return size >= max(least, 1) and is_weight(op.operands[1]) and not is_weight(op.operands[0])


def _sizes(kind: TensorType) -> list[int]:
    return [dim for dim in kind.shape if isinstance(dim, int)]


def block_widths(cpu: Machine, bits: int) -> tuple[int, ...]:
    """Columns that a block of numbers of `bits` may have, the best first; the last block of a matrix is filled up with zeros."""
    if cpu.has_many_registers:
        return policy().packing.packed_columns
    return tuple(vectors * cpu.lanes(max(bits, _LEAST_BITS)) for vectors in policy().packing.packed_vectors)


def bits_of(kind: TensorType) -> int:
    """Bits of a number of a tensor."""
    return 8 * NUMPY_DTYPES[kind.dtype].itemsize


def _block_of(inner: int, columns: int, bits: int, rows: int | None, cpu: Machine) -> int:
    """Columns of a block for a matrix of so many: of a narrow one, what adds the fewest, of equals the first of `block_widths`.

    Tiles of 8 by 48 are level with 6 by 64 where both fit, and waste less of heights such as 49. Where one tile holds all `rows`,
    the wider block is taken if it adds fewer columns; `rows` is None where that is not known.
    """
    lanes = cpu.vector_bits // bits
    if columns <= policy().packing.summed_columns * lanes and inner >= policy().packing.summed_vectors * lanes:
        return 1
    widths = block_widths(cpu, bits)
    if columns >= policy().packing.wide_columns:
        widths = tuple(
            width for width in widths if width == widths[0] or (width > widths[0] and _fits_in_tile(rows, width // lanes, cpu))
        )
    return min(widths, key=lambda block: -columns % block)


def _fits_in_tile(rows: int | None, vectors: int, cpu: Machine) -> bool:
    """Whether registers hold sums of so many rows and vectors, one row of these, and a number of the other side."""
    return rows is not None and (rows + 1) * vectors + 1 <= cpu.vector_registers


def _is_pointwise(op: ir.Operation) -> bool:
    """Whether `op` is a convolution of single pixels whose channels lie together: a product with its kernel [1..., in, out]."""
    if op.name != "dl.conv" or not attributes_of(op)["channels_last"]:
        return False
    x, weight = type_of(op.operands[0]), type_of(op.operands[1])
    found = attributes_of(op)
    single = set(weight.shape[:-2]) == {1} and set(found["strides"]) <= {1} and set(found["pads"]) <= {0}
    return single and found["groups"] == 1 and x.rank == weight.rank


def _pack(op: ir.Operation, cpu: Machine) -> None:
    """Let a packed product stand for the matmul `op`."""
    with op.location, ir.InsertionPoint(op):
        packed, columns = _packed(op.operands[1], _rows_of(op), cpu)
        product = built_like(op.results[0], "packed_matmul", op.operands[0], packed, columns=columns)
        op.results[0].replace_all_uses_with(product)
    op.erase()


def _pack_pointwise(op: ir.Operation, cpu: Machine) -> None:
    """Let a packed product and the sum with the bias stand for the convolution `op`."""
    x, weight, bias = groups_of(op)
    rows = _rows_of(op)
    with op.location, ir.InsertionPoint(op):
        packed, columns = _packed(dl.reshape(weight, shape=_sizes(type_of(weight))[-2:]), rows, cpu)
        product = built_like(op.results[0], "packed_matmul", x, packed, columns=columns)
        op.results[0].replace_all_uses_with(product if bias is None else built_like(op.results[0], "add", product, bias))
    op.erase()


def _rows_of(op: ir.Operation) -> int | None:
    """Rows that a product multiplies its weights with, None where their number is not known or others read these weights, too."""
    rows = type_of(op.operands[0]).shape[:-1]
    if not (all(isinstance(dim, int) for dim in rows) and _is_read_once(op.operands[1])):
        return None
    return math.prod(int(str(dim)) for dim in rows)


def _is_read_once(weight: ir.Value) -> bool:
    """Whether one op alone reads weights, and what they are made of by ops of one operand."""
    while has_one_use(weight):
        made = source(weight)
        if made is None or len(made.operands) != 1:
            return True
        weight = made.operands[0]
    return False


def _packed(weight: ir.Value, rows: int | None, cpu: Machine) -> tuple[ir.Value, int]:
    """The matrix `weight` in blocks of columns for so many rows, and how many there are; 0 where no block is filled up."""
    inner, columns = _sizes(type_of(weight))
    block = _block_of(inner, columns, bits_of(type_of(weight)), rows, cpu)
    added = -columns % block
    if added:
        weight = dl.pad(weight, low=[0, 0], high=[0, added])
    split = dl.reshape(weight, shape=[inner, (columns + added) // block, block])
    return dl.transpose(split, perm=[1, 0, 2]), columns if added else 0

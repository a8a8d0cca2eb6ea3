"""`dl-pack-operands`: matrices that are computed are copied into an order that their products read well, where that pays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import TensorType
from dlc.lowering.affine.cost.contractions import ColumnCopy, StridedSums
from dlc.lowering.affine.cost.cycles import cycles
from dlc.lowering.affine.cost.limits import falls_out
from dlc.lowering.dl.matching import WeightFacts, attributes_of, dl_ops, functions, source, type_of
from dlc.lowering.dl.weights.pack_weights import bits_of, block_widths
from dlc.lowering.pass_base import Pass
from dlc.lowering.policy import policy
from dlc.targets.machine import L1_WAY_BYTES, Machine, facts_of, is_for_gpu

_FLOATS = ("f32", "f64", "f16", "bf16")


@dataclass(frozen=True)
class PackOperands(Pass):
    """Let products read a copy of a computed right-hand side, a kernel of its own, where that takes less time than reading it.

    A transposed one is summed along rows of both sides, which takes longer the more rows the left side has; rows of another that
    lie a multiple of a large power of two apart share few places of the cache. On one core of AVX-512 with 2 MiB of L2: 128x128x128
    transposed takes 58 us before and 28 us after, 96x768x768 1091 and 903 us; 128x1024x1024 as it is 7.8 and 2.4 ms. Modules for a
    GPU stay as they are: its blocks read panels to shared memory.

    before: %t = "dl.transpose"(%y) {perm = [1, 0]} : (tensor<768x512xf32>) -> tensor<512x768xf32>
            %0 = "dl.matmul"(%x, %t)
    after:  %p = "dl.kernel"() ({
              %r = "dl.reshape"(%y) {shape = [16, 48, 512]}   %t = "dl.transpose"(%r) {perm = [0, 2, 1]}   "dl.yield"(%t)
            }) : () -> tensor<16x512x48xf32>
            %0 = "dl.packed_matmul"(%x, %p)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        if is_for_gpu(op):
            return
        cpu = facts_of(op)
        for function in functions(op):
            if "dl.precompute" in function.attributes:
                continue
            facts = WeightFacts()
            for operation in dl_ops(function):
                if operation.name != "dl.matmul" or operation.parent.name != "func.func" or facts(operation.operands[1]):
                    continue
                x, y = (type_of(value) for value in operation.operands)
                if not (x.is_static and y.is_static and y.dtype in _FLOATS and x.num_elements and y.num_elements):
                    continue
                if _is_turned(operation.operands[1]):
                    if _turning_pays(_rows(x, y), _sizes(y)[-2], cpu):
                        _turn(operation, facts, cpu)
                elif y.rank == 2 and _falls_out(y, cpu) and _rows(x, y) >= _least_rows(y, cpu) and not _is_copied_later(x, y, cpu):
                    _pack(operation, facts, cpu)


def _sizes(kind: TensorType) -> list[int]:
    return [dim for dim in kind.shape if isinstance(dim, int)]


def _rows(x: TensorType, y: TensorType) -> int:
    """Rows of the left-hand side that meet one matrix."""
    return math.prod(_sizes(x)[:-1]) if y.rank == 2 else _sizes(x)[-2] if x.rank > 1 else 1


def _turning_pays(rows: int, inner: int, cpu: Machine) -> bool:
    """Whether a copy of a matrix whose columns lie apart costs less than sums of so many rows, `inner` long, along them."""
    return cycles(StridedSums(rows, inner), None, cpu) > cycles(ColumnCopy(inner), None, cpu)


def _is_turned(value: ir.Value) -> bool:
    """Whether neighbouring columns of a matrix are not neighbours in memory, by the transpose that gives it."""
    op = source(value, "dl.transpose")
    return op is not None and list(attributes_of(op)["perm"])[-1] != type_of(value).rank - 1


def _falls_out(y: TensorType, cpu: Machine) -> bool:
    """Whether a column of a row-major matrix, a cache line of each row, does not stay in the second-level cache."""
    rows, columns = _sizes(y)
    stride = columns * bits_of(y) // 8
    return falls_out(rows, stride, cpu) and columns > block_widths(cpu, bits_of(y))[0]


def _least_rows(y: TensorType, cpu: Machine) -> int:
    """Rows of the left-hand side that pay for a copy of `y`."""
    if cpu.has_many_registers:
        return policy().packing.copied_rows
    return (
        policy().packing.copied_rows_few_registers
        if _sizes(y)[1] * bits_of(y) // 8 % L1_WAY_BYTES
        else policy().packing.copied_rows_conflicting
    )


def _is_copied_later(x: TensorType, y: TensorType, cpu: Machine) -> bool:
    """Whether the tiles of a product that is no batch copy blocks of `y` themselves (`affine/search/copy_choice.py`)."""
    return (
        x.rank == 2
        and y.dtype in ("f32", "f64")
        and not cpu.has_many_registers
        and _sizes(x)[0] <= policy().packing.most_copied_rows
    )


def _width(y: TensorType, cpu: Machine) -> int:
    """Columns of a block of the matrix `y`; 0 where no width divides its own."""
    return next((width for width in block_widths(cpu, bits_of(y)) if _sizes(y)[-1] % width == 0), 0)


def _turn(op: ir.Operation, facts: WeightFacts, cpu: Machine) -> None:
    x, y = op.operands
    transpose = source(y, "dl.transpose")
    assert transpose is not None
    given, perm = transpose.operands[0], list(attributes_of(transpose)["perm"])
    columns = _sizes(type_of(y))[-1]
    width = _width(type_of(y), cpu) if type_of(y).rank == 2 else 0
    with op.location, ir.InsertionPoint(op):
        if not width:
            made = dl.matmul(x, _alone(lambda matrix: dl.transpose(matrix, perm=perm), of=given))
        else:
            made = dl.packed_matmul(x, _blocks(given, [columns // width, width, _sizes(type_of(y))[0]], [0, 2, 1]))
    _replace(op, made, facts)


def _pack(op: ir.Operation, facts: WeightFacts, cpu: Machine) -> None:
    x, y = op.operands
    inner, columns = _sizes(type_of(y))
    width = _width(type_of(y), cpu)
    if not width:
        return
    with op.location, ir.InsertionPoint(op):
        made = dl.packed_matmul(x, _blocks(y, [inner, columns // width, width], [1, 0, 2]))
    _replace(op, made, facts)


def _blocks(matrix: ir.Value, split: list[int], perm: list[int]) -> ir.Value:
    return _alone(lambda value: dl.reshape(value, shape=split), lambda value: dl.transpose(value, perm=perm), of=matrix)


def _alone(*build: Callable[[ir.Value], ir.Value], of: ir.Value) -> ir.Value:
    """What the ops that `build` makes, each of the one before, give as the result of a kernel, with which nothing is fused."""
    made = [of]
    for step in build:
        made.append(step(made[-1]))
    kernel = ir.Operation.create("dl.kernel", results=[made[-1].type], regions=1)
    body = kernel.regions[0].blocks.append()
    for value in made[1:]:
        body.append(value.owner)
    with ir.InsertionPoint(body):
        ir.Operation.create("dl.yield", operands=[made[-1]])
    return kernel.results[0]


def _replace(op: ir.Operation, made: ir.Value, facts: WeightFacts) -> None:
    facts.forget(op)
    op.results[0].replace_all_uses_with(made)
    op.erase()

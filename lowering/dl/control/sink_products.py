"""`dl-sink-products`: a product of which each step of a loop takes its rows is computed step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.dialects import dl
from dlc.dialects.dl.control import CONTROL
from dlc.dialects.dl.types import NUMPY_DTYPES, Shape
from dlc.lowering.dl.control.scalars import control_ops
from dlc.lowering.dl.matching import WeightFacts, attributes_of, functions, has_one_use, source, type_of, users
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy
from dlc.targets.machine import facts_of

_LOOPS = ("scf.for", "scf.while")


@dataclass(frozen=True)
class SinkProducts(Pass):
    """Compute the rows of a product in the steps of the loop that take them, where a step has enough rows for that.

    The whole product of a long sequence leaves the cache before its last rows are read, and is larger than all else that the loop
    reads. Few rows, which take the time of reading the weight, stay together.

    before:
        %0 = "dl.matmul"(%x, %w) : (tensor<128x16x64xf32>, tensor<64x256xf32>) -> tensor<128x16x256xf32>
        scf.for %i ... { %1 = "dl.gather"(%0, %n) : (tensor<128x16x256xf32>, tensor<i64>) -> tensor<16x256xf32> ... }
    after:
        scf.for %i ... {
            %0 = "dl.gather"(%x, %n) : (tensor<128x16x64xf32>, tensor<i64>) -> tensor<16x64xf32>
            %1 = "dl.matmul"(%0, %w) : (tensor<16x64xf32>, tensor<64x256xf32>) -> tensor<16x256xf32> ... }
    """

    rows: int = option(-1, "rows of a step from which its product is computed there (-1: those of the policy)")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        rows = policy().graph.sunk_rows if self.rows < 0 else self.rows
        cache = facts_of(op).l2.bytes
        for function in functions(op):
            if not any(inner.name in _LOOPS for inner in control_ops(function)):
                continue
            is_weight = WeightFacts()
            for inner in [inner for inner in nested_ops(function) if inner.name == "dl.matmul"]:
                if inner.parent.name not in CONTROL and is_weight(inner.operands[1]):
                    _sink(inner, rows, cache)


def _sink(product: ir.Operation, rows: int, cache: int) -> None:
    """Move the matmul `product`, and a bias that is added, to the gathers of its slices."""
    x, weight = type_of(product.operands[0]), type_of(product.operands[1])
    if x.rank < 3 or weight.rank != 2 or not _suits(x.shape, weight.shape, NUMPY_DTYPES[weight.dtype].itemsize, rows, cache):
        return
    addition = _biased(product)
    total = product if addition is None else addition
    gathers = list(users(total.results[0]))
    if not gathers or not all(_takes_step(gather, total) for gather in gathers):
        return
    for gather in gathers:
        with gather.location, ir.InsertionPoint(gather):
            taken = dl.gather(product.operands[0], gather.operands[1], axis=0)
            value = dl.matmul(taken, product.operands[1], **attributes_of(product))
            if addition is not None:
                value = dl.add(value, _other(addition, product))
        gather.results[0].replace_all_uses_with(value)
        gather.erase()
    for op in dict.fromkeys((total, product)):
        op.erase()


def _suits(x: Shape, weight: Shape, size: int, rows: int, cache: int) -> bool:
    """Whether a step has `rows` rows, its weight leaves room in the cache for another one, and the whole product does not fit."""
    lead, sizes = [dim for dim in x[1:-1] if isinstance(dim, int)], [dim for dim in weight if isinstance(dim, int)]
    if len(lead) != len(x) - 2 or len(sizes) != len(weight):
        return False
    own, steps, (depth, width) = math.prod(lead), x[0], sizes
    is_small = isinstance(steps, int) and 2 * steps * own * width * size <= cache
    return own >= rows and 3 * depth * width * size <= cache and not is_small


def _biased(product: ir.Operation) -> ir.Operation | None:
    """The sum of the product and a value along its last axis, if that is the only use."""
    if not has_one_use(product.results[0]):
        return None
    user = next(users(product.results[0]))
    is_sum = user.name == "dl.add" and user.block == product.block
    return user if is_sum and type_of(_other(user, product)).rank == 1 else None


def _other(addition: ir.Operation, product: ir.Operation) -> ir.Value:
    left, right = addition.operands
    return right if source(left) == product else left


def _takes_step(gather: ir.Operation, total: ir.Operation) -> bool:
    """Whether an op inside of a loop takes one slice along the first axis."""
    if gather.name != "dl.gather" or gather.operands[0] != total.results[0]:
        return False
    is_one = type_of(gather.operands[1]).rank == 0 and attributes_of(gather)["axis"] == 0
    return is_one and gather.block != total.block and gather.parent.name in _LOOPS

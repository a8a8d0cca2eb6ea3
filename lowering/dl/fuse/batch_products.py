"""`dl-batch-products`: products of one weight with inputs that do not wait for each other become one product of a batch."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl import ops
from dlc.lowering.dl.matching import WeightFacts, functions, type_of
from dlc.lowering.dl.patterns import built_like
from dlc.lowering.pass_base import Pass, option

_SLICE = ops()["slice"]


@dataclass(frozen=True)
class BatchProducts(Pass):
    """Make one matmul of those of one weight whose inputs have one static type, where none needs the result of another.

    before: %0 = dl.matmul(%x, %w)    %1 = dl.matmul(%y, %w)
    after:  %b = dl.concat(%x, %y)    %p = dl.matmul(%b, %w)    %0 = dl.slice(%p)    %1 = dl.slice(%p)

    Products of few rows take the time that reading the weight takes: 32 products of one row by 256x1024 read 32 MiB, the one
    product of 32 rows that stands for them reads 1. Loops over time that are unrolled have such products: those of a layer with
    its inputs. The parts of a batch lie along a new first axis.
    """

    most_rows: int = option(16, "rows of an input from which its product computes longer than it reads the weight")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module."""
        for function in functions(op):
            block = function.regions[0].blocks[0]
            if any(len(view.operation.regions) for view in block.operations):
                continue
            while self._fuse_in(block):  # a batch may be as large as a product that was there before
                pass

    def _fuse_in(self, block: ir.Block) -> bool:
        """Fuse the families of a block; whether there was one to fuse."""
        fused = False
        for family in _families(block, self.most_rows):
            for level in _levels(block, family):
                if len(level) > 1:
                    _fuse(block, level)
                    fused = True
        return fused


def _families(block: ir.Block, most_rows: int) -> list[list[ir.Value]]:
    """Results of the matmuls of few rows that have one weight and inputs of one type, in program order."""
    facts = WeightFacts()
    found: dict[Hashable, list[ir.Value]] = defaultdict(list)
    for view in block.operations:
        op = view.operation
        if op.name != "dl.matmul" or not facts(op.operands[1]) or facts(op.operands[0]):
            continue
        kind, weight = type_of(op.operands[0]), type_of(op.operands[1])
        if kind.is_static and weight.rank == 2 and math.prod(dim for dim in kind.shape[:-1] if isinstance(dim, int)) <= most_rows:
            found[(op.operands[1], str(op.operands[0].type))].append(op.results[0])
    return [family for family in found.values() if len(family) > 1]


def _levels(block: ir.Block, family: Sequence[ir.Value]) -> list[list[ir.Value]]:
    """The family's values by the most values of the family that are needed, one after the other, to compute them."""
    members = set(family)
    depth: dict[ir.Value, int] = {}
    levels: dict[int, list[ir.Value]] = defaultdict(list)
    for view in block.operations:
        op = view.operation
        below = max((depth.get(operand, 0) for operand in op.operands), default=0)
        for result in op.results:
            depth[result] = below
            if result in members:
                levels[below].append(result)
                depth[result] = below + 1
    return list(levels.values())


def _fuse(block: ir.Block, level: Sequence[ir.Value]) -> None:
    """Replace products, none of which needs another, by slices of one that stands where the last stood."""
    products = [value.owner.operation for value in level]
    last = products[-1]
    waiting = _waiting(block, level, last)
    with ir.Location.fused([product.location for product in products]), ir.InsertionPoint(last):
        kind = type_of(last.operands[0])
        rows = [dl.reshape(product.operands[0], shape=[1, *kind.shape]) for product in products]
        whole = dl.matmul(_concat(rows), last.operands[1])
    for place, product in enumerate(products):
        with product.location, ir.InsertionPoint(last):
            part = _part(whole, place, product)
        product.results[0].replace_all_uses_with(part)
    for op in reversed(waiting):
        op.move_after(last)
    for product in products:
        product.erase()


def _waiting(block: ir.Block, level: Sequence[ir.Value], last: ir.Operation) -> list[ir.Operation]:
    """The ops before `last` that need a value of `level`, in program order."""
    needed = set(level)
    found: list[ir.Operation] = []
    for view in block.operations:
        op = view.operation
        if op == last:
            return found
        if any(operand in needed for operand in op.operands):
            needed.update(op.results)
            found.append(op)
    return found


def _concat(values: Sequence[ir.Value]) -> ir.Value:
    joined = values[0]
    for value in values[1:]:
        joined = dl.concat(joined, value, axis=0)
    return joined


def _part(whole: ir.Value, place: int, product: ir.Operation) -> ir.Value:
    """The product of the input number `place`, of the type of `product`."""
    with_one = _SLICE.build(whole, None, starts=[place], ends=[place + 1], axes=[0], steps=[1])
    return built_like(product.results[0], "reshape", with_one, None, shape=type_of(with_one).shape[1:])

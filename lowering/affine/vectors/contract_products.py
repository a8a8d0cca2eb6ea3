"""affine-contract-products: products that are added to something become multiply-adds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir, math
from dlc.analysis.buffers import nested_ops
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import Machine, facts_of, is_for_gpu

_SUMS = ("arith.addf", "arith.subf")


@dataclass(frozen=True)
class ContractProducts(Pass):
    """Round a product and the sum that it goes into once, as `-ffp-contract=on` does in C.

    before: %p = arith.mulf %a, %b; %s = arith.addf %c, %p
    after:  %s = math.fma %a, %b, %c

    `c - a * b` and `a * b - c` become multiply-adds of a negated operand. A product with other uses stays.

    So does one whose sum the loop's next iteration waits for, where the target adds sooner than it multiplies and adds (3 and 4
    cycles on Zen): a triangular solve of 2000 rows takes 0.8 of the time. Loops with more to do than to wait for have them fused,
    and so has all code for a GPU, which adds no sooner than it multiplies and adds.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        waited_for = () if is_for_gpu(op) else _waited_for(op, facts_of(op))
        for inner in nested_ops(op):
            if inner.name in _SUMS and inner not in waited_for:
                _contract(inner)


def _waited_for(function: ir.Operation, facts: Machine) -> Collection[ir.Operation]:
    """The sums that are there sooner by themselves, in loops that wait for them."""
    if facts.sum_cycles >= facts.instruction("fma_f32").latency:
        return ()
    return {op for loop in nested_ops(function) if loop.name == "affine.for" for op in _waited_for_in(loop, facts)}


def _waited_for_in(loop: ir.Operation, facts: Machine) -> Collection[ir.Operation]:
    """Those of one loop: sums that it carries, where all of its arithmetic starts while it waits."""
    if not loop.results:
        return ()
    block = loop.regions[0].blocks[0]
    body = [op.operation for op in block.operations]
    chains = [_chain(value, start) for value, start in zip(body[-1].operands, list(block.arguments)[1:], strict=True)]
    cycles = facts.sum_cycles * max(len(chain) for chain in chains)
    work = sum(1 for op in body if op.name.startswith(("arith", "math")) and isinstance(op.results[0].type, ir.FloatType))
    if any(len(op.regions) for op in body) or not _are_scalar(chains) or work > cycles * facts.fma_ports:
        return ()
    return {op for chain in chains for op in chain}


def _chain(value: ir.Value, start: ir.Value) -> list[ir.Operation]:
    """The sums that lead from `start` to `value` and have no other use; none where it is something else."""
    found: list[ir.Operation] = []
    while value != start:
        op = None if isinstance(value, ir.BlockArgument) else value.owner.operation
        if op is None or op.name not in _SUMS:
            return []
        found.append(op)
        others = [operand for operand in op.operands if not _is_product(operand)]
        if len(others) != 1:
            return []
        value = others[0]
    return found


def _are_scalar(chains: Sequence[Sequence[ir.Operation]]) -> bool:
    """Whether no sum is a vector: what tiles leave of a loop rounds as they do."""
    return all(isinstance(op.results[0].type, ir.FloatType) for chain in chains for op in chain)


def _contract(op: ir.Operation) -> None:
    left, right = op.operands
    at = 1 if _is_product(right) else 0
    product, other = (right, left) if at else (left, right)
    if not _is_product(product):
        return
    factors = product.owner.operation
    first, second = factors.operands
    with ir.InsertionPoint(op), op.location:
        if op.name == "arith.subf" and at:
            first = arith.NegFOp(first).result
        elif op.name == "arith.subf":
            other = arith.NegFOp(other).result
        fused = math.FmaOp(first, second, other).result
    op.results[0].replace_all_uses_with(fused)
    op.erase()
    factors.erase()


def _is_product(value: ir.Value) -> bool:
    """Whether `value` is a product that is used once."""
    if isinstance(value, ir.BlockArgument) or value.owner.operation.name != "arith.mulf":
        return False
    return sum(1 for _ in value.uses) == 1

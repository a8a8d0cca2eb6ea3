"""affine-contract-products: products that are added to something become multiply-adds."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import arith, ir, math
from dlc.analysis.buffers import nested_ops
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class ContractProducts(Pass):
    """Round a product and the sum that it goes into once, as `-ffp-contract=on` does in C.

    before: %p = arith.mulf %a, %b; %s = arith.addf %c, %p
    after:  %s = math.fma %a, %b, %c

    `c - a * b` and `a * b - c` become multiply-adds of a negated operand. A product with other uses stays.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        for inner in nested_ops(op):
            if inner.name in ("arith.addf", "arith.subf"):
                _contract(inner)


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

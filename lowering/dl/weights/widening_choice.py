"""Which products are faster with weights of bf16 that are widened to f32 as they are read."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects.dl.storage import bits_of
from dlc.lowering.affine.cost.contractions import WeightProduct
from dlc.lowering.affine.cost.cycles import cycles
from dlc.lowering.dl.matching import type_of
from dlc.lowering.vnni import PAIR
from dlc.targets.machine import Machine


def faster_when_widened(products: Sequence[ir.Operation], machine: Machine) -> list[ir.Operation]:
    """Those of the `products` of a function that take no longer so: half the bytes, and instructions for every tile of rows."""
    weights = sum(map(_weights, products))
    return [op for op in products if _cycles(op, PAIR, weights, machine) <= _cycles(op, 1, weights, machine)]


def _cycles(product: ir.Operation, grouped: int, weights: int, machine: Machine) -> float:
    """Cycles with `grouped` weights in a word, where the function reads so many `weights` in all; an unknown size counts as one."""
    x = type_of(product.operands[0])
    rows = math.prod(dim for dim in x.shape[:-1] if isinstance(dim, int))
    return cycles(WeightProduct(rows, _weights(product), bits_of(x.dtype) // 8, grouped, weights), None, machine)


def _weights(product: ir.Operation) -> int:
    """How many numbers the matrix of a product has, which is of known sizes."""
    return math.prod(int(str(dim)) for dim in type_of(product.operands[1]).shape)

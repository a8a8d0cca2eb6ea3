"""What channels last save in a convolution on a GPU: tensor cores multiply channels that lie side by side."""

from __future__ import annotations

import math

from dlc._mlir import ir
from dlc.dialects.dl.types import Dim
from dlc.lowering.dl.matching import attributes_of, type_of
from dlc.lowering.dl.precision import multiplied_type
from dlc.lowering.policy import policy
from dlc.targets.machine import gpu_facts_of


def seconds_gained_on_gpu(op: ir.Operation) -> float:
    """Estimated time that a convolution of one group takes less on tensor cores, by the peaks of the module's GPU; 0 for others."""
    if op.name != "dl.conv" or attributes_of(op)["groups"] != 1:
        return 0.0
    facts = gpu_facts_of(op)
    rate = facts.tensor_rate(multiplied_type(op))
    if rate <= facts.fma_per_cycle:
        return 0.0
    outputs = math.prod(_size(dim) for dim in type_of(op.results[0]).shape)
    steps = math.prod(_size(dim) for dim in type_of(op.operands[1]).shape[1:])
    a_second = facts.multiprocessors * facts.clock_mhz * 1e6
    return outputs * steps / a_second * (1 / facts.fma_per_cycle - 1 / rate)


def _size(dim: Dim) -> int:
    return dim if isinstance(dim, int) else policy().cost.assumed_trips

"""Products of f32 with weights as products of bf16 on the tensor cores of a GPU."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import WeightFacts, attributes_of, dl_ops, groups_of, has_one_use, source, type_of
from dlc.targets.machine import gpu_facts_of

_NARROW = "bf16"


def widen_products(function: ir.Operation, is_weight: WeightFacts) -> None:
    """Round both operands of products and convolutions with weights to bf16, where the module's GPU multiplies it faster than f32.

    Results stay f32. Convolutions are those of one group with channels last.
    """
    facts = gpu_facts_of(function)
    if facts.tensor_rate(_NARROW) <= facts.fma_per_cycle:
        return
    for op in dl_ops(function):
        if not _reads_weights(op, is_weight):
            continue
        with op.location, ir.InsertionPoint(op):
            found = _product(op) if op.name == "dl.matmul" else _convolution(op)
        is_weight.forget(op)
        op.results[0].replace_all_uses_with(found)
        op.erase()


def _reads_weights(op: ir.Operation, is_weight: WeightFacts) -> bool:
    """Whether `op` multiplies something computed with weights of f32, in a form that has a widening one."""
    if op.name not in ("dl.matmul", "dl.conv") or op.parent.name != "func.func":
        return False
    x, weight = list(op.operands)[:2]
    if {type_of(x).dtype, type_of(weight).dtype} != {"f32"} or is_weight(x) or not is_weight(weight):
        return False
    found = attributes_of(op)
    return op.name == "dl.matmul" or (
        bool(found["channels_last"]) and found["groups"] == 1 and type_of(weight).rank == type_of(x).rank
    )


def _product(op: ir.Operation) -> ir.Value:
    return dl.widening_matmul(*(_rounded(operand) for operand in op.operands))


def _convolution(op: ir.Operation) -> ir.Value:
    x, weight, bias = groups_of(op)
    window = {name: attributes_of(op)[name] for name in ("strides", "pads", "dilations")}
    found = dl.widening_conv(_rounded(x), _rounded(weight), **window)
    return found if bias is None else dl.add(found, bias)


def _rounded(value: ir.Value) -> ir.Value:
    """`value` in bf16: before it is reshaped, so that the op that computes it can round it."""
    reshaped, kind = source(value, "dl.reshape"), type_of(value)
    if reshaped is None or not has_one_use(value) or not kind.is_static or 0 in kind.shape:
        return dl.cast(value, to=_NARROW)
    return dl.reshape(dl.cast(reshaped.operands[0], to=_NARROW), shape=list(kind.shape))

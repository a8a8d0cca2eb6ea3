"""Tensor maps of kernels' operands, as the runtime makes them (`dlc_gpu_tensor_map`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, strides_of
from dlc.dialects.dl.types import MOST_BYTES
from dlc.lowering.gpu_to_llvm.runtime_calls import RuntimeCalls, address_of, array_of, constant
from dlc.lowering.pass_base import PassFailure
from dlc.targets.machine import SWIZZLE_BYTES, TENSOR_MAP_ELEMENTS

TENSOR_MAP = "nvgpu.tma.create.descriptor"
"""The op that makes one, of a view whose shape and strides are constant, in the order of its dims."""


def is_tensor_map(value: ir.Value) -> bool:
    """Whether an argument of a kernel is a tensor map: no other one is a pointer."""
    return str(value.type) == "!llvm.ptr"


def convert_tensor_map(op: ir.Operation, calls: RuntimeCalls) -> None:
    """Let the runtime make what `op` does, at the current place; the pointer to it, for launches, takes its place."""
    unranked, *sides = op.operands
    view = defining_op(unranked)
    box = [_number(side) for side in sides]
    if view is None or view.name != "memref.cast" or None in box:
        raise PassFailure(op, "a tensor map's shape or box is not constant", "run convert-contractions-to-mma on static shapes")
    kind = ir.MemRefType(view.operands[0].type)
    strides, offset = strides_of(kind)
    element = TENSOR_MAP_ELEMENTS.get(str(kind.element_type))
    swizzle = re.search(r"swizzle_(\d+)b", str(op.results[0].type))
    if element is None or swizzle is None or offset or not kind.has_static_shape or not _are_numbers(strides):
        raise PassFailure(op, f"the driver does not describe {kind}", "report this model")
    inner_first = list(reversed(strides))[1:]
    size = int(kind.element_type.width) // 8
    codes = [element, len(SWIZZLE_BYTES) - SWIZZLE_BYTES.index(int(swizzle[1])), kind.rank]
    form = [*codes, *reversed(kind.shape), *(stride * size for stride in inner_first), *reversed(box)]
    words = array_of([constant(number) for number in form], op)
    found = calls.call("dlc_gpu_tensor_map", address_of(view.operands[0]), words, gives=True)
    pointer = ir.Operation.create("llvm.inttoptr", [ir.Type.parse("!llvm.ptr")], [found]).results[0]
    for cast in [use.owner.operation for use in op.results[0].uses]:
        if cast.name != "builtin.unrealized_conversion_cast" or len(cast.operands) != 1 or len(cast.results) != 1:
            raise PassFailure(cast, "a tensor map is an argument of kernels only", "report this model")
        cast.results[0].replace_all_uses_with(pointer)
        cast.erase()
    op.erase()
    if not list(view.results[0].uses):
        view.erase()


def _are_numbers(strides: Sequence[int]) -> bool:
    """Whether no stride is dynamic, which a negative number stands for, or more than any memory has."""
    return all(0 <= stride <= MOST_BYTES for stride in strides)


def _number(value: ir.Value) -> int | None:
    source = defining_op(value)
    return ir.IntegerAttr(source.attributes["value"]).value if source is not None and source.name == "arith.constant" else None

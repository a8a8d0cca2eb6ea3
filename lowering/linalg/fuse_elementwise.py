"""Elementwise fusion on tensors that never computes an element twice."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.linalg.require_tensors import require_tensors
from dlc.lowering.linalg.stored_transposes import stores_transpose
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import facts_of

_SECOND_USE = "bufferization.dealloc_tensor"
_MARK = "dlc.keep"
_RESHAPES = ("tensor.collapse_shape", "tensor.expand_shape")
_FREE = frozenset({"linalg.yield", "arith.extf", "arith.sitofp", "arith.uitofp", "arith.extsi", "arith.extui"})


@dataclass(frozen=True)
class FuseElementwise(Pass):
    """Fuse elementwise `linalg.generic` ops into the one op that uses them, unless that repeats their work.

    Upstream's linalg-fuse-elementwise-ops fuses every producer with a single use, even into a contraction, which then computes
    `exp(a[i, k])` anew for each j. Here a producer that computes something is kept where its consumer reads an element in more than
    one iteration. Moves, broadcasts and widening casts are fused, with two exceptions: strided reads, by which the consumer would
    lose its contiguous rows, and casts of f16 that the consumer reads number by number. Transposes into products stay where a
    target has few registers and the rows that lie side by side are short (`stored_transposes.py`). Sizes that only run time knows
    are taken from the function's arguments instead of results, so that such results fuse like others.

    before: %e = exp(%x); %s = sum(%e); %m = tanh(%a); %y = matmul(%m, %b)
    after:  %s = sum(exp(%x)); %m = tanh(%a); %y = matmul(%m, %b)
    """

    def run(self, op: ir.Operation) -> None:
        require_tensors(op)
        _ask_arguments(op)  # before fusion: it may narrow a result to the size that a check holds it against
        _fuse(op)
        for _ in range(2):  # reshapes that fusion has moved ask for sizes again
            if not _ask_arguments(op):
                return
            _fuse(op)


def _ask_arguments(op: ir.Operation) -> bool:
    """Make what reads sizes of results read those of arguments; whether there was any."""
    if not any(_asks_a_result(inner) for inner in nested_ops(op)):
        return False
    run_native(op, "resolve-shaped-type-result-dims", "canonicalize")
    return True


def _asks_a_result(op: ir.Operation) -> bool:
    """Whether `op` reads a size of a computed tensor: a second use, for which its producer would stay."""
    return op.name == "tensor.dim" and not isinstance(op.operands[0].owner, ir.Block)


def _fuse(op: ir.Operation) -> None:
    for inner in nested_ops(op):
        if inner.name == "linalg.generic":
            _keep_repeated_producers(inner)
    run_native(op, "linalg-fuse-elementwise-ops")
    for mark in [inner for inner in nested_ops(op) if inner.name == _SECOND_USE and _MARK in inner.attributes]:
        mark.erase()


def _keep_repeated_producers(consumer: ir.Operation) -> None:
    """Give each producer that must stay a second use, which upstream's pass respects."""
    maps = [attribute.value for attribute in ir.ArrayAttr(consumer.attributes["indexing_maps"])]
    for place, (value, map) in enumerate(zip(list(consumer.operands), maps, strict=True)):
        source = _before_reshapes(value)
        if isinstance(source, ir.BlockArgument):
            continue
        producer = source.owner.operation
        is_work = _computes(producer) or (_converts(producer) and not _follows_lanes(map, consumer))
        is_repeated = is_work and not _reads_once(map)
        if not is_repeated and not stores_transpose(consumer, place, producer, facts_of(consumer)):
            continue
        with consumer.location, ir.InsertionPoint.after(consumer):
            ir.Operation.create(_SECOND_USE, operands=[source], attributes={_MARK: ir.UnitAttr.get()})


def _before_reshapes(value: ir.Value) -> ir.Value:
    """The tensor that `value` is a collapsed or expanded form of: upstream's pass fuses through these."""
    while not isinstance(value, ir.BlockArgument) and value.owner.operation.name in _RESHAPES:
        value = value.owner.operation.operands[0]
    return value


def _computes(op: ir.Operation) -> bool:
    """Whether `op` is an elementwise generic with real work per element, or one that gathers elements that lie apart."""
    if op.name != "linalg.generic" or "reduction" in str(op.attributes["iterator_types"]):
        return False
    if any(inner.operation.name not in _FREE for inner in op.regions[0].blocks[0].operations):
        return True
    maps = (attribute.value for attribute in ir.ArrayAttr(op.attributes["indexing_maps"]))
    plain = (ir.AffineDimExpr, ir.AffineConstantExpr)
    return not all(isinstance(result.maybe_downcast(), plain) for map in maps for result in map.results)


def _converts(op: ir.Operation) -> bool:
    """Whether `op` makes f32 of f16: an instruction for each number, or for each vector of them."""
    if op.name != "linalg.generic":
        return False
    inner = (each.operation for each in op.regions[0].blocks[0].operations)
    return any(each.name == "arith.extf" and isinstance(each.operands[0].type, ir.F16Type) for each in inner)


def _follows_lanes(map: ir.AffineMap, consumer: ir.Operation) -> bool:
    """Whether what is read by `map` changes along the last parallel loop of a generic, whose iterations are lanes."""
    kinds = [str(kind) for kind in ir.ArrayAttr(consumer.attributes["iterator_types"])]
    parallel = [f"d{place}" for place, kind in enumerate(kinds) if "parallel" in kind]
    return not parallel or any(parallel[-1] in re.findall(r"d\d+", str(result)) for result in map.results)


def _reads_once(map: ir.AffineMap) -> bool:
    """Whether every iteration reads an element of its own: all dims of the iteration space occur, each alone."""
    dims = {str(result) for result in map.results if isinstance(result.maybe_downcast(), ir.AffineDimExpr)}
    return len(dims) == map.n_dims

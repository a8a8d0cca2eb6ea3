"""affine-map-to-gpu: parallel loops become the blocks of a grid and the threads of a block."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, defining_op, is_memref, nested_ops
from dlc.lowering.affine.dependences.analysis import DependenceAnalysis
from dlc.lowering.affine.loop_generation.emit import replace_loops
from dlc.lowering.affine.polyhedral.ast_expressions import EmissionError
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.loop_marks import kinds_of, loop_marks_of
from dlc.lowering.affine.polyhedral.model import ExtractionError, Scop
from dlc.lowering.affine.polyhedral.movable import refuse_unmovable
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule
from dlc.lowering.affine.schedule.driver import has_loops, limited_work
from dlc.lowering.affine.schedule.loop_tree import block, from_schedule, to_schedule
from dlc.lowering.affine.schedule.program import PrimitiveError
from dlc.lowering.affine.search.candidates import Generator, search
from dlc.lowering.affine.search.distribution import distributed_schedule
from dlc.lowering.affine.search.scheduler import ScheduleUnit, compute_schedules, parts_of
from dlc.lowering.affine_to_gpu.affine_outline_checks import CHECKS
from dlc.lowering.affine_to_gpu.bound_loops import map_beside
from dlc.lowering.affine_to_gpu.grid import has_bound_loops, is_place
from dlc.lowering.affine_to_gpu.kernel_mapping import MappedTree, map_to_gpu
from dlc.lowering.affine_to_gpu.only_blocks import enclose_only_blocks
from dlc.lowering.affine_to_gpu.shared_panels import share_panels
from dlc.lowering.affine_to_gpu.sunk_loads import LOADS
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy
from dlc.targets.machine import GpuMachine, gpu_facts_of

ON_CPU = "dlc.on_cpu"
"""Attribute of a function that says why it has no kernels."""

_SCALAR_OPS = ("arith.", "math.")
_OF_WEIGHTS = "dl.precompute"
"""Attribute of the function that computes weights from others: once, on the host."""


@dataclass(frozen=True)
class AffineMapToGpu(Pass):
    """Give the iterations of loops that carry no dependence to the blocks and threads of kernels.

    before: affine.for %i = 0 to 100 { affine.for %j = 0 to 64 { affine.for %k ... { C[i, j] += A[i, k] * B[k, j] } } }
    after:  affine.for %bi = 0 to 13 { affine.for %bj = 0 to 2 {
              affine.for %ti = 0 to min(8, 100 - 8 * %bi) { affine.for %tj = 0 to 32 { affine.for %k ... { ... } }
                {dlc.name = "kernel0.thread.x"} } {dlc.name = "kernel0.thread.y"}
            } {dlc.name = "kernel0.block.x"} } {dlc.name = "kernel0.block.y"}

    The result is affine and still runs as loops. Loops that carry dependences stay inside of threads, or on the host around
    kernels. Of the text's order, its loops distributed, and isl's schedules the one that costs least is mapped. Sums of products
    get several results a thread and panels of what they read in memory of the block; loops that follow each other in rows run
    along the threads of a warp; transpositions go through tiles in memory of the block. A function that has no parallel loop stays
    as it is and says so in `dlc.on_cpu`. Memory that loops allocate is to be expanded before. The sizes are those of the GPU that
    the module's `dlc.gpu` describes (`dl-set-target`). Nests with loops that a user has bound (`affine-bind-loop`) stay as they
    are, and so do functions of checks (`affine-outline-checks`).
    """

    anchor = "func.func"

    leave_others: bool = option(False, "leave functions that cannot be read or built anew to the CPU, and say why in dlc.on_cpu")

    def run(self, op: ir.Operation) -> None:
        if not has_loops(op) or _OF_WEIGHTS in op.attributes or CHECKS in op.attributes:
            return
        try:
            _map_or_refuse(op)
        except PassFailure as failure:
            if not self.leave_others:
                raise
            op.attributes[ON_CPU] = ir.StringAttr.get(failure.message)


def _map_or_refuse(function: ir.Operation) -> None:
    """PassFailure where the function cannot be read, or its loops not be built."""
    try:
        with limited_work():
            _map(function)
    except ExtractionError as error:
        raise PassFailure(error.op, error.reason, error.remedy) from None
    except PrimitiveError as error:
        raise PassFailure(function, error.reason, error.remedy) from None
    except EmissionError as error:
        raise PassFailure(function, f"the loops cannot be built anew: {error}") from None


def _map(function: ir.Operation) -> None:
    _refuse_numbers(function)
    _refuse_sizes(function)
    for inner in nested_ops(function):
        if inner.name == "arith.remf":
            raise PassFailure(inner, "the GPU has no exact remainder of floats", "compute it on the host")
    scop = extract(function, allow_gathers=True, allow_reshapes=True)
    refuse_unmovable(scop)
    analysis, facts = DependenceAnalysis(scop), gpu_facts_of(function)
    map_loops = map_beside if has_bound_loops(function) else _map_parts
    done = map_loops(scop, analysis.ordering, facts)
    if not any(one.kernels for one in done):
        function.attributes[ON_CPU] = ir.StringAttr.get("no loop has iterations that may run at the same time")
        return
    tree = block([one.tree for one in done])
    for violation in analysis.broken_by(to_schedule(tree), kinds_of, in_order=True):
        raise PassFailure(violation.dependence.sink.op, "the mapping would not keep a dependence", "report this nest")
    kernels = [kernel for one in done for kernel in one.kernels]
    scop, tree = share_panels(scop, tree, kernels, facts)
    replace_loops(scop, _with_single_loops(to_schedule(tree)))
    enclose_only_blocks(function)


def _map_parts(scop: Scop, ordering: isl.UnionMap, facts: GpuMachine) -> list[MappedTree]:
    """The best mapping of each part of the function."""
    done: list[MappedTree] = []
    for part in [part for part in parts_of(scop, ordering, "min") if not part.domain.is_empty()]:
        done.append(_best_of(scop, part, facts, sum(len(one.kernels) for one in done)))
    return done


def _refuse_numbers(function: ir.Operation) -> None:
    """What kernels compute is in the GPU's memory: a function cannot return a number of it."""
    (block,) = function.regions[0].blocks
    for value in list(block.operations)[-1].operands:
        source = defining_op(value)
        if source is not None and source.name.startswith("affine.") and not is_memref(value):
            raise PassFailure(source, "the function returns a number that kernels compute", "return it in a memref")


def _refuse_sizes(function: ir.Operation) -> None:
    """The host takes memory and starts loops: it cannot go by elements that it would have to read between kernels."""
    (block,) = function.regions[0].blocks
    read: set[ir.Value] = set()
    for op in [each.operation for each in block.operations]:
        given = [value for value in op.operands if value in read]
        if op.name in LOADS or (given and op.name.startswith(_SCALAR_OPS)):
            read.update(op.results)
        elif given and (op.name in ALLOCATIONS or len(op.regions)):
            raise PassFailure(
                op, "an element decides what the host takes or starts", "let linalg-outline-sizes take it out of the kernel"
            )


def _best_of(scop: Scop, part: ScheduleUnit, facts: GpuMachine, first: int) -> MappedTree:
    """The mapping of the cheapest order of a part."""
    generators: list[Generator[isl.Schedule]] = [
        lambda: [original_schedule(scop, part.statements)],
        lambda: [distributed_schedule(part)],
        lambda: compute_schedules(part, "min"),
    ]

    def mapped(schedule: isl.Schedule) -> MappedTree:
        return map_to_gpu(scop, from_schedule(schedule), part.dependences, facts, first)

    best = search(generators, mapped, gain=policy().search.order_gain)
    assert best is not None  # the text's order is one
    return best


def _with_single_loops(schedule: isl.Schedule) -> isl.Schedule:
    """The schedule whose mapped loops isl makes one loop each of, with conditions inside where statements run in parts of it."""

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        mark = node.parent() if node.has_parent() else node
        if node.get_type() != isl.schedule_node_type.band or mark.get_type() != isl.schedule_node_type.mark:
            return node
        is_mapped = any(is_place(loop.name) for loop in loop_marks_of(mark.mark_get_id().get_name()))
        return node.band_set_ast_build_options(isl.UnionSet("{ atomic[i] }")) if is_mapped else node

    return schedule.get_root().map_descendant_bottom_up(visit).get_schedule()

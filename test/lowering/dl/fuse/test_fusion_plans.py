"""Plans of kernels on random graphs: every op in one group, a verdict on every edge, groups in an order in which they can run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from random_graphs import seeded_graph

from dlc._mlir import ir
from dlc.analysis.fusion import REASONS, FusionPlan, plan_kernels
from dlc.analysis.fusion_rules import MOST_OPS
from dlc.dialects import make_context
from dlc.dialects.dl import op_class

_CONTEXT = make_context()


def _entry(module: ir.Module) -> ir.Operation:
    found: ir.Operation = next(iter(module.body.operations)).operation
    return found


def _has_work(op: ir.Operation) -> bool:
    found = op_class(op.name) if op.name.startswith("dl.") else None
    return found is not None and found.fusion_class not in ("view", "weight")


def _sources(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops with work that give what `op` takes, through views."""
    for value in op.operands:
        if isinstance(value.owner, ir.Block):
            continue
        source = value.owner.operation
        if _has_work(source):
            yield source
        else:
            yield from _sources(source)


def _check(plan: FusionPlan, function: ir.Operation) -> None:
    ops = [op.operation for op in function.regions[0].blocks[0].operations]
    work = [op for op in ops if _has_work(op)]
    grouped = [op for group in plan.groups for op in group.ops]
    assert len(grouped) == len(work)
    assert set(grouped) == set(work)
    place = {op: index for index, group in enumerate(plan.groups) for op in group.ops}
    edges = {(source, op) for op in work for source in _sources(op)}
    assert {(edge.producer, edge.consumer) for edge in plan.edges} == edges
    assert len(plan.edges) == len(edges)
    for edge in plan.edges:
        before, after = place[edge.producer], place[edge.consumer]
        assert edge.fused == (before == after) == (edge.reason == "fused")
        assert edge.reason in REASONS
        assert before <= after  # so no path leads out of a group and back
    for group in plan.groups:
        assert len(group.ops) <= MOST_OPS
        kinds = {result.type for op in group.results for result in op.results if any(True for _ in result.uses)}
        assert group.is_region == (len(kinds) <= 1)
        assert group.is_region or len(group.ops) == 1


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_random_graphs(first: int) -> None:
    for seed in range(first, first + 100):
        module = seeded_graph(seed, _CONTEXT).module
        function = _entry(module)
        _check(plan_kernels(function), function)


def test_plan_is_the_same_each_time() -> None:
    for seed in range(20):
        module = seeded_graph(seed, _CONTEXT).module
        function = _entry(module)
        assert plan_kernels(function) == plan_kernels(function)

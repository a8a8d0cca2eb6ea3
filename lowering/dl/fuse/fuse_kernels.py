"""`dl-fuse-kernels`: ops become regions that are compiled as one kernel each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.fusion import FusionGroup, FusionPlan, plan_kernels
from dlc.analysis.work_graph import kind_of, taken_values
from dlc.lowering.dl.matching import dl_ops, erase_unused, is_entry
from dlc.lowering.dl.patterns import merged_location
from dlc.lowering.pass_base import Pass, option

_APART = "dl.apart"


@dataclass(frozen=True)
class FuseKernels(Pass):
    """Put the ops of each public function, and of each body of a branch or loop, into `dl.kernel` regions, by `analysis/fusion.py`.

    Every op with work goes into one; views between kernels stay outside, views inside one are repeated there. An op whose results
    have several types, which no region can give, stays as it is. Unused ops go. Kernels that are there already stay.

    before: %1 = "dl.matmul"(%x, %w)   %2 = "dl.relu"(%1)   uses of %2
    after:  %2 = "dl.kernel"() ({
              %3 = "dl.matmul"(%x, %w)
              %4 = "dl.relu"(%3)
              "dl.yield"(%4)
            })   uses of %2
    """

    anchor = "func.func"

    explain: bool = option(False, "say on each op which producers it is apart from and why, as attribute dl.apart")

    def run(self, op: ir.Operation) -> None:
        """Rewrite the function `op`."""
        if not is_entry(op) or not len(op.regions[0].blocks):
            return
        erase_unused(dl_ops(op))
        plan = plan_kernels(op)
        if self.explain:
            _explain(plan)
        groups: dict[ir.Block, list[FusionGroup]] = {}
        for group in plan.groups:
            groups.setdefault(group.main.block, []).append(group)
        for block, found in groups.items():
            if any(_is_new(group) for group in found):
                _BlockWriter(block, found).write()


def _explain(plan: FusionPlan) -> None:
    """Note the verdicts on edges that are not fused on their consumers."""
    verdicts: dict[ir.Operation, list[str]] = {}
    for edge in plan.edges:
        if not edge.fused:
            verdicts.setdefault(edge.consumer, []).append(f"{edge.producer.name}: {edge.reason}")
    for op, found in verdicts.items():
        texts = [ir.StringAttr.get(text, op.context) for text in found]
        op.attributes[_APART] = ir.ArrayAttr.get(texts, op.context)


def _is_new(group: FusionGroup) -> bool:
    return group.is_region and not group.is_formed


@dataclass
class _BlockWriter:
    """Writes the kernels of one block before its end, in the order of `groups`, each after the views that it needs."""

    block: ir.Block
    groups: Sequence[FusionGroup]
    placed: set[ir.Operation] = field(default_factory=set)
    depends: dict[ir.Value, frozenset[int]] = field(default_factory=dict)
    """Per result of a view: the groups that it depends on, no kernel between."""

    def write(self) -> None:
        operations = [op.operation for op in self.block.operations]
        end, views = operations[-1], [op for op in operations if kind_of(op) == "view"]
        self._learn(operations)
        for number, group in enumerate(self.groups):
            if _is_new(group):
                with merged_location(group.ops), ir.InsertionPoint(end):
                    self._write_kernel(number, group)
                continue
            for op in group.ops:
                self._place_views(taken_values(op), end)
                op.move_before(end)
        self._place_views(end.operands, end)
        erase_unused([view for view in views if view not in self.placed])

    def _learn(self, operations: Iterable[ir.Operation]) -> None:
        """Note which groups each view depends on."""
        numbers = {op: number for number, group in enumerate(self.groups) for op in group.ops}
        for op in operations:
            if kind_of(op) == "view":
                sources = [self.depends.get(value, frozenset()) for value in op.operands]
                self.depends.update((result, frozenset().union(*sources)) for result in op.results)
            elif op in numbers:
                self.depends.update((result, frozenset({numbers[op]})) for result in op.results)

    def _write_kernel(self, number: int, group: FusionGroup) -> None:
        results = [result for op in group.results for result in op.results if next(iter(result.uses), None) is not None]
        kernel = ir.Operation.create("dl.kernel", results=[result.type for result in results], regions=1)
        body = kernel.regions[0].blocks.append()
        inner: dict[ir.Value, ir.Value] = {}
        for op in group.ops:
            self._place_views(taken_values(op), kernel, number, inner)
            for index, value in enumerate(op.operands):
                if value in inner:
                    op.operands[index] = inner[value]
            body.append(op)
        for result, given in zip(results, kernel.results, strict=True):
            for use in [use for use in result.uses if use.owner.operation.block != body]:
                use.owner.operation.operands[use.operand_number] = given
        with ir.InsertionPoint(body):
            ir.Operation.create("dl.yield", operands=results)

    def _place_views(
        self,
        values: Iterable[ir.Value],
        place: ir.Operation,
        number: int = -1,
        inner: dict[ir.Value, ir.Value] | None = None,
    ) -> None:
        """Move the views that give `values`, with those that they look at, before `place`.

        Views of what the group `number` computes are repeated at the end of its kernel `place` instead, and noted in `inner`.
        """
        waiting = [view for value in values if (view := self._missing_view(value, inner)) is not None]
        while waiting:
            view = waiting[-1]
            needed = [op for value in view.operands if (op := self._missing_view(value, inner)) is not None]
            if needed:
                waiting.extend(needed)
                continue
            waiting.pop()
            if self._missing_view(view.results[0], inner) is None:
                continue
            if inner is not None and number in self.depends[view.results[0]]:
                inner[view.results[0]] = _repeat(view, place.regions[0].blocks[0], inner)
            else:
                self.placed.add(view)
                view.move_before(place)

    def _missing_view(self, value: ir.Value, inner: Mapping[ir.Value, ir.Value] | None) -> ir.Operation | None:
        """The view of this block that gives `value`, unless it has its place already."""
        if isinstance(value.owner, ir.Block) or (inner is not None and value in inner):
            return None
        op: ir.Operation = value.owner.operation
        return op if op.block == self.block and kind_of(op) == "view" and op not in self.placed else None


def _repeat(view: ir.Operation, body: ir.Block, inner: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """A copy of a view at the end of `body`."""
    with ir.InsertionPoint(body):
        copy = view.clone()
    for index, value in enumerate(view.operands):
        copy.operands[index] = inner.get(value, value)
    found: ir.Value = copy.results[0]
    return found

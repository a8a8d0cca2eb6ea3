"""Regions of ops that work on values in other orders of axes, chosen where that saves time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.lowering.dl.layout.axis_orders import AxisOrder, OpOrders, compose, identity, inverse
from dlc.lowering.dl.layout.order_graph import OrderGraph
from dlc.lowering.dl.layout.order_rules import Rule, rule_of
from dlc.lowering.policy import policy

RuleOf = Callable[[ir.Operation], Rule | None]
Gain = Callable[[int], float]
"""Seconds that an op saves by the orders that a region gives it."""

Seed = tuple[int, AxisOrder]
"""The number of an op, and the key order (see `Rule`) that it may take."""


def _no_gain(number: int) -> float:
    return 0.0


@dataclass
class Chooser:
    """Grows a region from each seed, takes out what costs more inside than outside, and keeps the rest where it pays."""

    graph: OrderGraph
    rule_of: RuleOf = rule_of
    gain: Gain = _no_gain
    tried: set[Seed] = field(default_factory=set)

    def choose(self, seeds: Callable[[], Iterable[Seed]]) -> None:
        """Settle the ops of the graph, in rounds until no region pays."""
        for _ in range(policy().limits.layout_rounds):
            self.tried.clear()
            accepted = [self._try_region(seed) for seed in list(seeds()) if seed not in self.tried]
            if not any(accepted):
                return

    def _try_region(self, seed: Seed) -> bool:
        if seed in self.tried:
            return False
        region = self._grown(seed)
        if not region:
            return False
        trial = _Trial(self.graph, region, self.gain)
        if trial.improve():
            return True
        trial.revert()
        return False

    def _grown(self, seed: Seed) -> dict[int, OpOrders]:
        """The ops that are connected to the seed by values which all of them can take in one order."""
        region: dict[int, OpOrders] = {}
        queue = deque([seed])
        while queue:
            number, key = queue.popleft()
            if number in region or (number, key) in self.tried:
                continue
            self.tried.add((number, key))
            op = self.graph.ops[number]
            rule = self.rule_of(op)
            settled = rule.settle(op, key) if rule and not self._is_weight(op) else None
            if settled is None or settled == self.graph.settled.get(number) or _is_plain(settled):
                continue
            region[number] = settled
            queue.extend(self._connected(number, settled))
        return region

    def _is_weight(self, op: ir.Operation) -> bool:
        return not op.results or op.results[0] in self.graph.weights

    def _connected(self, number: int, settled: OpOrders) -> list[Seed]:
        graph, found = self.graph, []
        op = graph.ops[number]
        for operand, demand in zip(op.operands, settled.operands, strict=True):
            value, edge = graph.source(operand)
            if demand.order is not None and not demand.rank and value not in graph.weights:
                found.extend(self._around(value, compose(edge, demand.order)))
        for result, order in zip(op.results, settled.results, strict=True):
            found.extend(self._around(result, order))
        return found

    def _around(self, value: ir.Value, order: AxisOrder) -> list[Seed]:
        """The op that gives `value` and those that use it, with the keys under which `value` is in `order` for them."""
        graph = self.graph
        found: list[Seed] = []
        number, place = graph.producers.get(value, (-1, 0))
        if number >= 0 and place == 0:
            rule = self.rule_of(graph.ops[number])
            key = rule.from_result(graph.ops[number], order) if rule else None
            found += [(number, key)] if key is not None else []
        for use in graph.uses[value]:
            rule = self.rule_of(graph.ops[use.op])
            wanted = compose(inverse(use.edge), order)
            key = rule.from_operand(graph.ops[use.op], use.index, wanted) if rule else None
            found += [(use.op, key)] if key is not None else []
        return found


def _is_plain(settled: OpOrders) -> bool:
    """Whether nothing stands in another order."""
    demands = [demand for demand in settled.operands if demand.order is not None]
    plain = all(demand.order == identity(len(demand.order or ())) and not demand.build for demand in demands)
    return plain and all(order == identity(len(order)) for order in settled.results)


@dataclass
class _Trial:
    """A region that is put into the graph, then shrunk where that saves time."""

    graph: OrderGraph
    region: Mapping[int, OpOrders]
    gain: Gain

    def __post_init__(self) -> None:
        self.before = {number: self.graph.settled.get(number) for number in self.region}
        self.numbers = sorted(self.region)
        values = [value for number in self.numbers for value in self.graph.neighbours(number)]
        self.values = list(dict.fromkeys(values))

    def improve(self) -> bool:
        """Whether the region, as far as it pays, saves time; it stays in the graph then."""
        cost_before = self._seconds()
        for number in self.numbers:
            self._put(number, self.region[number])
        self._shrink(allowed=-policy().graph.least_saving)
        kept = self._state()
        cost = self._seconds()
        self._shrink(allowed=policy().graph.least_saving / 1e3)
        if self._seconds() >= cost - policy().graph.least_saving:
            for number, settled in kept.items():
                self._put(number, settled)
        return min(cost, self._seconds()) < cost_before - policy().graph.least_saving

    def revert(self) -> None:
        """The graph as it was."""
        for number, settled in self.before.items():
            self._put(number, settled)

    def _shrink(self, allowed: float) -> None:
        """Take single ops out of the region where that changes the cost by at most `allowed`, from both ends."""
        for sweep in range(policy().limits.layout_sweeps):
            changed = False
            for number in self.numbers if sweep % 2 == 0 else reversed(self.numbers):
                if self.graph.settled.get(number) is self.region[number]:
                    changed |= self._take_out(number, allowed)
            if not changed and sweep:
                return

    def _take_out(self, number: int, allowed: float) -> bool:
        near = self.graph.neighbours(number)
        inside = self._seconds_of(near) - self.gain(number)
        self._put(number, self.before[number])
        outside = self._seconds_of(near)
        if self.before[number] is not None:
            outside -= self.gain(number)
        if outside - inside <= allowed:
            return True
        self._put(number, self.region[number])
        return False

    def _put(self, number: int, settled: OpOrders | None) -> None:
        if settled is None:
            self.graph.settled.pop(number, None)
        else:
            self.graph.settled[number] = settled

    def _state(self) -> dict[int, OpOrders | None]:
        return {number: self.graph.settled.get(number) for number in self.numbers}

    def _seconds(self) -> float:
        gains = sum(self.gain(number) for number in self.numbers if number in self.graph.settled)
        return self._seconds_of(self.values) - gains

    def _seconds_of(self, values: Iterable[ir.Value]) -> float:
        return sum(self.graph.seconds(value) for value in values)

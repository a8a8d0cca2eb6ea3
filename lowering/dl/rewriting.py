"""Greedy rewriting of dl ops: rules by root op, a worklist, and the ops that become unused erased at once.

    RULES = RuleSet()

    @RULES.rule("dl.transpose")
    def cancel_transposes(op: ir.Operation, rewriter: Rewriter) -> bool:
        '''transpose(transpose(x, p), q) = transpose(x, p[q])'''
        ...
        rewriter.replace(op, dl.transpose(x, permutation=...))
        return True

A rule is named for its rewrite, says it in its docstring, and returns whether it changed anything; before it changes the IR
it must be sure to go through. New ops go before the root, at its location, where the insertion point is when the rule runs. Python
rules in a loop of our own cost 4 microseconds an op where upstream's greedy driver costs 48.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects.dl.types import TensorType
from dlc.lowering.dl.matching import KEPT, WeightFacts, dl_ops, source, users
from dlc.lowering.policy import policy


class Rewriter:
    """Changes the IR for rules, and remembers what to look at again."""

    def __init__(self, root: ir.Operation) -> None:
        self._root = root
        self._shapes: SymbolicShapes | None = None
        self.is_weight = WeightFacts()
        self._queued = {_key(op): op for op in dl_ops(root) if len(op.results)}
        self._queue = deque(self._queued)
        self._known = set(self._queue)
        self.initial_size = len(self._queue)

    def replace(self, op: ir.Operation, *values: ir.Value) -> None:
        """Let `values` stand for the results of `op`, erase it, and what only it used."""
        for result, value in zip(op.results, values, strict=True):
            self._visit_later(users(result))
            result.replace_all_uses_with(value)
            self._visit_new(value)
        self.erase(op)

    def erase(self, op: ir.Operation) -> None:
        """Erase an op without uses, then the dl ops that only it used."""
        gone: set[int] = set()
        pending = self._erase_one(op, gone)
        while pending:
            key, owner = pending.pop()
            if key not in gone and self._is_unused(owner):
                pending.extend(self._erase_one(owner, gone))

    def _erase_one(self, op: ir.Operation, gone: set[int]) -> list[tuple[int, ir.Operation]]:
        """Erase an op; the ops that it used with their keys, which tell whether they are gone without touching them."""
        owners = [owner for value in op.operands if (owner := source(value)) is not None]
        used = {_key(owner): owner for owner in reversed(owners)}
        if self._shapes is not None:
            self._shapes.forget(op)
        self.is_weight.forget(op)
        self._queued.pop(_key(op), None)
        self._known.discard(_key(op))
        gone.add(_key(op))
        op.erase()
        return list(used.items())

    def type_of(self, value: ir.Value) -> TensorType:
        """The plain type of a value with symbols for its dynamic dims: dims with one symbol are equal."""
        if self._shapes is None:
            self._shapes = SymbolicShapes(self._root)
        return self._shapes.learn(value)

    def next(self) -> ir.Operation | None:
        """The next op to look at, None when there is none."""
        while self._queue:
            op = self._queued.pop(self._queue.popleft(), None)
            if op is not None:
                return op
        return None

    def _is_unused(self, owner: ir.Operation) -> bool:
        """Whether an op may go; one that has a single use left is looked at again, as is its user."""
        if not owner.name.startswith("dl.") or owner.name in KEPT:
            return False
        uses = [user for result in owner.results for user in itertools.islice(users(result), 2)]
        if len(uses) == 1:
            self._visit_later([owner, *uses])  # a rule may match now that the value has one use
        return not uses

    def _visit_new(self, value: ir.Value) -> None:
        """Look at the op that gives `value` and at the new ops that it is computed from."""
        pending = [source(value)]
        while pending:
            op = pending.pop()
            if op is None or not op.name.startswith("dl.") or _key(op) in self._queued:
                continue
            self._visit_later([op])
            if _key(op) not in self._known:
                self._known.add(_key(op))
                pending.extend(source(operand) for operand in op.operands)

    def _visit_later(self, ops: Iterable[ir.Operation]) -> None:
        for op in ops:
            if op.name.startswith("dl.") and len(op.results) and _key(op) not in self._queued:
                self._queued[_key(op)] = op
                self._queue.append(_key(op))


def _key(op: ir.Operation) -> int:
    """What an op is known by: the bindings hash an op by its operands and attributes, which rules change. 0 without results."""
    return hash(op.results[0]) if len(op.results) else 0


Rule = Callable[[ir.Operation, Rewriter], bool]


@dataclass(frozen=True)
class RuleSet:
    """Rules by the name of their root op, in order of definition."""

    by_root: dict[str, list[Rule]] = field(default_factory=lambda: defaultdict(list))

    def rule(self, *roots: str) -> Callable[[Rule], Rule]:
        """Decorator: adds a rule for the ops called `roots`."""

        def add(rule: Rule) -> Rule:
            for root in roots:
                self.by_root[root].append(rule)
            return rule

        return add

    def names(self) -> list[str]:
        """Names of the rules, without repeats."""
        return list(dict.fromkeys(_name(rule) for rules in self.by_root.values() for rule in rules))

    def without(self, *names: str) -> RuleSet:
        """The same rules but those called `names`."""
        kept = RuleSet()
        for root, rules in self.by_root.items():
            kept.by_root[root].extend(rule for rule in rules if _name(rule) not in names)
        return kept


def _name(rule: Rule) -> str:
    return rule.__name__.replace("_", "-")


def apply_rules(function: ir.Operation, *sets: RuleSet) -> Counter[str]:
    """Apply rules to the dl ops below `function` until none matches; how often each did, by its name with hyphens."""
    rules: dict[str, list[Rule]] = defaultdict(list)
    for given in sets:
        for root, found in given.by_root.items():
            rules[root].extend(found)
    rewriter = Rewriter(function)
    counts: Counter[str] = Counter()
    limit = policy().limits.rewrites_per_op * (rewriter.initial_size + 16)
    while (op := rewriter.next()) is not None:
        name = _apply_first(op, rules.get(op.name, ()), rewriter)
        if name:
            counts[name] += 1
            if counts.total() > limit:
                raise RuntimeError(f"rules run in a circle: {counts.most_common(3)}")
    return counts


def _apply_first(op: ir.Operation, rules: Sequence[Rule], rewriter: Rewriter) -> str:
    """Apply the first of `rules` that matches; its name, empty when none does."""
    if not rules:
        return ""
    with op.location, ir.InsertionPoint(op):
        return next((_name(rule) for rule in rules if rule(op, rewriter)), "")

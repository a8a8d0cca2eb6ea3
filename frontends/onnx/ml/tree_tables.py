"""Trees of decisions as the tables that `dl.tree_walk` reads.

Its one kind of step asks whether a number is at most a split, and takes NaN for no. All else is said with that: the other way
round by the negated feature, strictly by the next smaller number, NaN as a yes by exchanged sides, equality and sets by several
steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.trees import MOST_LEVELS
from dlc.frontends.onnx.node import NodeContext


@dataclass(frozen=True)
class WalkTables:
    """The arrays that `dl.tree_walk` reads, and the steps of the longest walk."""

    feature: np.ndarray
    split: np.ndarray
    below: np.ndarray
    roots: np.ndarray
    depth: int

    def walk(self, node: NodeContext, x: ir.Value) -> ir.Value:
        """The node that each row of x comes to in each tree, by as many ops as the depth takes; the arrays become weights."""
        name = next(each for each in node.node.output if each)
        arrays = {"features": self.feature, "splits": self.split, "below": self.below}
        lists = [
            node.new_param(array if key == "splits" else array.astype(np.int32), f"{name}_{key}") for key, array in arrays.items()
        ]
        nodes, depth = node.new_param(self.roots.astype(np.int32), f"{name}_roots"), max(self.depth, 1)
        parts = -(-depth // MOST_LEVELS)
        for _ in range(parts):
            nodes = dl.tree_walk(x, nodes, *lists, levels=-(-depth // parts))
        return nodes


@dataclass(frozen=True)
class TreeLeaf:
    """The end of a walk, by the number of its row of votes."""

    row: int


@dataclass(frozen=True)
class Decision:
    """One node: whether a feature compares with `split` by `mode` (LEQ, LT, GTE, GT, EQ, NEQ), or is one of `members` (MEMBER).

    `yes` and `no` are decisions by their numbers, or leaves. NaN is a yes where `takes_missing`, or the mode is NEQ.
    """

    feature: int
    mode: str
    split: float
    yes: int | TreeLeaf
    no: int | TreeLeaf
    takes_missing: bool = False
    members: tuple[float, ...] = ()


@dataclass(frozen=True)
class TreeStep:
    """A step of `dl.tree_walk`; `yes` and `no` are steps, decisions by their numbers, or leaves."""

    feature: int
    split: float
    yes: TreeStep | int | TreeLeaf
    no: TreeStep | int | TreeLeaf


class MalformedTreeError(ValueError):
    """Decisions that are no trees; the message says why."""


@dataclass
class TreeTables:
    """Tables of one or more trees, filled by `add`: features, splits, first nodes below and rows of leaves, by node.

    Features from `num_features` on are the negated ones. A decision that several others lead to stands once: the others have a
    node that leads on to it.
    """

    decisions: Sequence[Decision]
    num_features: int
    dtype: np.dtype
    feature: list[int] = field(default_factory=list)
    split: list[float] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)

    def add(self, root: int | TreeLeaf) -> None:
        """Add a tree."""
        self.roots.append(self._new_node())
        waiting: list[tuple[int, TreeStep | int | TreeLeaf]] = [(self.roots[-1], root)]
        while waiting:
            place, item = waiting.pop()
            if isinstance(item, TreeLeaf):
                self.row[place] = item.row
                continue
            step = item if isinstance(item, TreeStep) else self._first_step(item, place)
            if step is None:
                continue
            no, yes = self._new_node(), self._new_node()
            self.feature[place], self.split[place], self.below[place] = step.feature, step.split, no
            waiting += [(no, step.no), (yes, step.yes)]

    def _new_node(self) -> int:
        place = len(self.below)
        self.feature.append(0)
        self.split.append(math.nan)
        self.below.append(place)
        self.row.append(0)
        return place

    def _first_step(self, number: int, place: int) -> TreeStep | None:
        """The step that decision `number` begins with; None where it stands already: the node at `place` leads there."""
        if number in self._places:
            self.below[place] = self._places[number]
            return None
        if not 0 <= number < len(self.decisions):
            raise MalformedTreeError(f"node {number} does not exist")
        decision = self.decisions[number]
        if not 0 <= decision.feature < self.num_features:
            raise MalformedTreeError(f"feature {decision.feature} of node {number} is none of {self.num_features}")
        self._places[number] = place
        return _step_of(decision, self.num_features, self.dtype)

    def arrays(self) -> WalkTables:
        """What the op reads."""
        split = np.asarray(self.split, self.dtype)
        return WalkTables(np.asarray(self.feature), split, np.asarray(self.below), np.asarray(self.roots), self._depth())

    def _depth(self) -> int:
        """Steps of the longest walk."""
        below, split = np.asarray(self.below), np.asarray(self.split)
        at, count = np.unique(self.roots), 0
        while True:
            moving = at[below[at] != at]
            if not moving.size:
                return count
            if count > len(below):
                raise MalformedTreeError("a node leads to itself through others")
            at = np.unique(np.concatenate([below[moving], below[moving[~np.isnan(split[moving])]] + 1]))
            count += 1


def _step_of(decision: Decision, num_features: int, dtype: np.dtype) -> TreeStep:
    """The steps of a decision."""
    up, down = decision.feature, decision.feature + num_features
    split = float(dtype.type(decision.split))
    yes, no = (decision.yes, decision.no) if not decision.takes_missing else (decision.no, decision.yes)

    def before(value: float) -> float:
        """The next smaller number; a split that nothing is at most for the least one."""
        return math.nan if value == -math.inf else float(np.nextafter(dtype.type(value), dtype.type(-np.inf)))

    ordered: dict[tuple[str, bool], tuple[int, float]] = {
        ("LEQ", False): (up, split),
        ("LT", False): (up, before(split)),
        ("GTE", False): (down, -split),
        ("GT", False): (down, before(-split)),
        ("LEQ", True): (down, before(-split)),
        ("LT", True): (down, -split),
        ("GTE", True): (up, before(split)),
        ("GT", True): (up, split),
    }
    if (decision.mode, decision.takes_missing) in ordered:
        feature, limit = ordered[decision.mode, decision.takes_missing]
        return TreeStep(feature, limit, yes, no)
    if decision.mode == "NEQ":
        return _member(up, down, [split], decision.no, decision.yes)
    members = decision.members if decision.mode == "MEMBER" else (split,)
    wanted = sorted({float(dtype.type(member)) for member in members})
    found = _member(up, down, wanted, decision.yes, decision.no)
    return TreeStep(up, math.inf, found, decision.yes) if decision.takes_missing else found


def _member(up: int, down: int, members: Sequence[float], yes: int | TreeLeaf, no: int | TreeLeaf) -> TreeStep:
    """Whether a number is one of sorted `members`: the last one that is at most the number is found by halving, then compared."""
    if not members:
        return TreeStep(up, math.nan, no, no)
    if len(members) == 1:
        return TreeStep(down, -members[0], TreeStep(up, members[0], yes, no), no)
    middle = len(members) // 2
    above, beneath = _member(up, down, members[middle:], yes, no), _member(up, down, members[:middle], yes, no)
    return TreeStep(down, -members[middle], above, beneath)

"""Nests whose threads had better compute several results each: numbers that are read serve several of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from dlc.lowering.affine.cost.strides import access_strides
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.model import Scop, Statement
from dlc.lowering.affine.schedule.loop_tree import Leaf, LoopNode, SequenceNode, Tree, statement_names
from dlc.lowering.affine_to_gpu.warp_strides import extent_of
from dlc.lowering.policy import policy

_Strides = Sequence[Mapping[MemRefAccess, "int | None"]]
"""By loop: how far each access moves in a step of it."""


@dataclass(frozen=True, eq=False)
class Sum:
    """A statement inside of `loops`, of which number `at` and maybe more carry its sum, and the arrays that are read alone there,
    the same elements by many threads."""

    loops: tuple[LoopNode, ...]
    at: int
    leaf: Leaf
    reused: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SumsOfProducts:
    """What a chain of loops does, for those of `chosen` depths mapped (x first): its parts in order, at least one a sum.

    Loops of the chain that are not mapped lie around all parts (`around`), or inside of the only one.
    """

    chosen: tuple[int, ...]
    around: tuple[LoopNode, ...]
    parts: tuple[Sum | Tree, ...]

    @property
    def sums(self) -> list[Sum]:
        """The parts that are sums."""
        return [part for part in self.parts if isinstance(part, Sum)]

    @classmethod
    def of(cls, scop: Scop, above: Sequence[LoopNode], chain: Sequence[LoopNode], free: Sequence[int]) -> SumsOfProducts | None:
        """None where nothing is a sum, or there is nothing to gain."""
        body = chain[-1].body
        items = body.items if isinstance(body, SequenceNode) else (body,)
        found = [_Nest.of(scop, above, chain, free, item) for item in items]
        nests = [nest for nest in found if nest is not None]
        pairs = [(x, y) for x in free for y in free if x != y and all(nest.is_dense(x) for nest in nests)]
        if not nests or not pairs:
            return None
        pair = min(reversed(pairs), key=lambda one: sum(nest.loads(one) * 100 + nest.scattered(one[0]) for nest in nests))
        if all(nest.loads(pair) > policy().gpu.least_reuse_loads * nest.loads_apart for nest in nests):
            return None
        others = sorted((depth for depth in free if depth not in pair), key=lambda depth: extent_of(chain[depth]), reverse=True)
        chosen = (*pair, *others[:1])
        rest = tuple(loop for depth, loop in enumerate(chain) if depth not in chosen)
        around = rest if isinstance(body, SequenceNode) else ()
        parts = [item if nest is None else nest.sum(pair, chosen, len(around)) for item, nest in zip(items, found, strict=True)]
        return cls(chosen, around, tuple(parts))


@dataclass(frozen=True, eq=False)
class _Nest:
    """A statement in the loops of a chain and loops of its own; `sums` are the depths of those that carry its sum."""

    statement: Statement
    leaf: Leaf
    loops: Sequence[LoopNode]
    depth: int
    """How many of the loops belong to the chain."""
    sums: Sequence[int]
    strides: _Strides

    @classmethod
    def of(cls, scop: Scop, above: Sequence[LoopNode], chain: Sequence[LoopNode], free: Sequence[int], item: Tree) -> _Nest | None:
        """The nest of one item inside of the chain; None where it is no sum of one statement."""
        loops = list(chain)
        while isinstance(item, LoopNode):
            loops.append(item)
            item = item.body
        if not isinstance(item, Leaf):
            return None
        (name,) = statement_names(item)
        times = [loop.values for loop in (*above, *loops)]
        strides = [dict(one) for one in access_strides(scop, times, item.domain, range(len(above), len(times)))]
        nest = cls(
            scop.by_name[name], item, loops, len(chain), [depth for depth in range(len(loops)) if depth not in free], strides
        )
        is_sum = nest.sums and any(not nest.moves(access, nest.sums) for access in nest.statement.writes)
        return nest if is_sum else None

    def moves(self, access: MemRefAccess, depths: Sequence[int]) -> bool:
        """Whether `access` moves along one of the loops."""
        return any(self.strides[depth].get(access, 0) != 0 for depth in depths)

    def is_dense(self, depth: int) -> bool:
        """Whether what is written lies side by side along the loop."""
        return all(self.strides[depth].get(access, 0) in (1, -1) for access in self.statement.writes)

    def scattered(self, depth: int) -> int:
        """Accesses that do not lie side by side along the loop."""
        return sum(self.strides[depth].get(access, 0) not in (0, 1, -1) for access in self.statement.accesses)

    def loads(self, pair: tuple[int, int]) -> int:
        """Loads of a thread that computes some results along each loop of `pair`, for one step of the sum."""
        return sum(prod(policy().gpu.thread_results[0] for depth in pair if self.moves(access, [depth])) for access in self.moving)

    @property
    def moving(self) -> list[MemRefAccess]:
        """The accesses that move along the sum; others stay in registers."""
        return [access for access in self.statement.accesses if self.moves(access, self.sums)]

    @property
    def loads_apart(self) -> int:
        """Loads for as many results by threads that compute one each."""
        return policy().gpu.thread_results[0] ** 2 * len(self.moving)

    def sum(self, pair: tuple[int, int], chosen: Sequence[int], around: int) -> Sum:
        """The loops that are not mapped, without the `around` ones that lie around all parts of the chain."""
        inner = [depth for depth in range(len(self.loops)) if depth not in chosen][around:]
        written = {access.array for access in self.statement.writes}
        reused = [
            access.array.name
            for access in self.statement.reads
            if access.array not in written
            and self.moves(access, self.sums)
            and not all(self.moves(access, [depth]) for depth in pair)
        ]
        at = next((place for place, depth in enumerate(inner) if depth in self.sums), 0)
        return Sum(tuple(self.loops[depth] for depth in inner), at, self.leaf, tuple(dict.fromkeys(reused)))

"""How far apart in the loops around both the two ends of a dependence run."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from dlc.lowering.affine.dependences.dependences import Dependence
from dlc.lowering.affine.polyhedral.execution_order import carried_at, shared_loops
from dlc.lowering.affine.polyhedral.model import Scop


@dataclass(frozen=True)
class Distance:
    """The least and largest difference of one loop's variable; None where there is no bound."""

    low: int | None
    high: int | None

    @property
    def is_constant(self) -> bool:
        """Whether all pairs are equally far apart."""
        return self.low is not None and self.low == self.high

    @property
    def direction(self) -> str:
        """`=`, `<` (the sink's value is the larger one), `<=`, `>`, `>=` or `*`."""
        if self.low == self.high == 0:
            return "="
        if self.low is not None and self.low >= 0:
            return "<" if self.low > 0 else "<="
        if self.high is not None and self.high <= 0:
            return ">" if self.high < 0 else ">="
        return "*"

    def __str__(self) -> str:
        if self.is_constant:
            return str(self.low)
        return f"{'' if self.low is None else self.low}..{'' if self.high is None else self.high}"


@dataclass(frozen=True)
class DistanceVector:
    """The distances in the loops around source and sink, from the outside in, of pairs that the loop number `level` carries;
    `level` None: of pairs in one iteration of all of them."""

    level: int | None
    distances: tuple[Distance, ...]

    def __str__(self) -> str:
        return f"({', '.join(str(distance) for distance in self.distances)})"


def distance_vectors(scop: Scop, dependence: Dependence) -> tuple[DistanceVector, ...]:
    """What separates the ends of `dependence`, one vector for each loop that carries pairs of it, the outermost first.

    Distances are those of the variables, so that one iteration of a loop of step 2 is 2.
    """
    source, sink = (scop.by_name[access.statement_name] for access in (dependence.source, dependence.sink))
    depth = shared_loops(source, sink)
    pairs = _in_shared(dependence.relation, depth)
    found = []
    for level in range(depth):
        carried = carried_at(pairs, level)
        if not carried.is_empty():
            found.append(DistanceVector(level, _spread(carried, depth)))
    within = pairs.intersect(isl.Map.identity(pairs.get_space()))
    if not within.is_empty():
        found.append(DistanceVector(None, tuple(Distance(0, 0) for _ in range(depth))))
    return tuple(found)


def _in_shared(relation: isl.Map, depth: int) -> isl.Map:
    """`relation` between the first `depth` dims of both sides."""
    for side in (isl.dim_type.in_, isl.dim_type.out):
        relation = relation.project_out(side, depth, relation.dim(side) - depth)
        relation = relation.set_tuple_name(side, "at")
    return relation


def _spread(pairs: isl.Map, depth: int) -> tuple[Distance, ...]:
    differences = pairs.deltas()
    return tuple(Distance(_number(differences.dim_min_val(dim)), _number(differences.dim_max_val(dim))) for dim in range(depth))


def _number(value: isl.Val) -> int | None:
    return int(value.to_python()) if value.is_int() else None

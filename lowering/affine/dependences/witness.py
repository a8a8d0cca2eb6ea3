"""One concrete pair of iterations for a relation between instances, and how to say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import islpy as isl

from dlc._mlir import ir
from dlc.diagnostics import place_of
from dlc.lowering.affine.polyhedral.source_names import memref_name, names_of_loops

if TYPE_CHECKING:
    from dlc.lowering.affine.dependences.dependences import Dependence


@dataclass(frozen=True)
class Instance:
    """One run of a statement: its name, its loops' names and values, and where it comes from."""

    name: str
    values: tuple[tuple[str, int], ...]
    place: str

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.values)
        return f"{self.name}[{values}]" + (f" ({self.place})" if self.place else "")


@dataclass(frozen=True)
class Witness:
    """A pair of instances that touch `element`, the source first; `parameters` holds the sizes of the example."""

    kind: str
    source: Instance
    sink: Instance
    element: str
    parameters: tuple[tuple[str, int], ...]
    location: ir.Location

    @property
    def distance(self) -> tuple[int, ...] | None:
        """Sink minus source in the loops around both; None where they have different ones."""
        ends = self.source.values, self.sink.values
        shared = [(one[1], other[1]) for one, other in zip(*ends, strict=False) if one[0] == other[0]]
        return tuple(after - before for before, after in shared) or None

    def text(self, what: str, when: str = "before") -> str:
        """`<what> would run S1[..] before S0[..], which writes the %A[2] that it reads (flow dependence, distance (1))`.

        `when` is "at the same time as" for a loop without order.
        """
        touches = {
            "flow": "which writes the {} that it reads",
            "anti": "which reads the {} that it writes",
            "output": "which writes the {} that it writes",
            "input": "which reads the {} that it reads",
        }[self.kind].format(self.element)
        distance = self.distance
        shown = f", distance ({', '.join(map(str, distance))})" if distance is not None else ""
        sizes = ", ".join(f"{name} = {value}" for name, value in self.parameters)
        suffix = f", for {sizes}" if sizes else ""
        return f"{what} would run {self.sink} {when} {self.source}, {touches} ({self.kind} dependence{shown}){suffix}"


def witness_of(dependence: Dependence, pairs: isl.Map) -> Witness:
    """The lexicographically first of `pairs` (not empty), for small values of the parameters."""
    pair = first_point(pairs.wrap()).unwrap()
    source, sink = pair.domain(), pair.range()
    element = dependence.source.relation.intersect_domain(source).range()
    element = first_point(element.intersect(dependence.sink.relation.intersect_domain(sink).range()))
    indices = ", ".join(str(value) for value in coordinates(element))
    return Witness(
        dependence.kind,
        _instance(dependence.source.statement_name, source, dependence.source.op),
        _instance(dependence.sink.statement_name, sink, dependence.sink.op),
        f"{memref_name(dependence.source.array.value)}[{indices}]",
        parameter_values(pair.wrap()),
        dependence.sink.op.location,
    )


def _instance(name: str, point: isl.Set, op: ir.Operation) -> Instance:
    return Instance(name, tuple(zip(names_of_loops(op), coordinates(point), strict=False)), place_text(op.location))


_BOUNDS = ((0, 8), (0, 64), (0, 1024), (-8, 8), (-1024, 1024), (-(1 << 16), 1 << 16))


def first_point(points: isl.Set) -> isl.Set:
    """The lexicographically first of `points` (not empty) as a set of one element, for the least parameters near zero."""
    count = points.dim(isl.dim_type.param)
    near = _within(points, isl.dim_type.param, count)
    if count:
        values = near.params()
        least = values.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, count).lexmin()
        near = near.intersect_params(least.move_dims(isl.dim_type.param, 0, isl.dim_type.set, 0, count).params())
    first = near if near.is_bounded() else _within(near, isl.dim_type.set, near.dim(isl.dim_type.set))
    return isl.Set.from_basic_set(first.lexmin().sample())


def _within(points: isl.Set, kind: isl.dim_type, count: int) -> isl.Set:
    """The points whose dims of this kind are smaller than the first bound for which there are any."""
    for least, bound in _BOUNDS:
        near = points
        for at in range(count):
            near = near.lower_bound_val(kind, at, isl.Val(least)).upper_bound_val(kind, at, isl.Val(bound))
        if not near.is_empty():
            return near
    return points


def coordinates(point: isl.Set) -> tuple[int, ...]:
    """The coordinates of a set of one element."""
    found = point.sample_point()
    return tuple(int(str(found.get_coordinate_val(isl.dim_type.set, at))) for at in range(point.dim(isl.dim_type.set)))


def parameter_values(point: isl.Set, names: Mapping[str, str] = MappingProxyType({})) -> tuple[tuple[str, int], ...]:
    """The parameters of a set of one element, by what `names` calls them; those that nothing bounds left out."""
    found = point.sample_point()
    involved = [at for at in range(point.dim(isl.dim_type.param)) if point.involves_dims(isl.dim_type.param, at, 1)]
    values = [(point.get_dim_name(isl.dim_type.param, at), found.get_coordinate_val(isl.dim_type.param, at)) for at in involved]
    return tuple((names.get(name, name), int(str(value))) for name, value in values)


def place_text(location: ir.Location) -> str:
    """`file:line:column`, with the file's own name; empty where it is not known."""
    file, line, column = place_of(location)
    return f"{Path(file).name}:{line}:{column}" if file else ""

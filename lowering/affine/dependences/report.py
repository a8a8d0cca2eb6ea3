"""What the model knows of a static control part, in the names of the source: as plain data, and as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import islpy as isl

from dlc._mlir import ir
from dlc.diagnostics import place_of
from dlc.lowering.affine.dependences.dependences import Dependence, memory_dependences, races
from dlc.lowering.affine.dependences.distances import DistanceVector, distance_vectors
from dlc.lowering.affine.dependences.last_writers import live_in_reads, value_dependences
from dlc.lowering.affine.dependences.out_of_bounds import out_of_bounds
from dlc.lowering.affine.dependences.reduction_dependences import ReductionDependence, reductions
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.polyhedral.model import Scop, Statement
from dlc.lowering.affine.polyhedral.source_names import memref_name, names_of_loops

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_WORDS = {"and", "or", "not", "mod", "floor", "ceil", "exists", "min", "max", "true", "false", "implies"}


def report(scop: Scop, *, nearest: bool = True) -> dict[str, Any]:
    """Statements, dependences, reductions and doubtful accesses of `scop`, ready for JSON.

    With `nearest`, dependences are those of `value_dependences`, which leave out pairs with a write between; else all.
    """
    names = _Names(scop)
    dependences = value_dependences(scop) if nearest else memory_dependences(scop)
    return {
        "parameters": {names.parameters[name]: memref_name(value) for name, value in scop.parameters.items()},
        "statements": [_statement(statement, names) for statement in scop.statements],
        "dependences": [_dependence(scop, one, names) for one in dependences],
        "reductions": [_reduction(scop, one, names) for one in reductions(scop)],
        "reads of earlier contents": [names.access(one.access) for one in live_in_reads(scop) if one.access.array.is_memory],
        "races": [[names.access(one.one), names.access(one.other), names.relation(one.relation)] for one in races(scop)],
        "out of bounds": [[names.access(one.access), names.relation(one.relation)] for one in out_of_bounds(scop)],
    }


def text_of(found: Mapping[str, Any]) -> str:
    """A report as text, a line a fact."""
    return "\n".join(_lines(found))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield "  statements"
    for statement in found["statements"]:
        yield f"    {statement['instance']} at {statement['place']}: {statement['domain']}"
        for access in statement["accesses"]:
            yield f"      {access['does']:6} {access['element']}"
    yield "  dependences" if found["dependences"] else "  no dependences"
    for one in found["dependences"]:
        yield f"    {one['kind']:6} {one['source']} -> {one['sink']}: {one['relation']}"
        for vector in one["distances"]:
            yield f"      distance {vector['vector']}, {vector['carried']}"
    if found["reductions"]:
        yield "  reductions"
    for one in found["reductions"]:
        yield f"    {one['statement']} combines {one['element']} by {one['kind']} along {', '.join(one['loops'])}: {one['order']}"
    for title in ("races", "out of bounds"):
        if found[title]:
            yield f"  {title}"
        for parts in found[title]:
            yield f"    {', '.join(parts)}"


class _Names:
    """The source's names for loops, parameters and memrefs, in isl's texts."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop
        self.loops = {one.name: _distinct(names_of_loops(one.ops[-1]), len(one.loops)) for one in scop.statements}
        used = {name for names in self.loops.values() for name in names}
        self.parameters: dict[str, str] = {}
        for name, value in scop.parameters.items():
            better = memref_name(value).removeprefix("%")
            is_free = _IDENTIFIER.fullmatch(better) and better not in used | _WORDS | set(self.parameters.values())
            self.parameters[name] = better if is_free else name

    def array(self, array: Array) -> str:
        """`%A`; a value that crosses statements likewise."""
        return memref_name(array.value)

    def instance(self, statement: Statement) -> str:
        """`S0[i, j]`"""
        return f"{statement.name}[{', '.join(self.loops[statement.name])}]"

    def element(self, access: MemRefAccess) -> str:
        """`%A[i, j - 1]`, with the range of the rest where an instance touches several."""
        relation = access.relation.gist_domain(self.scop.by_name[access.statement_name].domain)
        return self.relation(relation).split(" -> ")[-1].removesuffix(" }")

    def access(self, access: MemRefAccess) -> str:
        """`S1 reads %A (line 7)`"""
        _, line, _ = place_of(access.op.location)
        where = f" (line {line})" if line else ""
        return f"{access.statement_name} {'writes' if access.writes else 'reads'} {self.array(access.array)}{where}"

    def relation(self, relation: isl.Map) -> str:
        """isl's text in the source's names, the parameters left out in front."""
        for side in (isl.dim_type.in_, isl.dim_type.out):
            relation = self._renamed(relation, side, relation.get_tuple_name(side))
        text = _without_prefix(str(self._with_parameters(relation)))
        for array in self.scop.arrays:
            text = re.sub(rf"\b{array.name}\[", f"{self.array(array)}[", text)
        return text

    def domain(self, statement: Statement) -> str:
        """The constraints of a statement's domain."""
        whole = self._renamed(statement.domain, isl.dim_type.set, statement.name)
        _, _, constraints = _without_prefix(str(self._with_parameters(whole))).removesuffix(" }").partition(" : ")
        return constraints.strip() or "once"

    def _renamed(self, whole: Any, side: isl.dim_type, tuple_name: str) -> Any:
        suffix = "'" if side == isl.dim_type.out and isinstance(whole, isl.Map) else ""
        for at, name in enumerate(self.loops.get(tuple_name, ())):
            whole = whole.set_dim_name(side, at, name + suffix)
        return whole

    def _with_parameters(self, whole: Any) -> Any:
        for at in range(whole.dim(isl.dim_type.param)):
            name = whole.get_dim_name(isl.dim_type.param, at)
            whole = whole.set_dim_name(isl.dim_type.param, at, self.parameters.get(name, name))
        return whole


def _distinct(names: list[str], count: int) -> list[str]:
    """Names that isl takes; `i0, i1, ...` where the source's will not do."""
    if len(names) != count or len(set(names)) != count or not all(_IDENTIFIER.fullmatch(name) for name in names):
        return [f"i{at}" for at in range(count)]
    return [f"i{at}" if name in _WORDS else name for at, name in enumerate(names)]


def _without_prefix(text: str) -> str:
    """`{ ... }` of `[n] -> { ... }`."""
    return text[text.index("{") :]


def _statement(statement: Statement, names: _Names) -> dict[str, Any]:
    return {
        "name": statement.name,
        "instance": names.instance(statement),
        "place": _place(statement.location),
        "ops": [op.name for op in statement.ops],
        "domain": names.domain(statement),
        "accesses": [
            {"does": "writes" if one.writes else "reads", "element": names.element(one), "place": _place(one.op.location)}
            for one in statement.accesses
        ],
    }


def _dependence(scop: Scop, one: Dependence, names: _Names) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "source": names.access(one.source),
        "sink": names.access(one.sink),
        "relation": names.relation(one.relation),
        "distances": [_distance(one, vector, names) for vector in distance_vectors(scop, one)],
    }


def _distance(one: Dependence, vector: DistanceVector, names: _Names) -> dict[str, Any]:
    loops = names.loops[one.source.statement_name]
    carried = "within an iteration" if vector.level is None else f"carried by {loops[vector.level]}"
    return {
        "vector": str(vector),
        "directions": [distance.direction for distance in vector.distances],
        "carried": carried if vector.distances else "in the order of the text",
    }


def _reduction(scop: Scop, one: ReductionDependence, names: _Names) -> dict[str, Any]:
    loops = dict(zip(scop.by_name[one.statement_name].loops, names.loops[one.statement_name], strict=True))
    order = "any order gives the same" if one.is_exact else "any order is allowed" if one.is_allowed else "the order is kept"
    return {
        "statement": one.statement_name,
        "element": names.element(one.write),
        "kind": one.kind,
        "loops": [loops[loop] for loop in one.loops],
        "order": order,
        "place": _place(one.ops[-1].location),
    }


def _place(location: ir.Location) -> str:
    file, line, column = place_of(location)
    return f"{Path(file).name}:{line}:{column}" if file else "an unknown place"

"""Copies of panels: what a nest reads inside some of its loops, in a buffer that holds it in the order in which tiles read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import islpy as isl

from dlc.lowering.affine.cost.references import Reference
from dlc.lowering.affine.cost.tile_costs import BandNestCost
from dlc.lowering.affine.dependences.band_nests import Member
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.element_relations import ElementRelation
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.polyhedral.loop_values import tile_number
from dlc.lowering.affine.polyhedral.model import Scop, Statement
from dlc.lowering.affine.polyhedral.packed_buffers import Buffer, CopyStatement, next_names, with_statements
from dlc.lowering.affine.schedule.footprints import FixedBox, footprint
from dlc.lowering.affine.schedule.iterations import on_instances, value_map, values_of
from dlc.lowering.affine.schedule.loop_tree import (
    Leaf,
    LoopNode,
    Path,
    Scratch,
    SequenceNode,
    Tree,
    around,
    at,
    block,
    children,
    from_schedule,
    loops_above,
    to_schedule,
    walk,
    with_children,
)
from dlc.lowering.affine.search.cache_tiles import CachePlan
from dlc.lowering.policy import policy


@dataclass(frozen=True)
class PackedDim:
    """One dim of a buffer, of `extent` places: a subscript of the array from where the panel starts, its quotient or its remainder
    by `size` (0 for the whole)."""

    dim: int
    extent: int
    size: int = 0
    is_quotient: bool = False

    def of(self, distance: isl.PwAff) -> isl.PwAff:
        """The place in this dim of an element so far from the panel's first."""
        if not self.size:
            return distance
        quotient = distance.scale_down_val(isl.Val(self.size)).floor()
        return quotient if self.is_quotient else distance.sub(quotient.scale_val(isl.Val(self.size)))


@dataclass(frozen=True, eq=False)
class LocalPanel:
    """A buffer to make at the scratch mark `name`: what `access` touches, `shape` elements from `first`, by instances."""

    name: str
    access: MemRefAccess
    first: isl.Map
    shape: tuple[int, ...]
    packed_dims: tuple[PackedDim, ...]
    lanes: int


def local_panels(members: Sequence[Member], nest: BandNestCost, tile: Tile, plan: CachePlan) -> dict[int, list[LocalPanel]]:
    """The panels of a plan, by the number of loops around them."""
    found: dict[int, list[LocalPanel]] = {}
    for reference, panel in plan.panels.items():
        before = [start % nest.tile_size(tile, at) for at, start in enumerate(nest.starts)]
        inner = [plan.extent_at(panel.depth, at, before[at] + extent) for at, extent in enumerate(nest.extents)]
        origins = [start - rest for start, rest in zip(nest.starts, before, strict=True)]
        access = reference.access
        name = f"{access.array.name}_{access.statement_name}_{access.position}"
        first = _first_elements(reference, members, origins, plan.levels[: panel.depth])
        packed_dims = _packed_dims(reference, inner, nest, tile, plan.levels[panel.depth :])
        found.setdefault(panel.depth, []).append(LocalPanel(name, access, first, reference.box(inner), packed_dims, nest.lanes))
    return found


def _first_elements(
    reference: Reference, members: Sequence[Member], origins: Sequence[int], outer: Sequence[tuple[int, int]]
) -> isl.Map:
    """Instances to the least subscripts in the blocks around them; `origins` are where loops begin that have none.

    Factors are not negative.
    """
    relation = isl.PwMultiAff.from_map(reference.access.relation)
    instances = isl.UnionSet.from_set(relation.domain())
    steps = dict(outer)
    for dim, factors in enumerate(reference.factors):
        subscript = relation.get_pw_aff(dim)
        for member, factor in enumerate(factors):
            if not factor:
                continue
            value = values_of(isl.UnionMap.from_union_pw_aff(members[member].value).intersect_domain(instances))
            size = steps.get(member)
            base = on_instances(instances, origins[member]) if size is None else _block_start(value, size)
            distance = value.sub(base).scale_val(isl.Val(factor))
            subscript = subscript.sub(distance.extract_pw_aff(subscript.get_space()))
        relation = relation.set_pw_aff(dim, subscript.coalesce())
    return isl.Map.from_pw_multi_aff(relation)


def _block_start(value: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    return tile_number(value, size).scale_val(isl.Val(size))


def _packed_dims(
    reference: Reference, extents: Sequence[int], nest: BandNestCost, tile: Tile, inner: Sequence[tuple[int, int]]
) -> tuple[PackedDim, ...]:
    """The dims of the buffer: subscripts and numbers of tiles in the order of the loops that move them, then places in tiles."""
    box = reference.box(extents)
    ordered: list[tuple[float, PackedDim]] = []
    for dim, size in enumerate(box):
        dependent_loops = [at for at, factor in enumerate(reference.factors[dim]) if factor and extents[at] > 1]
        if not dependent_loops:
            continue
        place = next(place for place, (at, _) in enumerate(inner) if at in dependent_loops)
        step = _tile_size(reference, dependent_loops, nest, tile)
        if step and size > step:
            ordered += [(place, PackedDim(dim, -(-size // step), step, True)), (inf, PackedDim(dim, step, step))]
        else:
            ordered.append((inf if step or tile.vector_loop in dependent_loops else place, PackedDim(dim, size)))
    return tuple(packed_dim for _, packed_dim in sorted(ordered, key=lambda one: one[0]))


def _tile_size(reference: Reference, dependent_loops: Sequence[int], nest: BandNestCost, tile: Tile) -> int:
    """By what a subscript is cut, which one of the tile's loops alone moves; 0 for no cut."""
    if dependent_loops == [tile.vector_loop]:
        return nest.tile_size(tile, dependent_loops[0])
    is_row = dependent_loops == [tile.copied_loop] and reference.stride(dependent_loops[0]) == 1
    return tile.copies if is_row else 0


def with_panels(scop: Scop, schedule: isl.Schedule, panels: Sequence[LocalPanel]) -> tuple[Scop, isl.Schedule]:
    """The scop and the schedule with copies at the marks of `panels`, whose reads go to buffers."""
    if not panels:
        return scop, schedule
    tree = from_schedule(schedule)
    for panel in panels:
        path = next(path for path, node in walk(tree) if isinstance(node, Scratch) and node.array == panel.name)
        scop, tree = _with_panel(scop, tree, path, panel)
    return scop, to_schedule(tree)


def _with_panel(scop: Scop, tree: Tree, path: Path, panel: LocalPanel) -> tuple[Scop, Tree]:
    loops = loops_above(tree, path)
    statement = scop.by_name[panel.access.statement_name]
    instances = isl.UnionSet.from_set(statement.domain)
    elements = footprint([panel.access], loops, instances)
    assert elements is not None
    outer = isl.Map.from_union_map(value_map(loops, instances))
    box = FixedBox(isl.PwMultiAff.from_map(outer.reverse().apply_range(panel.first).coalesce()), panel.shape)
    buffer = Buffer(
        panel.name,
        panel.access.array.value,
        len(panel.packed_dims),
        is_local=True,
        shape=tuple(packed_dim.extent for packed_dim in panel.packed_dims),
    )
    places = box.places("").apply_range(_to_packed_dims(panel)).set_tuple_name(isl.dim_type.out, panel.name)
    (name,) = next_names(scop, 1)
    copy = _copy_statement(name, panel, buffer, elements, places)
    reading = _reading_buffer(statement, panel.access, buffer, outer, places)
    return with_statements(scop, [reading, copy], buffer), _inserted(tree, path, loops, copy, panel)


def _to_packed_dims(panel: LocalPanel) -> isl.Map:
    """Distances from the first element to places in the buffer."""
    space = isl.Space.set_alloc(panel.first.get_ctx(), 0, len(panel.shape)).set_tuple_name(isl.dim_type.set, "")
    local = isl.LocalSpace.from_space(space)
    distances = [isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, dim)) for dim in range(len(panel.shape))]
    found: isl.Map | None = None
    for packed_dim in panel.packed_dims:
        column = isl.Map.from_pw_aff(packed_dim.of(distances[packed_dim.dim]))
        found = column if found is None else found.flat_range_product(column)
    assert found is not None
    return found


def _copy_statement(name: str, panel: LocalPanel, buffer: Buffer, elements: isl.Map, places: isl.Map) -> CopyStatement:
    """The statement whose instances `[loops around, element]` copy one element into the buffer."""
    domain = elements.wrap().flatten().set_tuple_name(name).coalesce()
    pairs = elements.wrap().flatten_map().set_tuple_name(isl.dim_type.out, name).reverse().intersect_domain(domain)
    from_array, to_buffer = pairs.apply_range(elements.wrap().unwrap().range_map()).coalesce(), pairs.apply_range(places).coalesce()
    read = replace(panel.access, writes=False, elements=ElementRelation(name, panel.access.array, from_array, 0))
    write = replace(panel.access, writes=True, elements=ElementRelation(name, buffer, to_buffer, 1))
    return CopyStatement(name, (), (), (), domain, (read, write), panel.access.op.location)


def _reading_buffer(statement: Statement, access: MemRefAccess, buffer: Buffer, outer: isl.Map, places: isl.Map) -> Statement:
    """The statement with one of its reads going to the buffer."""
    moved = access.redirected(buffer, outer.range_product(access.relation).apply_range(places).coalesce())
    return replace(
        statement, accesses=tuple(moved if one.op == access.op and not one.writes else one for one in statement.accesses)
    )


def _inserted(tree: Tree, path: Path, loops: Sequence[LoopNode], copy: CopyStatement, panel: LocalPanel) -> Tree:
    """The tree with the copies before what the scratch mark at `path` holds."""
    scratch = at(tree, path)
    assert isinstance(scratch, Scratch)
    body = block([_copy_loops(copy, panel), scratch.body])
    columns = [_dim(copy.domain, depth) for depth in range(len(loops))]
    return _put_below(tree, path, Scratch(body.domain, scratch.array, body), columns)


def _put_below(tree: Tree, path: Path, node: Tree, columns: Sequence[isl.UnionPwAff]) -> Tree:
    """The tree with `node` at `path`, which runs new instances for which the loops around have the values `columns`."""
    if not path:
        return node
    is_loop = isinstance(tree, LoopNode)
    parts = list(children(tree))
    parts[path[0]] = _put_below(parts[path[0]], path[1:], node, columns[1:] if is_loop else columns)
    if isinstance(tree, LoopNode):
        return replace(tree, domain=parts[0].domain, values=tree.values.union_add(columns[0]), body=parts[0])
    return SequenceNode(_union(parts), tuple(parts)) if isinstance(tree, SequenceNode) else with_children(tree, parts)


def _union(parts: Sequence[Tree]) -> isl.UnionSet:
    whole = parts[0].domain
    for part in parts[1:]:
        whole = whole.union(part.domain)
    return whole


def _copy_loops(copy: CopyStatement, panel: LocalPanel) -> Tree:
    """Loops over the places of the buffer, which have no order, those of the last dim in vectors."""
    instances = isl.UnionSet.from_set(copy.domain)
    places = isl.PwMultiAff.from_map(copy.writes[0].relation)
    columns = [isl.UnionPwAff.from_pw_aff(places.get_pw_aff(packed_dim)) for packed_dim in range(len(panel.packed_dims))]
    step = isl.Val(policy().search.vectors_at_once * panel.lanes)
    rows = columns[-1].scale_down_val(step).floor()
    tree: Tree = around(columns[-1].sub(rows.scale_val(step)), Leaf(instances), kind="lanes")
    for column in (rows, *reversed(columns[:-1])):
        tree = around(column, tree, kind="parallel")
    return tree


def _dim(domain: isl.Set, dim: int) -> isl.UnionPwAff:
    """The value of one dim of a statement's instances."""
    space = isl.LocalSpace.from_space(domain.get_space())
    return isl.UnionPwAff.from_pw_aff(
        isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, dim)).intersect_domain(domain)
    )

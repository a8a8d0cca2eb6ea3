"""A function of affine loops as `dlc-check-proof` reads it, on its own: which op of which iteration takes what from where.

Shares no code with `dlc.analysis`. It knows loops, conditions, accesses to memrefs, and ops that compute each lane from the same
lane of their operands; anything else raises `Unknown`.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.tools.proof_index import Unknown, within
from dlc.tools.proof_values import CheckedAccess, ProgramPoint, Values, shape_of

_ACCESSES = {"affine.load": 0, "memref.load": 0, "affine.vector_load": 0, "vector.load": 0, "vector.transfer_read": 0}
_ACCESSES |= {"affine.store": 1, "memref.store": 1, "affine.vector_store": 1, "vector.store": 1, "vector.transfer_write": 1}
_SILENT = {
    "affine.apply",
    "affine.min",
    "affine.max",
    "affine.yield",
    "memref.dealloc",
    "memref.dim",
    "memref.get_global",
    "ub.poison",
}


class ProofProgram(Values):
    """The values and accesses of `function`; `parameters` maps what index values are to their names in the proof."""

    def __init__(self, function: ir.Operation, side: str, parameters: dict[str, str], terminals: dict[str, str]) -> None:
        super().__init__(function, side, parameters, terminals)
        self._read_block(self._block, ProgramPoint([], [], [], []))
        self._read_results()
        self._follow_memory()
        self._remove_copies()

    def _read_block(self, block: ir.Block, place: ProgramPoint) -> None:
        for number, op in enumerate(block.operations):
            here = ProgramPoint(place.dims, place.where, [*place.time, str(number)], place.parallel, place.roles)
            self._read(op.operation, here)

    def _read(self, op: ir.Operation, place: ProgramPoint) -> None:
        if op.name in ("memref.alloc", "memref.alloca"):
            names = [name for _, name in place.dims]
            self._memories[op.results[0]] = (f"{self.side}local{self._numbers[op]}", self._sizes(op, place), names)
        elif op.name == "affine.for":
            self._read_for(op, place)
        elif op.name == "affine.parallel":
            self._read_parallel(op, place)
        elif op.name == "affine.if":
            self._read_if(op, place)
        elif op.name in _ACCESSES:
            self._read_access(op, place)
        elif op.name == "func.return":
            self._read_return(op, place)
        elif op.name.startswith(("arith.", "math.")) and not len(op.regions):
            self._read_elementwise(op, place)
        elif op.name == "vector.broadcast":
            self._read_broadcast(op, place)
        elif op.name not in _SILENT:
            raise Unknown(f"the checker does not support '{op.name}'")

    def _sizes(self, op: ir.Operation, place: ProgramPoint) -> list[str]:
        operands = iter(op.operands)
        kind = ir.MemRefType(op.results[0].type)
        static = [kind.is_static_dim(at) for at in range(kind.rank)]
        return [str(kind.shape[at]) if static[at] else self.index.text(next(operands), place.dims) for at in range(kind.rank)]

    def _read_for(self, op: ir.Operation, place: ProgramPoint) -> None:
        counts = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        operands, body = list(op.operands), op.regions[0].blocks[0]
        lower = self.index.map(op.attributes["lowerBoundMap"].value, operands[: counts[0]], place.dims)
        upper = self.index.map(op.attributes["upperBoundMap"].value, operands[counts[0] : counts[0] + counts[1]], place.dims)
        step = ir.IntegerAttr(op.attributes["step"]).value
        depth, name = len(place.dims), f"i{len(place.dims)}"
        parallel = [*place.parallel, (depth, body.arguments[0])] if "dlc.parallel" in op.attributes else place.parallel
        where = place.where + within(name, lower, upper, step)
        role = op.attributes.get("dlc.doacross")
        roles = [*place.roles, (depth, body.arguments[0], role.value)] if isinstance(role, ir.StringAttr) else place.roles
        inner = ProgramPoint([*place.dims, (body.arguments[0], name)], where, [*place.time, name], parallel, roles)
        carried = [self._value(op, f"carries {at}", inner, shape_of(value)) for at, value in enumerate(list(body.arguments)[1:])]
        self._of.update(zip(list(body.arguments)[1:], carried, strict=True))
        self._read_block(body, inner)
        yields = list(body.operations)[-1].operation.operands
        inits = operands[counts[0] + counts[1] :]
        for at, (carry, init, given) in enumerate(zip(carried, inits, yields, strict=True)):
            end = self._value(op, f"yields {at}", inner, shape_of(given))
            end.operands = [self._sources(end, given, inner, end.dims[depth + 1 :])]
            back = list(carry.dims)
            back[depth] = f"{name} - {step}"
            previous = self._relation(carry, end.name, back).intersect_range(end.domain)
            first = [one.subtract_domain(previous.domain()) for one in self._sources(carry, init, place, carry.dims[depth + 1 :])]
            carry.operands = [[previous, *first]]
            after = self._value(op, f"result {at}", place, shape_of(given))
            pairs = self._relation(after, end.name, [*end.dims]).intersect_range(end.domain)
            last = pairs.lexmax()
            none = [one.subtract_domain(last.domain()) for one in self._sources(after, init, place, after.dims[depth:])]
            after.operands = [[last, *none]]
            self._of[op.results[at]] = after

    def _read_parallel(self, op: ir.Operation, place: ProgramPoint) -> None:
        if len(op.results):
            raise Unknown("the checker does not support what an 'affine.parallel' combines")
        maps = op.attributes["lowerBoundsMap"].value, op.attributes["upperBoundsMap"].value
        split = maps[0].n_dims + maps[0].n_symbols
        lowers = self.index.map(maps[0], list(op.operands)[:split], place.dims)
        uppers = self.index.map(maps[1], list(op.operands)[split:], place.dims)
        body = op.regions[0].blocks[0]
        inner = ProgramPoint(list(place.dims), list(place.where), list(place.time), list(place.parallel), place.roles)
        groups = zip(
            ir.DenseIntElementsAttr(op.attributes["lowerBoundsGroups"]),
            ir.DenseIntElementsAttr(op.attributes["upperBoundsGroups"]),
            ir.ArrayAttr(op.attributes["steps"]),
            body.arguments,
            strict=True,
        )
        for low, high, step, variable in groups:
            name = f"i{len(inner.dims)}"
            inner.parallel.append((len(inner.dims), body.arguments[0]))
            inner.dims.append((variable, name))
            inner.time += [name, "0"]
            inner.where += within(name, lowers[:low], uppers[:high], ir.IntegerAttr(step).value)
            lowers, uppers = lowers[low:], uppers[high:]
        self._read_block(body, inner)

    def _read_if(self, op: ir.Operation, place: ProgramPoint) -> None:
        conditions = self.index.conditions(op, place.dims)
        wheres = [conditions, [f"not ({' and '.join(conditions)})"]]
        branches = [region.blocks[0] for region in op.regions if len(region.blocks)]
        for number, block in enumerate(branches):
            time, where = [*place.time, str(number)], place.where + wheres[number]
            self._read_block(block, ProgramPoint(place.dims, where, time, place.parallel, place.roles))
        for at, result in enumerate(op.results):
            value = self._value(op, f"result {at}", place, shape_of(result))
            ends = [list(block.operations)[-1].operation.operands[at] for block in branches]
            lanes = value.dims[len(place.dims) :]
            parts = [self._sources(value, end, place, lanes, where) for end, where in zip(ends, wheres, strict=False)]
            value.operands = [[one for part in parts for one in part]]
            self._of[result] = value

    def _read_access(self, op: ir.Operation, place: ProgramPoint) -> None:
        at, writes = _ACCESSES[op.name], bool(_ACCESSES[op.name])
        memref = op.operands[at]
        kind = op.operands[0].type if writes else op.results[0].type
        shape = list(kind.shape) if isinstance(kind, ir.VectorType) else []
        rank = ir.MemRefType(memref.type).rank
        indices = list(op.operands)[at + 1 :]
        has_map = "map" in op.attributes
        plain = [] if has_map else [self.index.text(one, place.dims) for one in indices[:rank]]
        subscripts = self.index.map(op.attributes["map"].value, indices, place.dims) if has_map else plain
        memory, sizes, around = self._memory(memref)
        inside = self._add_lanes(op, subscripts, shape, sizes)
        role = "stores" if writes else "result 0"
        value = self._value(op, role, place, shape, inside if writes else ())
        element = self._relation(value, memory, [*around, *subscripts], () if writes else inside)
        sizes = [*[""] * len(around), *sizes]
        self.accesses.append(CheckedAccess(value, memory, sizes, element, place.time, writes, place.parallel, place.roles))
        lanes = value.dims[len(place.dims) :]
        if writes:
            value.operands = [self._sources(value, op.operands[0], place, lanes)]
            return
        outside = [f"not ({' and '.join(inside)})"]
        value.operands = [self._sources(value, op.operands[1 + rank], place, [], outside) if inside else []]
        self._of[op.results[0]] = value

    def _add_lanes(self, op: ir.Operation, subscripts: list[str], shape: Sequence[int], sizes: Sequence[str]) -> list[str]:
        """Add `l0, l1, ...` to subscripts; returns under which conditions they are inside of the memref."""
        if op.name.startswith("vector.transfer"):
            if list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[-1]:
                raise Unknown("the checker does not support masks")
            axes = [_axis(result) for result in op.attributes["permutation_map"].value.results]
            clipped = [not ir.BoolAttr(flag).value for flag in ir.ArrayAttr(op.attributes["in_bounds"])]
        else:
            axes, clipped = list(range(len(subscripts) - len(shape), len(subscripts))), [False] * len(shape)
        inside = []
        for lane, axis in enumerate(axes):
            if axis >= 0:
                subscripts[axis] += f" + l{lane}"
                inside += [f"0 <= {subscripts[axis]} < {sizes[axis]}"] if clipped[lane] else []
        return inside

    def _read_elementwise(self, op: ir.Operation, place: ProgramPoint) -> None:
        if op.name == "arith.constant" or (len(op.results) == 1 and self.index.is_known(op.results[0], place.dims)):
            return
        attributes = ", ".join(sorted(f"{name} = {op.attributes[name]}" for name in op.attributes))
        kinds = ", ".join(str(getattr(one.type, "element_type", one.type)) for one in (*op.operands, *op.results))
        for at, result in enumerate(op.results):
            value = self._value(op, f"result {at}", place, shape_of(result))
            value.kind = f"{op.name} {at} {attributes} {kinds}"
            lanes = value.dims[len(place.dims) :]
            value.operands = [self._sources(value, one, place, lanes[: len(shape_of(one))]) for one in op.operands]
            self._of[result] = value

    def _read_broadcast(self, op: ir.Operation, place: ProgramPoint) -> None:
        value = self._value(op, "result 0", place, shape_of(op.results[0]))
        given = shape_of(op.operands[0])
        lanes = value.dims[len(value.dims) - len(given) :] if given else []
        lanes = ["0" if size == 1 else lane for size, lane in zip(given, lanes, strict=True)]
        value.operands = [self._sources(value, op.operands[0], place, lanes)]
        self._of[op.results[0]] = value

    def _read_return(self, op: ir.Operation, place: ProgramPoint) -> None:
        for at, result in enumerate(op.operands):
            if isinstance(result.type, ir.MemRefType):
                raise Unknown("the checker does not support memrefs that a function returns")
            value = self._value(op, f"returns {at}", place, shape_of(result))
            value.operands = [self._sources(value, result, place, value.dims)]

    def _read_results(self) -> None:
        """What is left in memory that others see."""
        for argument in self._block.arguments:
            if isinstance(argument.type, ir.MemRefType):
                self._memory(argument)
        for op in self._numbers:
            if op.name == "memref.get_global":
                self._memory(op.results[0])
        end = ProgramPoint([], [], [str(len(list(self._block.operations)))], [])
        public = {name: sizes for name, sizes, _ in self._memories.values() if "local" not in name}
        for name, sizes in public.items():
            dims = [f"l{at}" for at in range(len(sizes))]
            value = self._add(
                f"op 0 keeps {self.labels[name]}", dims, [f"0 <= {dim} < {size}" for dim, size in zip(dims, sizes, strict=True)]
            )
            value.operands = [[]]
            self.accesses.append(CheckedAccess(value, name, sizes, self._relation(value, name, dims), end.time, False, [], []))


def _axis(result: ir.AffineExpr) -> int:
    expression = result.maybe_downcast()
    return int(expression.position) if isinstance(expression, ir.AffineDimExpr) else -1

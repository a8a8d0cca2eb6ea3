"""A function of affine loops as `dlc-check-proof` reads it, on its own: which op of which iteration takes what from where.

Shares no code with `dlc.analysis`. It knows loops, conditions, accesses to memrefs, and ops that compute each lane from the same
lane of their operands; anything else raises `Unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import islpy as isl

from dlc._mlir import ir
from dlc.tools.proof_index import Indices, Unknown, within

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
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


@dataclass(eq=False)
class Value:
    """What `key` (`op 12 result 0`) is in each iteration and lane: `kind` of `operands`, or a copy where `kind` is empty."""

    key: str
    name: str
    dims: list[str]
    domain: isl.Set
    kind: str = ""
    operands: list[list[isl.Map]] = field(default_factory=list)


@dataclass(eq=False)
class Access:
    """A value that is read or written: its element of `memory`, at which time, inside which parallel loops."""

    value: Value
    memory: str
    sizes: list[str]
    element: isl.Map
    time: list[str]
    writes: bool
    parallel: list[tuple[int, ir.Value]]


@dataclass
class _Place:
    dims: list[tuple[ir.Value, str]]
    where: list[str]
    time: list[str]
    parallel: list[tuple[int, ir.Value]]


class Program:
    """The values and accesses of `function`; `parameters` maps what index values are to their names in the proof."""

    def __init__(self, function: ir.Operation, side: str, parameters: dict[str, str], terminals: dict[str, str]) -> None:
        self.side, self.parameters, self.terminals = side, parameters, terminals
        self.index = Indices(parameters, lambda memref, axis: self._memory(memref)[1][axis])
        self.prefix = f"[{', '.join(parameters.values())}] -> "
        self.values: dict[str, Value] = {}
        self.accesses: list[Access] = []
        self._of: dict[ir.Value, Value] = {}
        self._memories: dict[ir.Value, tuple[str, list[str], list[str]]] = {}
        self.labels: dict[str, str] = {}
        """What the memory that others can see is called in proofs, by its name in maps."""
        self._function = function
        self._numbers = {op: at for at, op in enumerate(_walk(function))}
        self._block = function.regions[0].blocks[0]
        self._read_block(self._block, _Place([], [], [], []))
        self._read_results()
        self._follow_memory()
        self._remove_copies()

    # Reading.

    def _read_block(self, block: ir.Block, place: _Place) -> None:
        for number, op in enumerate(block.operations):
            here = _Place(place.dims, place.where, [*place.time, str(number)], place.parallel)
            self._read(op.operation, here)

    def _read(self, op: ir.Operation, place: _Place) -> None:
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
            raise Unknown(f"the checker has no meaning for '{op.name}'")

    def _sizes(self, op: ir.Operation, place: _Place) -> list[str]:
        operands = iter(op.operands)
        kind = ir.MemRefType(op.results[0].type)
        static = [kind.is_static_dim(at) for at in range(kind.rank)]
        return [str(kind.shape[at]) if static[at] else self.index.text(next(operands), place.dims) for at in range(kind.rank)]

    def _read_for(self, op: ir.Operation, place: _Place) -> None:
        counts = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        operands, body = list(op.operands), op.regions[0].blocks[0]
        lower = self.index.map(op.attributes["lowerBoundMap"].value, operands[: counts[0]], place.dims)
        upper = self.index.map(op.attributes["upperBoundMap"].value, operands[counts[0] : counts[0] + counts[1]], place.dims)
        step = ir.IntegerAttr(op.attributes["step"]).value
        depth, name = len(place.dims), f"i{len(place.dims)}"
        parallel = [*place.parallel, (depth, body.arguments[0])] if "dlc.parallel" in op.attributes else place.parallel
        where = place.where + within(name, lower, upper, step)
        inner = _Place([*place.dims, (body.arguments[0], name)], where, [*place.time, name], parallel)
        carried = [self._value(op, f"carries {at}", inner, _shape(value)) for at, value in enumerate(list(body.arguments)[1:])]
        self._of.update(zip(list(body.arguments)[1:], carried, strict=True))
        self._read_block(body, inner)
        yields = list(body.operations)[-1].operation.operands
        inits = operands[counts[0] + counts[1] :]
        for at, (carry, init, given) in enumerate(zip(carried, inits, yields, strict=True)):
            end = self._value(op, f"yields {at}", inner, _shape(given))
            end.operands = [self._sources(end, given, inner, end.dims[depth + 1 :])]
            back = list(carry.dims)
            back[depth] = f"{name} - {step}"
            previous = self._relation(carry, end.name, back).intersect_range(end.domain)
            first = [one.subtract_domain(previous.domain()) for one in self._sources(carry, init, place, carry.dims[depth + 1 :])]
            carry.operands = [[previous, *first]]
            after = self._value(op, f"result {at}", place, _shape(given))
            pairs = self._relation(after, end.name, [*end.dims]).intersect_range(end.domain)
            last = pairs.lexmax()
            none = [one.subtract_domain(last.domain()) for one in self._sources(after, init, place, after.dims[depth:])]
            after.operands = [[last, *none]]
            self._of[op.results[at]] = after

    def _read_parallel(self, op: ir.Operation, place: _Place) -> None:
        if len(op.results):
            raise Unknown("the checker has no meaning for what an 'affine.parallel' combines")
        maps = op.attributes["lowerBoundsMap"].value, op.attributes["upperBoundsMap"].value
        split = maps[0].n_dims + maps[0].n_symbols
        lowers = self.index.map(maps[0], list(op.operands)[:split], place.dims)
        uppers = self.index.map(maps[1], list(op.operands)[split:], place.dims)
        body = op.regions[0].blocks[0]
        inner = _Place(list(place.dims), list(place.where), list(place.time), list(place.parallel))
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

    def _read_if(self, op: ir.Operation, place: _Place) -> None:
        conditions = self.index.conditions(op, place.dims)
        wheres = [conditions, [f"not ({' and '.join(conditions)})"]]
        branches = [region.blocks[0] for region in op.regions if len(region.blocks)]
        for number, block in enumerate(branches):
            self._read_block(block, _Place(place.dims, place.where + wheres[number], [*place.time, str(number)], place.parallel))
        for at, result in enumerate(op.results):
            value = self._value(op, f"result {at}", place, _shape(result))
            ends = [list(block.operations)[-1].operation.operands[at] for block in branches]
            lanes = value.dims[len(place.dims) :]
            parts = [self._sources(value, end, place, lanes, where) for end, where in zip(ends, wheres, strict=False)]
            value.operands = [[one for part in parts for one in part]]
            self._of[result] = value

    def _read_access(self, op: ir.Operation, place: _Place) -> None:
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
        self.accesses.append(Access(value, memory, [*[""] * len(around), *sizes], element, place.time, writes, place.parallel))
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
                raise Unknown("the checker has no meaning for masks")
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

    def _read_elementwise(self, op: ir.Operation, place: _Place) -> None:
        if op.name == "arith.constant" or (len(op.results) == 1 and self.index.is_known(op.results[0], place.dims)):
            return
        attributes = ", ".join(sorted(f"{name} = {op.attributes[name]}" for name in op.attributes))
        kinds = ", ".join(str(getattr(one.type, "element_type", one.type)) for one in (*op.operands, *op.results))
        for at, result in enumerate(op.results):
            value = self._value(op, f"result {at}", place, _shape(result))
            value.kind = f"{op.name} {at} {attributes} {kinds}"
            lanes = value.dims[len(place.dims) :]
            value.operands = [self._sources(value, one, place, lanes[: len(_shape(one))]) for one in op.operands]
            self._of[result] = value

    def _read_broadcast(self, op: ir.Operation, place: _Place) -> None:
        value = self._value(op, "result 0", place, _shape(op.results[0]))
        given = _shape(op.operands[0])
        lanes = value.dims[len(value.dims) - len(given) :] if given else []
        lanes = ["0" if size == 1 else lane for size, lane in zip(given, lanes, strict=True)]
        value.operands = [self._sources(value, op.operands[0], place, lanes)]
        self._of[op.results[0]] = value

    def _read_return(self, op: ir.Operation, place: _Place) -> None:
        for at, result in enumerate(op.operands):
            if isinstance(result.type, ir.MemRefType):
                raise Unknown("the checker has no meaning for memrefs that a function returns")
            value = self._value(op, f"returns {at}", place, _shape(result))
            value.operands = [self._sources(value, result, place, value.dims)]

    def _read_results(self) -> None:
        """What is left in memory that others see."""
        for argument in self._block.arguments:
            if isinstance(argument.type, ir.MemRefType):
                self._memory(argument)
        for op in self._numbers:
            if op.name == "memref.get_global":
                self._memory(op.results[0])
        end = _Place([], [], [str(len(list(self._block.operations)))], [])
        public = {name: sizes for name, sizes, _ in self._memories.values() if "local" not in name}
        for name, sizes in public.items():
            dims = [f"l{at}" for at in range(len(sizes))]
            value = self._add(
                f"op 0 keeps {self.labels[name]}", dims, [f"0 <= {dim} < {size}" for dim, size in zip(dims, sizes, strict=True)]
            )
            value.operands = [[]]
            self.accesses.append(Access(value, name, sizes, self._relation(value, name, dims), end.time, False, []))

    # Names.

    def _value(self, op: ir.Operation, role: str, place: _Place, shape: Sequence[int], where: Sequence[str] = ()) -> Value:
        lanes = [f"l{at}" for at in range(len(shape))]
        inside = [f"0 <= {lane} < {size}" for lane, size in zip(lanes, shape, strict=True)]
        dims = [name for _, name in place.dims] + lanes
        return self._add(f"op {self._numbers[op]} {role}", dims, [*place.where, *inside, *where])

    def _add(self, key: str, dims: list[str], where: Sequence[str]) -> Value:
        name = f"{self.side}{len(self.values)}"
        value = Value(key, name, dims, isl.Set(f"{self.prefix}{{ {name}[{', '.join(dims)}] : {' and '.join(where) or 'true'} }}"))
        self.values[name] = value
        return value

    def _relation(self, value: Value, target: str, to: Sequence[str], where: Sequence[str] = ()) -> isl.Map:
        ends = f"{value.name}[{', '.join(value.dims)}] -> {target}[{', '.join(to)}]"
        return isl.Map(f"{self.prefix}{{ {ends} : {' and '.join(where) or 'true'} }}").intersect_domain(value.domain)

    def terminal(self, text: str) -> str:
        """The tuple name for a value that no op computes."""
        return self.terminals.setdefault(text, f"t{len(self.terminals)}")

    def _sources(
        self, user: Value, value: ir.Value, place: _Place, lanes: Sequence[str], where: Sequence[str] = ()
    ) -> list[isl.Map]:
        if value in self._of:
            found = self._of[value]
            depth = len(found.dims) - len(_shape(value))
            return [self._relation(user, found.name, [*user.dims[:depth], *lanes], where)]
        if isinstance(value.type, ir.IndexType):
            return [self._relation(user, self.terminal("index"), [self.index.text(value, place.dims)], where)]
        if isinstance(value, ir.BlockArgument):
            return [self._relation(user, self.terminal(f"arg{value.arg_number}"), lanes, where)]
        op = value.owner.operation
        if op.name == "ub.poison":
            return [self._relation(user, self.terminal("undefined"), [], where)]
        if op.name != "arith.constant":
            raise Unknown(f"the checker cannot follow a value of '{op.name}'")
        constant = op.attributes["value"]
        if isinstance(constant.type, ir.VectorType):
            if not constant.is_splat:
                raise Unknown("the checker has no meaning for constants of several values")
            constant = constant.get_splat_value()
        return [self._relation(user, self.terminal(f"constant {constant}"), [], where)]

    def _memory(self, memref: ir.Value) -> tuple[str, list[str], list[str]]:
        if memref not in self._memories:
            self._memories[memref] = (*self._public(memref), [])
        return self._memories[memref]

    def _public(self, memref: ir.Value) -> tuple[str, list[str]]:
        if isinstance(memref, ir.BlockArgument):
            key = label = f"arg{memref.arg_number}"
        elif memref.owner.operation.name == "memref.get_global":
            label = str(memref.owner.operation.attributes["name"])
            key = self.terminal(f"memory {label}")
        else:
            raise Unknown(f"the checker cannot follow a memref of '{memref.owner.operation.name}'")
        self.labels[key] = label
        kind = ir.MemRefType(memref.type)
        dim = "memref.dim#0{{}}({}, arith.constant#0{{value = {} : index}}())"
        sizes = [
            str(size) if kind.is_static_dim(at) else self.index.parameter(dim.format(key, at)) for at, size in enumerate(kind.shape)
        ]
        return key, sizes

    def is_alone(self, memory: str) -> bool:
        """Whether memory is that of an argument which shares it with nothing else."""
        number = memory.removeprefix("arg")
        if not number.isdigit() or "arg_attrs" not in self._function.attributes:
            return False
        marks = ir.DictAttr(ir.ArrayAttr(self._function.attributes["arg_attrs"])[int(number)])
        return "llvm.noalias" in marks or "dl.result" in marks

    # Data flow.

    def time(self, access: Access) -> isl.Map:
        """When an access happens, as vectors of one length in the order of running."""
        longest = max(len(one.time) for one in self.accesses)
        return self._relation(access.value, "", [*access.time, *["0"] * (longest - len(access.time))])

    def _follow_memory(self) -> None:
        """Let each read take what the last write before it wrote: the latest of all earlier writes of the element."""
        for read in [access for access in self.accesses if not access.writes]:
            writes = [one for one in self.accesses if one.writes and one.memory == read.memory]
            earlier = [
                read.element.apply_range(one.element.reverse()).intersect(self.time(read).lex_gt_map(self.time(one)))
                for one in writes
            ]
            seen = isl.Map.empty(self.time(read).get_space())
            for one, pairs in zip(writes, earlier, strict=True):
                seen = seen.union(pairs.apply_range(self.time(one)))
            latest = seen.lexmax()
            sources = read.value.operands[0]
            for one, pairs in zip(writes, earlier, strict=True):
                at_latest = pairs.intersect(latest.apply_range(self.time(one).reverse()))
                sources += [at_latest.apply_range(source) for source in one.value.operands[0]]
            unseen = read.element.subtract_domain(latest.domain())
            is_local = "local" in read.memory
            name = self.terminal("undefined" if is_local else f"contents of {self.labels[read.memory]}")
            start = unseen.project_out(_OUT, 0, unseen.dim(_OUT)) if is_local else unseen
            sources.append(start.set_tuple_name(_OUT, name))

    def _remove_copies(self) -> None:
        """Let operands be what computes them. A copy of itself at an iteration before is followed by its transitive closure."""
        for copy in [value for value in self.values.values() if not value.kind]:
            own = [source for source in copy.operands[0] if source.get_tuple_name(_OUT) == copy.name]
            others = [source for source in copy.operands[0] if source.get_tuple_name(_OUT) != copy.name and not source.is_empty()]
            for step in own:
                closure, is_exact = step.transitive_closure()
                if not is_exact or len(own) > 1:
                    raise Unknown(f"the checker cannot follow the copies of {copy.key}")
                others += [closure.apply_range(source) for source in list(others)]
            copy.operands[0][:] = others
            for user in self.values.values():
                for sources in user.operands:
                    through = [source for source in sources if source.get_tuple_name(_OUT) == copy.name]
                    if through and user is not copy:
                        kept = [source for source in sources if source.get_tuple_name(_OUT) != copy.name]
                        sources[:] = kept + [one.apply_range(further) for one in through for further in others]


def _walk(op: ir.Operation) -> Iterator[ir.Operation]:
    """`op` and all inside it, in the order of the text."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _walk(inner.operation)


def _shape(value: ir.Value) -> list[int]:
    return list(value.type.shape) if isinstance(value.type, ir.VectorType) else []


def _axis(result: ir.AffineExpr) -> int:
    expression = result.maybe_downcast()
    return int(expression.position) if isinstance(expression, ir.AffineDimExpr) else -1

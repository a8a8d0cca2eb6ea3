"""The values of a function as `dlc-check-proof` knows them: their names, where their operands come from, what memory holds.

Shares no code with `dlc.analysis`. `Unknown` is raised for what it cannot follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import islpy as isl

from dlc._mlir import ir
from dlc.tools.proof_index import Indices, Unknown

_OUT = isl.dim_type.out


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
class CheckedAccess:
    """A value that is read or written: its element of `memory`, at which time, inside which parallel loops and which with roles."""

    value: Value
    memory: str
    sizes: list[str]
    element: isl.Map
    time: list[str]
    writes: bool
    parallel: list[tuple[int, ir.Value]]
    roles: list[tuple[int, ir.Value, str]]


@dataclass
class ProgramPoint:
    """Where an op is: loop variables by name, what holds of them, its time, the parallel loops around, and those of `dlc.doacross`
    with their roles."""

    dims: list[tuple[ir.Value, str]]
    where: list[str]
    time: list[str]
    parallel: list[tuple[int, ir.Value]]
    roles: list[tuple[int, ir.Value, str]] = field(default_factory=list)


class Values:
    """The values and accesses of a function, whose ops a subclass reads; `parameters` maps index values to names in the proof."""

    def __init__(self, function: ir.Operation, side: str, parameters: dict[str, str], terminals: dict[str, str]) -> None:
        self.side, self.parameters, self.terminals = side, parameters, terminals
        self.index = Indices(parameters, lambda memref, axis: self._memory(memref)[1][axis])
        self.prefix = f"[{', '.join(parameters.values())}] -> "
        self.values: dict[str, Value] = {}
        self.accesses: list[CheckedAccess] = []
        self._of: dict[ir.Value, Value] = {}
        self._memories: dict[ir.Value, tuple[str, list[str], list[str]]] = {}
        self.labels: dict[str, str] = {}
        """What the memory that others can see is called in proofs, by its name in maps."""
        self._function = function
        self._numbers = {op: at for at, op in enumerate(_walk(function))}
        self._block = function.regions[0].blocks[0]

    def _value(self, op: ir.Operation, role: str, place: ProgramPoint, shape: Sequence[int], where: Sequence[str] = ()) -> Value:
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
        self, user: Value, value: ir.Value, place: ProgramPoint, lanes: Sequence[str], where: Sequence[str] = ()
    ) -> list[isl.Map]:
        if value in self._of:
            found = self._of[value]
            depth = len(found.dims) - len(shape_of(value))
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
                raise Unknown("the checker does not support constants of several values")
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

    def time(self, access: CheckedAccess) -> isl.Map:
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


def shape_of(value: ir.Value) -> list[int]:
    """The sizes of a vector; none for other values."""
    return list(value.type.shape) if isinstance(value.type, ir.VectorType) else []

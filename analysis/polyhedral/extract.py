"""From affine loops to the polyhedral model.

Statements come from the ops of each block (`grouping.py`), domains from loops and conditions, relations from the maps of loads
and stores. What the model cannot say is an `ExtractionError` at the op, never left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import is_allocation, is_memref, may_alias, root_of
from dlc.analysis.polyhedral.grouping import FREE_OPS, Group, group_ops
from dlc.analysis.polyhedral.index_texts import IndexTexts, extreme
from dlc.analysis.polyhedral.model import Access, Array, ExtractionError, Loop, Scop, Statement

_PURE = ("arith.", "math.", "affine.apply", "affine.min", "affine.max", "memref.dim")
_LOADS = {"affine.load": 0}
_STORES = {"affine.store": 1}
"""Place of the memref among the operands; the subscripts follow."""

_MEMREF_AT = _LOADS | _STORES


def extract(function: ir.Operation, *, assume_no_alias: bool = False) -> Scop:
    """The model of the body of `function`, a `func.func` of one block.

    The scop's items are the ops from the first loop, load or store to the last. With `assume_no_alias`, distinct
    memrefs are taken to share no memory; without, arguments that are not marked `llvm.noalias` are refused where one is written.
    Raises ExtractionError.
    """
    (block,) = function.regions[0].blocks
    items = _items(block)
    walk = _Walk(items, IndexTexts(block))
    walk.visit(items, _Frame())
    if not assume_no_alias:
        _refuse_aliases(walk)
    names = walk.texts.parameters
    context = isl.Set(f"[{', '.join(names)}] -> {{ : }}")
    return Scop(tuple(items), tuple(walk.finished(context)), tuple(walk.arrays), names, context)


def _items(block: ir.Block) -> list[ir.Operation]:
    """The ops of `block` between the first and the last one that has loops or touches memory."""
    ops = [op.operation for op in block.operations]
    active = [index for index, op in enumerate(ops) if len(op.regions) or op.name in _MEMREF_AT]
    return ops[active[0] : active[-1] + 1] if active else []


@dataclass(frozen=True)
class _Frame:
    """Where the walk is: the loops around, the constraints that they and conditions make, and the places in their bodies."""

    loops: tuple[Loop, ...] = ()
    constraints: tuple[str, ...] = ()
    beta: tuple[int, ...] = ()

    def where(self, constraints: Sequence[str]) -> _Frame:
        """The same place under more conditions."""
        return _Frame(self.loops, (*self.constraints, *constraints), self.beta)

    def inside(self, loops: Sequence[Loop], constraints: Sequence[str], place: int) -> _Frame:
        """The body of a loop that is the item number `place`; several variables of one loop have no places between them."""
        beta = (*self.beta, place, *([0] * (len(loops) - 1)))
        return _Frame((*self.loops, *loops), (*self.constraints, *constraints), beta)


@dataclass(frozen=True)
class _Found:
    """A statement before the parameters of the scop are all known."""

    ops: tuple[ir.Operation, ...]
    frame: _Frame
    place: int
    subscripts: tuple[tuple[ir.Operation, Array, tuple[str, ...]], ...]


@dataclass
class _Walk:
    """Collects statements and arrays in the order of the text; one use."""

    items: Sequence[ir.Operation]
    texts: IndexTexts
    found: list[_Found] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)

    def visit(self, ops: Sequence[ir.Operation], frame: _Frame, place: int = 0) -> int:
        """Walk `ops` of one block, whose next item is number `place`; returns the number after its last."""
        for run in _runs(ops):
            if len(run[0].regions):
                place = self._visit_region_op(run[0], frame, place)
                continue
            for group in self._groups(run):
                self.found.append(self._statement(group, frame, place))
                place += 1
        return place

    def _visit_region_op(self, op: ir.Operation, frame: _Frame, place: int) -> int:
        if len(op.results):
            raise ExtractionError(op, f"'{op.name}' carries values", "run --affine-demote-values first")
        if op.name == "affine.if":
            return self._visit_if(op, frame, place)
        if op.name not in ("affine.for", "affine.parallel"):
            raise ExtractionError(op, f"'{op.name}' is not a loop or condition of the affine dialect", "lower or outline it first")
        read = _for_loop if op.name == "affine.for" else _parallel_loop
        loops, constraints = read(op, frame.loops, self.texts)
        self.visit(_body(op), frame.inside(loops, constraints, place))
        return place + 1

    def _visit_if(self, op: ir.Operation, frame: _Frame, place: int) -> int:
        """Both branches' items lie in the sequence of the block around the condition."""
        conditions = self.texts.conditions(op, frame.loops)
        place = self.visit(_body(op), frame.where(conditions), place)
        if len(op.regions[1].blocks):
            otherwise = [f"not ({' and '.join(conditions)})"] if conditions else ["false"]
            place = self.visit(_body(op, 1), frame.where(otherwise), place)
        return place

    def _groups(self, run: Sequence[ir.Operation]) -> list[Group]:
        for op in run:
            if op.name not in _MEMREF_AT and not op.name.startswith(_PURE):
                raise ExtractionError(op, f"the polyhedral model has no meaning for '{op.name}'", "lower or outline it first")
        roots = [index for index, op in enumerate(run) if op.name in _STORES]
        return group_ops(run, roots, self._clash)

    def _clash(self, one: ir.Operation, other: ir.Operation) -> bool:
        """Whether two ops touch one array and one of them writes."""
        if one.name not in _MEMREF_AT or other.name not in _MEMREF_AT:
            return False
        writes = one.name in _STORES or other.name in _STORES
        return writes and self._array_of(one) is self._array_of(other)

    def _statement(self, group: Group, frame: _Frame, place: int) -> _Found:
        _refuse_crossing_values(group.ops, frame, self.items)
        subscripts = tuple(self._subscripts(op, frame) for op in group.ops if op.name in _MEMREF_AT)
        return _Found(group.ops, frame, place, subscripts)

    def _subscripts(self, op: ir.Operation, frame: _Frame) -> tuple[ir.Operation, Array, tuple[str, ...]]:
        operands = list(op.operands)[_MEMREF_AT[op.name] + 1 :]
        return op, self._array_of(op), tuple(self.texts.map(op.attributes["map"].value, operands, frame.loops, op))

    def _array_of(self, op: ir.Operation) -> Array:
        memref = op.operands[_MEMREF_AT[op.name]]
        if root_of(memref) != memref:
            raise ExtractionError(op, "it reads or writes through a view of a memref", "run --fold-memref-alias-ops first")
        for array in self.arrays:
            if array.value == memref:
                return array
        kind = ir.MemRefType(memref.type)
        self.arrays.append(Array(f"A{len(self.arrays)}", memref, kind.rank, is_local=is_allocation(memref)))
        return self.arrays[-1]

    def finished(self, context: isl.Set) -> Iterator[Statement]:
        """The statements as sets and relations, in the parameters of `context`."""
        parameters = f"[{', '.join(self.texts.parameters)}] -> "
        for number, found in enumerate(self.found):
            name = f"S{number}"
            instance = f"{name}[{', '.join(loop.name for loop in found.frame.loops)}]"
            where = " and ".join(found.frame.constraints) or "true"
            accesses = [
                Access(
                    name,
                    op,
                    array,
                    isl.Map(f"{parameters}{{ {instance} -> {array.name}[{', '.join(subscripts)}] : {where} }}"),
                    op.name in _STORES,
                    found.ops.index(op),
                )
                for op, array, subscripts in found.subscripts
            ]
            domain = isl.Set(f"{parameters}{{ {instance} : {where} }}").intersect_params(context)
            yield Statement(name, found.ops, found.frame.loops, (*found.frame.beta, found.place), domain, tuple(accesses))


def _runs(ops: Sequence[ir.Operation]) -> Iterator[list[ir.Operation]]:
    """`ops` cut into single ops with regions and runs of ops between them; the block's terminator left out."""
    run: list[ir.Operation] = []
    for op in ops:
        if op.name in ("affine.yield", "func.return"):
            continue
        if not len(op.regions):
            run.append(op)
            continue
        if run:
            yield run
        yield [op]
        run = []
    if run:
        yield run


def _body(op: ir.Operation, region: int = 0) -> list[ir.Operation]:
    return [inner.operation for inner in op.regions[region].blocks[0].operations]


def _for_loop(op: ir.Operation, around: Sequence[Loop], texts: IndexTexts) -> tuple[list[Loop], list[str]]:
    """The loop of an `affine.for` and the constraints on its variable."""
    sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    operands = list(op.operands)
    lower = texts.map(op.attributes["lowerBoundMap"].value, operands[: sizes[0]], around, op)
    upper = texts.map(op.attributes["upperBoundMap"].value, operands[sizes[0] : sizes[0] + sizes[1]], around, op)
    loop = Loop(op, op.regions[0].blocks[0].arguments[0], f"i{len(around)}")
    return [loop], _range_constraints(loop.name, lower, upper, ir.IntegerAttr(op.attributes["step"]).value)


def _parallel_loop(op: ir.Operation, around: Sequence[Loop], texts: IndexTexts) -> tuple[list[Loop], list[str]]:
    """The loops of an `affine.parallel`, one a variable, and the constraints on them."""
    lower_map, upper_map = op.attributes["lowerBoundsMap"].value, op.attributes["upperBoundsMap"].value
    operands = list(op.operands)
    lower_count = lower_map.n_dims + lower_map.n_symbols
    lowers = texts.map(lower_map, operands[:lower_count], around, op)
    uppers = texts.map(upper_map, operands[lower_count:], around, op)
    loops, constraints = [], []
    lower_at = upper_at = 0
    groups = zip(
        ir.DenseIntElementsAttr(op.attributes["lowerBoundsGroups"]),
        ir.DenseIntElementsAttr(op.attributes["upperBoundsGroups"]),
        ir.ArrayAttr(op.attributes["steps"]),
        strict=True,
    )
    for number, (lower_count, upper_count, step) in enumerate(groups):
        variable = op.regions[0].blocks[0].arguments[number]
        loops.append(Loop(op, variable, f"i{len(around) + number}", is_parallel=True))
        lower, upper = lowers[lower_at : lower_at + lower_count], uppers[upper_at : upper_at + upper_count]
        lower_at, upper_at = lower_at + lower_count, upper_at + upper_count
        constraints += _range_constraints(loops[-1].name, lower, upper, ir.IntegerAttr(step).value)
    return loops, constraints


def _range_constraints(name: str, lower: Sequence[str], upper: Sequence[str], step: int) -> list[str]:
    """`name` runs from the largest lower bound below the least upper one, in steps."""
    constraints = [f"{name} >= {bound}" for bound in lower] + [f"{name} < {bound}" for bound in upper]
    if step != 1:
        constraints.append(f"({name} - {extreme('max', lower)}) mod {step} = 0")
    return constraints


def _refuse_crossing_values(ops: Sequence[ir.Operation], frame: _Frame, items: Sequence[ir.Operation]) -> None:
    """Statements exchange values through memory alone: what one uses is its own, free, an induction variable, or from outside."""
    own = {result for op in ops for result in op.results}
    for op in ops:
        for operand in op.operands:
            if operand in own or is_memref(operand) or _is_given(operand, frame, items):
                continue
            raise ExtractionError(
                op,
                "it uses a value that another statement computes",
                "run --affine-demote-values first, which passes it through memory",
            )


def _is_given(value: ir.Value, frame: _Frame, items: Sequence[ir.Operation]) -> bool:
    """Whether `value` is an induction variable around, a cheap function of such, or defined outside of the loops."""
    if isinstance(value, ir.BlockArgument):
        is_loop = any(loop.variable == value for loop in frame.loops)
        return is_loop or value.owner.owner.operation.name not in ("affine.for", "affine.parallel")
    op = value.owner.operation
    if op.name in FREE_OPS:
        return all(is_memref(operand) or _is_given(operand, frame, items) for operand in op.operands)
    return op.parent.operation.name == "func.func" and op not in items


def _refuse_aliases(walk: _Walk) -> None:
    """Two memrefs that may share memory, one of them written, have no exact dependences."""
    written = [array for found in walk.found for op, array, _ in found.subscripts if op.name in _STORES]
    for one in dict.fromkeys(written):
        for other in walk.arrays:
            if one is not other and may_alias(one.value, other.value) and not (_is_alone(one.value) or _is_alone(other.value)):
                raise ExtractionError(
                    _user_of(walk, other),
                    "two of the memrefs that are read and written here may share memory",
                    "mark the arguments {llvm.noalias}, or pass assume-no-alias",
                )


def _user_of(walk: _Walk, array: Array) -> ir.Operation:
    return next(op for found in walk.found for op, used, _ in found.subscripts if used is array)


def _is_alone(value: ir.Value) -> bool:
    """Whether `value` is an argument that its function states to share memory with nothing else."""
    if not isinstance(value, ir.BlockArgument):
        return False
    function = value.owner.owner.operation
    if function.name != "func.func" or "arg_attrs" not in function.attributes:
        return False
    marks = ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[value.arg_number])
    return "llvm.noalias" in marks or "dl.result" in marks

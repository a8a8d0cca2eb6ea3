"""Walks the ops of a static control part and notes statements, arrays and accesses, in the order of the text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, defining_op, is_allocation, is_memref
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of, is_memory_op, is_store
from dlc.lowering.affine.ir.element_relations import Array, LoopVariable
from dlc.lowering.affine.polyhedral.aliases import global_name
from dlc.lowering.affine.polyhedral.domains import inits_of, loops_of
from dlc.lowering.affine.polyhedral.grouping import StatementGroup, group_ops, is_free
from dlc.lowering.affine.polyhedral.index_texts import IndexTexts
from dlc.lowering.affine.polyhedral.memory_ops import Lanes, lanes_of, spelled
from dlc.lowering.affine.polyhedral.model import ExtractionError
from dlc.lowering.affine.polyhedral.outside import LOOPS, OutsideValues, is_inside, is_local, is_supported
from dlc.lowering.affine.polyhedral.views import at_root


@dataclass(frozen=True)
class WalkPosition:
    """Where the walk is: the loops around, the constraints that they and conditions make, and the places in their bodies."""

    loops: tuple[LoopVariable, ...] = ()
    constraints: tuple[str, ...] = ()
    beta: tuple[int, ...] = ()

    def where(self, constraints: Sequence[str]) -> WalkPosition:
        """The same place under more conditions."""
        return WalkPosition(self.loops, (*self.constraints, *constraints), self.beta)

    def inside(self, loops: Sequence[LoopVariable], constraints: Sequence[str], place: int) -> WalkPosition:
        """The body of a loop that is the item number `place`; several variables of one loop have no places between them."""
        beta = (*self.beta, place, *([0] * (len(loops) - 1)))
        return WalkPosition((*self.loops, *loops), (*self.constraints, *constraints), beta)


@dataclass(frozen=True)
class Note:
    """An access as text: `subscripts` over the loops' names and the lanes `l0, l1, ...`, which run to `lane_counts`.

    Elements where `limits` do not hold are not touched.
    """

    access: MemRefAccess
    array: Array
    position: int
    subscripts: tuple[str, ...]
    lane_counts: tuple[int, ...] = ()
    limits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A statement before the parameters of the scop are all known."""

    ops: tuple[ir.Operation, ...]
    frame: WalkPosition
    place: int
    notes: tuple[Note, ...]


@dataclass
class Walk:
    """Collects statements and arrays; one use."""

    outside: OutsideValues
    texts: IndexTexts
    allow_gathers: bool = False
    """Whether loads may have subscripts that data decides."""
    allow_reshapes: bool = False
    """Whether a memref that is reshaped at sizes of run time may be an array of its own."""
    found: list[Found] = field(default_factory=list)
    arrays: dict[Hashable, Array] = field(default_factory=dict)
    """By the root memref, the name of a global, or the value; the values of one `iter_args` are one array."""

    def visit(self, ops: Sequence[ir.Operation], frame: WalkPosition, place: int = 0) -> int:
        """Walk `ops` of one block, whose next item is number `place`; returns the number after its last."""
        for run in _runs(ops):
            if len(run[0].regions):
                place = self._visit_region_op(run[0], frame, place)
                continue
            for group in self._groups(run, frame):
                self.found.append(Found(group.ops, frame, place, tuple(self._notes(group, frame))))
                place += 1
        return place

    def _visit_region_op(self, op: ir.Operation, frame: WalkPosition, place: int) -> int:
        if op.name == "affine.if":
            return self._visit_if(op, frame, place)
        if op.name not in LOOPS:
            raise ExtractionError(op, f"'{op.name}' is not a loop or condition of the affine dialect", "lower or outline it first")
        loops, constraints = loops_of(op, frame.loops, self.texts)
        if len(op.results):
            place = self._start_carried(op, frame, place)
        self.visit(_body(op), frame.inside(loops, constraints, place))
        return place + 1

    def _start_carried(self, op: ir.Operation, frame: WalkPosition, place: int) -> int:
        """What a loop carries are arrays that the loop itself, before it runs, writes first: a statement of its own."""
        notes = []
        inits = inits_of(op)
        for result, argument in zip(op.results, list(op.regions[0].blocks[0].arguments)[1:], strict=True):
            self.arrays[argument] = self._define(result, frame)
        for value in dict.fromkeys(inits):
            notes += [self._value_note(op, array, False, 0, frame) for array in self._arrays_behind(value, set(), op)]
        notes += [self._value_note(op, self.arrays[result], True, 0, frame) for result in op.results]
        self.found.append(Found((op,), frame, place, tuple(notes)))
        return place + 1

    def _visit_if(self, op: ir.Operation, frame: WalkPosition, place: int) -> int:
        """Both branches' items lie in the sequence of the block around the condition."""
        conditions = self.texts.conditions(op, frame.loops)
        for result in op.results:
            self._define(result, frame)
        place = self.visit(_body(op), frame.where(conditions), place)
        if len(op.regions[1].blocks):
            otherwise = [f"not ({' and '.join(conditions)})"] if conditions else ["false"]
            place = self.visit(_body(op, 1), frame.where(otherwise), place)
        return place

    def _groups(self, run: Sequence[ir.Operation], frame: WalkPosition) -> list[StatementGroup]:
        for op in run:
            if op.name != "affine.yield" and not is_supported(op):
                raise ExtractionError(op, f"the polyhedral model does not support '{op.name}'", "lower or outline it first")
            if op.name in ALLOCATIONS:
                self._add_memory(op.results[0], op.results[0], frame.loops)
        kept = [op for op in run if not self._is_silent(op)]
        inside = set(kept)
        roots = []
        for index, op in enumerate(kept):
            crossing = [] if is_free(op) else [result for result in op.results if _leaves(result, inside)]
            for result in crossing:
                self._define(result, frame)
            if crossing or is_store(op) or op.name == "affine.yield":
                roots.append(index)
        return group_ops(kept, roots, self._touched)

    def _is_silent(self, op: ir.Operation) -> bool:
        """Whether `op` belongs to no statement."""
        if op.name in ALLOCATIONS or op.name == "memref.dealloc":
            return True
        return op in self.outside.inside and not is_memory_op(op) and self.outside.is_early(op)

    def _touched(self, op: ir.Operation) -> tuple[Hashable, bool] | None:
        return (_key(access_of(op).root), is_store(op)) if is_memory_op(op) else None

    def _notes(self, group: StatementGroup, frame: WalkPosition) -> Iterator[Note]:
        """The accesses of a statement, op by op, what an op reads before what it writes."""
        own = {result for op in group.ops for result in op.results}
        for position, op in enumerate(group.ops):
            read = dict.fromkeys(array for operand in op.operands for array in self._arrays_behind(operand, own, op))
            for array in read:
                yield self._value_note(op, array, False, position, frame)
            if is_memory_op(op):
                yield self._memory_note(op, position, frame)
            written = op.parent.operation.results if op.name == "affine.yield" else op.results
            for value in written:
                if value in self.arrays and not is_memref(value):
                    yield self._value_note(op, self.arrays[value], True, position, frame)

    def _value_note(self, op: ir.Operation, array: Array, writes: bool, position: int, frame: WalkPosition) -> Note:
        access = MemRefAccess(op, array.value, writes)
        return Note(access, array, position, tuple(loop.name for loop in frame.loops[: array.rank]))

    def _memory_note(self, op: ir.Operation, position: int, frame: WalkPosition) -> Note:
        access, lanes = access_of(op), lanes_of(op)
        if self.allow_gathers and op.name == "memref.load":
            texts, lanes = self._gathered(op, frame)
            subscripts = spelled(texts, lanes)
        else:
            subscripts = spelled(self.texts.map(access.map, access.indices, frame.loops, op), lanes)
        limits = []
        for axis, is_clipped in zip(lanes.axes, lanes.is_clipped, strict=True):
            if is_clipped:
                limits.append(f"0 <= {subscripts[axis]} < {self._size(op, axis, frame)}")
        keeps = self.allow_reshapes
        root, subscripts = at_root(access.memref, subscripts, frame.loops, self.texts, op, keeps_reshapes=keeps)
        array = self._memory(root, op)
        subscripts = [loop.name for loop in array.loops] + subscripts
        return Note(access, array, position, tuple(subscripts), lanes.sizes, tuple(limits))

    def _gathered(self, op: ir.Operation, frame: WalkPosition) -> tuple[list[str], Lanes]:
        """The subscripts of a load, and as lanes the axes along which data decides: all elements there may be read."""
        texts, axes, sizes = [], [], []
        access = access_of(op)
        shape = ir.MemRefType(access.memref.type).shape
        for axis, index in enumerate(access.indices):
            try:
                texts.append(self.texts.value(index, frame.loops, op))
            except ExtractionError:
                if shape[axis] < 0:
                    raise
                texts.append("0")
                axes.append(axis)
                sizes.append(shape[axis])
        return texts, Lanes(tuple(axes), tuple(sizes), (False,) * len(axes))

    def _size(self, op: ir.Operation, axis: int, frame: WalkPosition) -> str:
        size = self.texts.size(access_of(op).memref, axis, frame.loops, op)
        if size is None:
            raise ExtractionError(op, "how many of its lanes lie inside is not known", "state in_bounds, or make the size static")
        return size

    def _memory(self, root: ir.Value, user: ir.Operation) -> Array:
        """The array of the memref `root`, which `user` reads or writes."""
        key = _key(root)
        if key not in self.arrays:
            if not self.outside.has(root) and global_name(root) is None:
                remedy = "allocate it there, or keep this nest out of the polyhedral passes"
                raise ExtractionError(user, "which memory it touches is decided inside the loops", remedy)
            self._add_memory(key, root, ())
        return self.arrays[key]

    def _add_memory(self, key: Hashable, root: ir.Value, loops: tuple[LoopVariable, ...]) -> None:
        count = sum(array.is_memory for array in self.arrays.values())
        local = is_allocation(root) and is_local(root, self.outside)
        rank = len(loops) + ir.MemRefType(root.type).rank
        self.arrays[key] = Array(f"A{count}", root, rank, is_local=local, loops=loops)
        self.texts.note_sizes(root)

    def _define(self, value: ir.Value, frame: WalkPosition) -> Array:
        """The array of a value that is computed in `frame` and used by other statements."""
        if is_memref(value):
            raise ExtractionError(value.owner, "it chooses among memrefs", "keep this nest out of the polyhedral passes")
        values = dict.fromkeys(array for array in self.arrays.values() if not array.is_memory)
        local = all(is_inside(use.owner.operation, self.outside) for use in value.uses)
        array = Array(f"V{len(values)}", value, len(frame.loops), is_memory=False, is_local=local, loops=frame.loops)
        self.arrays[value] = array
        return array

    def _arrays_behind(self, value: ir.Value, own: set[ir.Value], user: ir.Operation) -> Iterator[Array]:
        """The values of other statements that `user` needs for `value`."""
        if value in own or is_memref(value) or self.outside.has(value):
            return
        if value in self.arrays:
            yield self.arrays[value]
            return
        op = defining_op(value)
        if op is None:
            return  # a loop's variable
        if not is_free(op):
            raise ExtractionError(user, f"it uses a value of '{op.name}' that no statement computes", "run --canonicalize first")
        for operand in op.operands:
            yield from self._arrays_behind(operand, own, user)


def _key(root: ir.Value) -> Hashable:
    return global_name(root) or root


def _leaves(value: ir.Value, inside: set[ir.Operation]) -> bool:
    """Whether an op that is not `inside` uses `value`."""
    return any(use.owner.operation not in inside for use in value.uses)


def _runs(ops: Sequence[ir.Operation]) -> Iterator[list[ir.Operation]]:
    """`ops` cut into single ops with regions and runs of ops between them; a terminator without values left out."""
    run: list[ir.Operation] = []
    for op in ops:
        if op.name == "affine.yield" and not len(op.operands):
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

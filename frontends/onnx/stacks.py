"""What loops keep of all their steps, stacked along an axis; and the ops on single numbers that loops are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType, mlir_type, type_of_value

_MOST_ROOM = 1 << 24
"""Bytes that are taken for steps which may not come: they cost no time, but count as memory of the call."""

_FIRST_ROWS = 16
"""Rows of the first room of a loop of which nobody knows how many steps it has."""


@dataclass(frozen=True)
class Placement:
    """Where the values of all steps end up: along which axis, and whether the first step's come last.

    `like` is a value before the loop that has the sizes of each of them, where that is known.
    """

    axis: int = 0
    is_reversed: bool = False
    like: ir.Value | None = None


@dataclass
class Stack:
    """What is kept of all steps. `value` is that of one step, `known` the number of steps where it is a number."""

    value: ir.Value
    placement: Placement
    known: ir.Value | int | None
    steps: ir.Value

    @property
    def kind(self) -> TensorType:
        raise NotImplementedError

    def begin(self) -> ir.Value:
        """What there is before the first step, built before the loop."""
        raise NotImplementedError

    def add(self, number: ir.Value, before: ir.Value) -> ir.Value:
        """`before` with the value of step `number`, in the body."""
        raise NotImplementedError

    def end(self, value: ir.Value, count: ir.Value) -> ir.Value:
        """The result, from what there is after the last step, and how many there were (an index)."""
        return value


class Slices(Stack):
    """Of a number of steps and of sizes that are known before the loop: each writes its slice of the result."""

    def begin(self) -> ir.Value:
        like = self.placement.like
        dynamic = [at for at, dim in enumerate(type_of_value(self.value).shape) if dim is None]
        self._sizes = [] if like is None else [index_of(size_along(like, at)) for at in dynamic]
        sizes = list(self._sizes)
        if not isinstance(self.known, int):
            sizes.insert(sum(at < self.axis for at in dynamic), self.steps)
        return _empty(self.kind, sizes)

    @property
    def axis(self) -> int:
        return self.placement.axis % (type_of_value(self.value).rank + 1)

    @property
    def kind(self) -> TensorType:
        shape = list(type_of_value(self.value).shape)
        shape.insert(self.axis, max(self.known, 0) if isinstance(self.known, int) else None)
        return type_of_value(self.value).with_shape(shape)

    def add(self, number: ir.Value, before: ir.Value) -> ir.Value:
        if self.placement.is_reversed:
            number = arith("subi", arith("subi", self.steps, constant(1)), number)
        given = iter(self._sizes)
        sizes: list[ir.Value | int] = [dim if isinstance(dim, int) else next(given) for dim in type_of_value(self.value).shape]
        sizes.insert(self.axis, 1)
        offsets = [number if at == self.axis else 0 for at in range(len(sizes))]
        return _inserted(self.value, before, offsets, sizes)


class Bounded(Slices):
    """Of fixed sizes, and of a number of steps that only the loop shows, up to one that is known: slices of room for all."""

    def end(self, value: ir.Value, count: ir.Value) -> ir.Value:
        found: ir.Value = dl.slice(value, as_tensor(count, (1,)), starts=[0], ends=[], axes=[self.axis], steps=[1])
        return found


def stack_of(value: ir.Value, placement: Placement, steps: ir.Value | int | None, count: ir.Value, is_counted: bool) -> Stack:
    """How the values of all steps, up to `steps` (as an index: `count`), are kept; `is_counted` says that there are as many."""
    kind = type_of_value(value)
    if is_counted and (kind.is_static or placement.like is not None):
        return Slices(value, placement, steps, count)
    if not isinstance(steps, int) or not kind.is_static or placement.is_reversed:
        return Grown(value, placement, steps if is_counted else None, count)
    room = max(steps, 0) * (kind.num_elements or 0) * NUMPY_DTYPES[kind.dtype].itemsize
    return Bounded(value, placement, steps, count) if room <= _MOST_ROOM else Grown(value, placement, None, count)


class Grown(Stack):
    """Of a number of steps, or of sizes, that only the loop shows: slices of room, which is made twice as large where it is full.

    In a counted loop the first step, which shows the sizes, makes room for all (`known` is their number).
    """

    @property
    def kind(self) -> TensorType:
        return type_of_value(self.value).with_shape([None, *type_of_value(self.value).shape])

    def begin(self) -> ir.Value:
        return _empty(self.kind, [constant(0) for dim in self.kind.shape if dim is None])

    def add(self, number: ir.Value, before: ir.Value) -> ir.Value:
        is_full = compared("eq", number, index_of(size_along(before, 0)))
        room = _chosen(self.kind, is_full, lambda: self._enlarged(number, before), lambda: before)
        place = arith("subi", arith("subi", self.steps, constant(1)), number) if self.placement.is_reversed else number
        sizes = _sizes_of(room, 1)
        return _inserted(self.value, room, [place, *[0] * len(sizes)], [1, *sizes])

    def _enlarged(self, number: ir.Value, before: ir.Value) -> ir.Value:
        """Room of more rows, with those of `before`, all of which are in use."""
        if self.known is not None:
            return self._room(self.steps, _sizes_of(self.value))

        def first() -> ir.Value:
            return self._room(arith("minsi", constant(_FIRST_ROWS), self.steps), _sizes_of(self.value))

        def further() -> ir.Value:
            twice = arith("maxsi", arith("addi", number, number), constant(_FIRST_ROWS))
            sizes = _sizes_of(before, 1)
            room = self._room(arith("minsi", twice, self.steps), sizes)
            return _inserted(before, room, [0] * self.kind.rank, [number, *sizes])

        if type_of_value(self.value).is_static:
            return further()
        return _chosen(self.kind, compared("eq", number, constant(0)), first, further)

    def _room(self, rows: ir.Value, sizes: Sequence[ir.Value | int]) -> ir.Value:
        return _empty(self.kind, [rows, *(size for size in sizes if isinstance(size, ir.Value))])

    def end(self, value: ir.Value, count: ir.Value) -> ir.Value:
        if self.known is None:
            value = dl.slice(value, as_tensor(count, (1,)), starts=[0], ends=[], axes=[0], steps=[1])
        rank = self.kind.rank
        axis = self.placement.axis % rank
        order = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
        return value if axis == 0 else dl.transpose(value, perm=order)


def _empty(kind: TensorType, sizes: Sequence[ir.Value]) -> ir.Value:
    """A tensor whose dynamic sizes are `sizes`, of no particular values."""
    return ir.Operation.create("tensor.empty", results=[mlir_type(kind)], operands=list(sizes)).result


def _inserted(part: ir.Value, whole: ir.Value, offsets: Sequence[ir.Value | int], sizes: Sequence[ir.Value | int]) -> ir.Value:
    """`whole` with `part` from `offsets` on, as many elements along each axis as `sizes` says."""
    size, offset = ir.ShapedType.get_dynamic_size(), ir.ShapedType.get_dynamic_stride_or_offset()
    dynamic = [[item for item in items if isinstance(item, ir.Value)] for items in (offsets, sizes)]
    attributes = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, *map(len, dynamic), 0]),
        "static_offsets": ir.DenseI64ArrayAttr.get([item if isinstance(item, int) else offset for item in offsets]),
        "static_sizes": ir.DenseI64ArrayAttr.get([item if isinstance(item, int) else size for item in sizes]),
        "static_strides": ir.DenseI64ArrayAttr.get([1] * len(sizes)),
    }
    operands = [part, whole, *dynamic[0], *dynamic[1]]
    return ir.Operation.create("tensor.insert_slice", results=[whole.type], operands=operands, attributes=attributes).result


def _chosen(kind: TensorType, condition: ir.Value, holds: Callable[[], ir.Value], fails: Callable[[], ir.Value]) -> ir.Value:
    """The value, of type `kind`, that one of the two builds."""
    op = ir.Operation.create("scf.if", results=[mlir_type(kind)], operands=[condition], regions=2)
    for region, build in zip(op.regions, (holds, fails), strict=True):
        with ir.InsertionPoint(region.blocks.append()):
            ir.Operation.create("scf.yield", operands=[build()])
    return op.results[0]


def _sizes_of(value: ir.Value, first: int = 0) -> list[ir.Value | int]:
    """The size along each axis from `first` on: a number, or an index."""
    sizes = [size_along(value, axis) for axis in range(first, type_of_value(value).rank)]
    return [size if isinstance(size, int) else index_of(size) for size in sizes]


def scalar(value: ir.Value) -> ir.Value:
    """The only element of a tensor."""
    kind = ir.RankedTensorType(value.type)
    operands = [value, *(constant(0) for _ in range(kind.rank))]
    return ir.Operation.create("tensor.extract", results=[kind.element_type], operands=operands).result


def constant(number: int, kind: ir.Type | None = None) -> ir.Value:
    """An `arith.constant`, an index by default."""
    kind = kind or ir.IndexType.get()
    attributes = {"value": ir.IntegerAttr.get(kind, number)}
    return ir.Operation.create("arith.constant", results=[kind], attributes=attributes).result


def size_along(value: ir.Value, axis: int) -> ir.Value | int:
    """The size along an axis: a number, or a list of one i64."""
    kind = type_of_value(value)
    dim, at = kind.shape[axis], axis % kind.rank
    return dim if isinstance(dim, int) else dl.shape_of(value, start=at, end=at + 1)


def index_of(size: ir.Value | int) -> ir.Value:
    """A size as an index."""
    if isinstance(size, int):
        return constant(size)
    return ir.Operation.create("arith.index_cast", results=[ir.IndexType.get()], operands=[scalar(size)]).result


def as_tensor(number: ir.Value, shape: Sequence[int] = ()) -> ir.Value:
    """An index as an i64 tensor of one element."""
    wide = ir.IntegerType.get_signless(64)
    given = ir.Operation.create("arith.index_cast", results=[wide], operands=[number]).result
    return ir.Operation.create(
        "tensor.from_elements", results=[mlir_type(TensorType(tuple(shape), "i64"))], operands=[given]
    ).result


def bool_type() -> ir.Type:
    return ir.IntegerType.get_signless(1)


def arith(name: str, left: ir.Value, right: ir.Value) -> ir.Value:
    return ir.Operation.create(f"arith.{name}", results=[left.type], operands=[left, right]).result


def relaxed(value: ir.Value, kind: TensorType) -> ir.Value:
    """`value` as a type that knows no more of its sizes."""
    wanted = mlir_type(kind)
    return value if value.type == wanted else ir.Operation.create("tensor.cast", results=[wanted], operands=[value]).result


def compared(how: str, left: ir.Value, right: ir.Value) -> ir.Value:
    """Whether `left` is equal to `right` (eq) or less (slt)."""
    predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), {"eq": 0, "slt": 2}[how])
    attributes = {"predicate": predicate}
    return ir.Operation.create("arith.cmpi", results=[bool_type()], operands=[left, right], attributes=attributes).result

"""What loops keep of all their steps, stacked along an axis; and the ops on single numbers that loops are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType, mlir_type, type_of_value

_MOST_ROOM = 1 << 24
"""Bytes that are taken for steps which may not come: they cost no time, but count as memory of the call."""


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
        return ir.Operation.create("tensor.empty", results=[mlir_type(self.kind)], operands=sizes).result

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
        unknown = ir.ShapedType.get_dynamic_size()
        sizes = [dim if isinstance(dim, int) else unknown for dim in type_of_value(self.value).shape]
        sizes.insert(self.axis, 1)
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        offsets = [dynamic if at == self.axis else 0 for at in range(len(sizes))]
        attributes = {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 1, len(self._sizes), 0]),
            "static_offsets": ir.DenseI64ArrayAttr.get(offsets),
            "static_sizes": ir.DenseI64ArrayAttr.get(sizes),
            "static_strides": ir.DenseI64ArrayAttr.get([1] * len(sizes)),
        }
        operands = [self.value, before, number, *self._sizes]
        return ir.Operation.create("tensor.insert_slice", results=[before.type], operands=operands, attributes=attributes).result


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
        return Grown(value, placement, None, count)
    room = max(steps, 0) * (kind.num_elements or 0) * NUMPY_DTYPES[kind.dtype].itemsize
    return Bounded(value, placement, steps, count) if room <= _MOST_ROOM else Grown(value, placement, None, count)


class Grown(Stack):
    """Of a number of steps, or of sizes, that only the loop shows: each is put at the end of those before."""

    @property
    def kind(self) -> TensorType:
        return type_of_value(self.value).with_shape([None, *type_of_value(self.value).shape])

    def begin(self) -> ir.Value:
        sizes = [constant(0) for dim in self.kind.shape if dim is None]
        return ir.Operation.create("tensor.empty", results=[mlir_type(self.kind)], operands=sizes).result

    def add(self, number: ir.Value, before: ir.Value) -> ir.Value:
        row = dl.unsqueeze(self.value, axes=[0])
        if type_of_value(self.value).is_static:
            return self._joined(before, row)
        op = ir.Operation.create(
            "scf.if", results=[mlir_type(self.kind)], operands=[compared("eq", number, constant(0))], regions=2
        )
        with ir.InsertionPoint(op.regions[0].blocks.append()):
            ir.Operation.create("scf.yield", operands=[relaxed(row, self.kind)])
        with ir.InsertionPoint(op.regions[1].blocks.append()):
            ir.Operation.create("scf.yield", operands=[self._joined(before, row)])
        return op.results[0]

    def _joined(self, before: ir.Value, row: ir.Value) -> ir.Value:
        parts = (row, before) if self.placement.is_reversed else (before, row)
        return relaxed(dl.concat(*parts, axis=0), self.kind)

    def end(self, value: ir.Value, count: ir.Value) -> ir.Value:
        rank = self.kind.rank
        axis = self.placement.axis % rank
        order = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
        return value if axis == 0 else dl.transpose(value, perm=order)


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

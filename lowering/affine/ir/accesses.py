"""Where the ops of affine loops read and write, for whoever compares, moves or rebuilds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dlc._mlir import affine, ir, vector
from dlc.analysis.buffers import (
    defining_op,
    is_memref,
    is_unaliased,
    may_alias,
    nested_ops,
    root_of,
    strides_of,
    written_values,
)
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine.ir.element_relations import Array, ElementRelation
from dlc.lowering.affine.ir.expressions import Linear, coefficient, linear_forms, result_maps
from dlc.lowering.affine.ir.index_maps import constant_of
from dlc.lowering.affine.ir.values import zeros

if TYPE_CHECKING:
    import islpy as isl

SUBSCRIPTS_AT = {"affine.load": 1, "affine.store": 2}
"""Where the subscripts of an access begin among its operands, right after the memref."""
_WITHOUT_MEMORY = ("arith.", "math.", "affine.for", "affine.yield", "affine.apply", "memref.dim", "memref.alloc")
_VIEWS = ("memref.collapse_shape", "memref.expand_shape", "memref.cast", "memref.subview")
_AFFINE = ("affine.load", "affine.store", "affine.vector_load", "affine.vector_store")
_MASKED = ("vector.maskedload", "vector.maskedstore")
_STORES = ("affine.store", "affine.vector_store", "memref.store", "vector.store", "vector.transfer_write")
_LOADS = ("affine.load", "affine.vector_load", "memref.load", "vector.load", "vector.transfer_read")
_MEMREF_AT = {**dict.fromkeys(_LOADS, 0), **dict.fromkeys(_STORES, 1)}
"""Where the memref stands among the operands of ops that read or write elements at subscripts, which follow it."""


@dataclass(frozen=True, eq=False)
class MemRefAccess:
    """One op that touches the memory of `memref`, and what is known of where.

    What is derived from the op is that of the op when it is first asked for. Of an op that is none (`access_of`), such as a
    call, nothing is known but the memref: it has no subscripts.

    An access of a statement of the polyhedral model has `elements`: which ones of which array the statement's instances touch. They
    may be those of a buffer in place of `memref`. A value that crosses statements is an array, and `memref` that value.
    """

    op: ir.Operation
    memref: ir.Value
    writes: bool
    elements: ElementRelation | None = None

    @property
    def _in_statement(self) -> ElementRelation:
        if self.elements is None:
            raise ValueError("the access belongs to no statement of a polyhedral model")
        return self.elements

    @property
    def statement_name(self) -> str:
        """The statement that has it."""
        return self._in_statement.statement_name

    @property
    def array(self) -> Array:
        """What the statement's instances touch."""
        return self._in_statement.array

    @property
    def relation(self) -> isl.Map:
        """Instances of the statement to elements of `array`."""
        return self._in_statement.relation

    @property
    def position(self) -> int:
        """The index of `op` in the statement's ops."""
        return self._in_statement.position

    @property
    def text(self) -> str:
        """`S1 reads A0`, for messages."""
        return f"{self.statement_name} {'writes' if self.writes else 'reads'} {self.array.name}"

    def redirected(self, array: Array, relation: isl.Map) -> MemRefAccess:
        """The statement's access with other elements in place of its own."""
        return replace(self, elements=replace(self._in_statement, array=array, relation=relation))

    @cached_property
    def root(self) -> ir.Value:
        """The memref that `memref` is a view of."""
        return root_of(self.memref)

    @cached_property
    def kind(self) -> ir.Type:
        """The type that moves: an element, or a vector of them."""
        if self.op.name == "vector.maskedstore":
            return self.op.operands[len(self.op.operands) - 1].type
        return self.op.operands[0].type if self.writes else self.op.results[0].type

    @cached_property
    def mask(self) -> ir.Value | None:
        """The lanes that are touched, of a masked vector."""
        return self.op.operands[len(self.op.operands) - 2] if self.op.name in _MASKED else None

    @property
    def map(self) -> ir.AffineMap:
        """The subscripts of the first element over `indices`."""
        return self._indexing[0]

    @property
    def indices(self) -> tuple[ir.Value, ...]:
        """The operands of `map`, dims first."""
        return self._indexing[1]

    @cached_property
    def _indexing(self) -> tuple[ir.AffineMap, tuple[ir.Value, ...]]:
        if self.op.name in _MASKED:
            return _applied(list(self.op.operands)[1:-2])
        begin = _MEMREF_AT[self.op.name] + 1
        if "map" in self.op.attributes:
            return self.op.attributes["map"].value, tuple(self.op.operands)[begin:]
        rank = ir.MemRefType(self.memref.type).rank
        with self.op.context:
            return ir.AffineMap.get_identity(rank), tuple(self.op.operands)[begin : begin + rank]

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for accesses of the same elements."""
        return self.memref, self.map, self.indices, self.kind, self.mask

    @cached_property
    def starts(self) -> tuple[Linear | None, ...]:
        """A form for each axis of `memref`, of the first element that is touched; None for those that are not linear."""
        return linear_forms(self.map, self.indices)

    @cached_property
    def subscripts(self) -> tuple[Linear | None, ...] | None:
        """A form for each axis of `memref`; None where more than one element is touched, or which ones is not known."""
        return self.starts if self.op.name in SUBSCRIPTS_AT else None

    @cached_property
    def widths(self) -> list[int]:
        """How many elements it takes in each dim: a vector's own dims are the memref's last ones."""
        rank = len(self.map.results)
        lanes = ir.VectorType(self.kind).shape[-rank:] if rank and isinstance(self.kind, ir.VectorType) else []
        return [1] * (rank - len(lanes)) + list(lanes)

    @cached_property
    def distance(self) -> Linear | None:
        """Elements from the start of `memref` to the first one; None where it is not linear."""
        strides, _ = strides_of(ir.MemRefType(self.memref.type))
        if ir.ShapedType.get_dynamic_stride_or_offset() in strides:
            return None
        total = Linear({})
        for form, stride in zip(self.starts, strides, strict=True):
            if form is None:
                return None
            total = total.plus(form, stride)
        return total

    @cached_property
    def flat(self) -> Linear | None:
        """The element's place in the memory of `root`, in elements."""
        if self.subscripts is None or self.distance is None or not is_plain_view(self.memref):
            return None
        _, offset = strides_of(ir.MemRefType(self.memref.type))
        return None if offset == ir.ShapedType.get_dynamic_stride_or_offset() else self.distance.plus(Linear({}, offset))

    @property
    def element(self) -> object | None:
        """Equal for accesses that surely touch the same element; None when it is not known."""
        if self.flat is not None:
            return self.root, self.flat.key
        if self.subscripts is None or any(form is None for form in self.subscripts):
            return None
        return self.memref, tuple(form.key for form in self.subscripts if form is not None)


def is_access(op: ir.Operation) -> bool:
    """Whether `op` is an affine load or store of an element or a vector, or a masked one."""
    return op.name in _AFFINE or op.name in _MASKED


def is_memory_op(op: ir.Operation) -> bool:
    """Whether `op`, of whatever dialect, reads or writes elements of a memref at subscripts without a mask."""
    return op.name in _MEMREF_AT and isinstance(op.operands[_MEMREF_AT[op.name]].type, ir.MemRefType)


def is_store(op: ir.Operation) -> bool:
    """Whether `op` is such an op that writes."""
    return op.name in _STORES and is_memory_op(op)


def access_of(op: ir.Operation) -> MemRefAccess:
    """The access of an op that is one (`is_access`, `is_memory_op`)."""
    return MemRefAccess(op, op.operands[_MEMREF_AT.get(op.name, 0)], op.name in _STORES or op.name == "vector.maskedstore")


def accesses_in(op: ir.Operation) -> Iterator[MemRefAccess]:
    """Every access of `op` and the ops inside it; ops that are not affine touch each memref they name somewhere."""
    for inner in nested_ops(op):
        if inner.name in SUBSCRIPTS_AT:
            yield access_of(inner)
        elif not inner.name.startswith((*_WITHOUT_MEMORY, *_VIEWS)):
            written = written_values(inner)
            for value in inner.operands:
                if is_memref(value):
                    yield MemRefAccess(inner, value, value in written)


def _applied(indices: Sequence[ir.Value]) -> tuple[ir.AffineMap, tuple[ir.Value, ...]]:
    """Indices that are `affine.apply`s of loop variables, loop variables or constants as one map, and its operands."""
    expressions: list[ir.AffineExpr] = []
    given: list[ir.Value] = []
    for index in indices:
        number, owner = constant_of(index), defining_op(index)
        if number is not None:
            expressions.append(ir.AffineExpr.get_constant(number))
            continue
        is_applied = owner is not None and owner.name == "affine.apply"
        map = owner.attributes["map"].value if owner is not None and is_applied else ir.AffineMap.get_identity(1)
        operands = list(owner.operands) if owner is not None and is_applied else [index]
        dims = [ir.AffineExpr.get_dim(len(given) + at) for at in range(len(operands))]
        expressions.append(substitute(map.results[0], dims[: map.n_dims], dims[map.n_dims :]))
        given += operands
    return ir.AffineMap.get(len(given), 0, expressions), tuple(given)


def indices_of(op: ir.Operation) -> list[ir.Value]:
    """The indices of an affine.load or affine.store, those of its map's dims first."""
    return list(op.operands)[SUBSCRIPTS_AT[op.name] :]


def stride_along(op: ir.Operation, index: ir.Value) -> int | None:
    """Elements by which an affine.load or affine.store moves when `index` grows by one; None where that is not fixed."""
    buffer, indexing = op.operands[SUBSCRIPTS_AT[op.name] - 1], op.attributes["map"].value
    strides, _ = strides_of(ir.MemRefType(buffer.type))
    total = 0
    for place, value in enumerate(indices_of(op)):
        for result, stride in zip(indexing.results, strides, strict=True):
            factor = coefficient(result, place) if value == index else 0
            if factor is None or (factor and stride == ir.ShapedType.get_dynamic_stride_or_offset()):
                return None
            total += factor * stride if factor else 0
    return total


def is_plain_view(value: ir.Value) -> bool:
    """Whether every view between `value` and its root counts elements of the root's own type from its start."""
    while not isinstance(value, ir.BlockArgument) and value.owner.operation.name in _VIEWS:
        value = value.owner.operation.operands[0]
    return value == root_of(value)


def are_apart(a: ir.Value, b: ir.Value) -> bool:
    """Whether the roots `a` and `b` surely share no memory."""
    return a != b and (not may_alias(a, b) or is_unaliased(a) or is_unaliased(b))


def load_from(access: MemRefAccess, location: ir.Location) -> ir.Value:
    """Load what is there, at the current insertion point."""
    if access.mask is not None:
        kind = ir.VectorType(access.kind)
        filler = zeros(kind, location)
        return vector.maskedload(kind, access.memref, _subscripts(access, location), access.mask, filler, loc=location)
    name = "affine.vector_load" if isinstance(access.kind, ir.VectorType) else "affine.load"
    attributes = {"map": ir.AffineMapAttr.get(access.map)}
    return ir.Operation.create(name, [access.kind], [access.memref, *access.indices], attributes, loc=location).results[0]


def store_to(access: MemRefAccess, value: ir.Value, location: ir.Location) -> None:
    """Store `value` there, at the current insertion point."""
    if access.mask is not None:
        vector.maskedstore(access.memref, _subscripts(access, location), access.mask, value, loc=location)
        return
    name = "affine.vector_store" if isinstance(access.kind, ir.VectorType) else "affine.store"
    attributes = {"map": ir.AffineMapAttr.get(access.map)}
    ir.Operation.create(name, [], [value, access.memref, *access.indices], attributes, loc=location)


def _subscripts(access: MemRefAccess, location: ir.Location) -> list[ir.Value]:
    """The subscripts as values."""
    return [affine.AffineApplyOp(map, list(access.indices), loc=location).result for map in result_maps(access.map)]


def steps_by_width(op: ir.Operation, variable: ir.Value, step: int) -> bool:
    """Whether a step of the loop's `variable` moves a vector access by its own width along its last dimension alone."""
    access = access_of(op)
    at = [dim for dim, operand in enumerate(access.indices) if operand == variable]
    if ir.VectorType(access.kind).rank != 1 or len(at) != 1 or at[0] >= access.map.n_dims:
        return False
    *outer, last = [coefficient(result, at[0]) for result in access.map.results]
    return all(factor == 0 for factor in outer) and last is not None and last * step == ir.VectorType(access.kind).shape[0]

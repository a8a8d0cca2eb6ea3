"""Builds linalg-level IR for the lowerings of dl ops: cheap op creation, dims that may be dynamic, broadcasting, reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from dlc._mlir import ir, linalg_regions
from dlc.dialects.dl.types import FLOATS
from dlc.lowering.dl_to_linalg.building.extents import DYNAMIC, Extent, Extents

Body: TypeAlias = Callable[..., ir.Value]

PARALLEL = "parallel"
REDUCTION = "reduction"


@dataclass
class Builder(Extents):
    """Creates ops on tensors. See `Extents` for sizes and checks of them, `Scalars` for arithmetic inside bodies."""

    # Tensors

    def tensor_type(self, shape: Sequence[Extent], dtype: str) -> ir.RankedTensorType:
        """MLIR tensor type of extents and a dl dtype (signless)."""
        return self._type_of(shape, self.element(dtype))

    def empty(self, shape: Sequence[Extent], element: ir.Type | str) -> ir.Value:
        """An uninitialised tensor."""
        element = self.element(element) if isinstance(element, str) else element
        kind = self._type_of(shape, element)
        return self.create("tensor.empty", [kind], [size for size in shape if isinstance(size, ir.Value)])

    def _type_of(self, shape: Sequence[Extent], element: ir.Type) -> ir.RankedTensorType:
        sizes = [_static(size) for size in shape]
        self.require_addressable(max(sizes, default=0))
        self.require_room(sizes)
        return ir.RankedTensorType.get(sizes, element)

    def full(self, shape: Sequence[Extent], scalar: ir.Value) -> ir.Value:
        """A tensor with every element equal to `scalar`."""
        out = self.empty(shape, scalar.type)
        attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])}
        operation = self.operation("linalg.fill", [out.type], [scalar, out], attributes, regions=1)
        linalg_regions.fill_builtin_region(operation)
        return operation.results[0]

    def cast(self, tensor: ir.Value, kind: ir.Type) -> ir.Value:
        """`tensor` with another static knowledge of its shape; nothing where the type is the same."""
        return tensor if tensor.type == kind else self.create("tensor.cast", [kind], [tensor])

    def dense(self, attribute: ir.DenseElementsAttr) -> ir.Value:
        """A constant tensor."""
        return self.create("arith.constant", [attribute.type], [], {"value": attribute})

    def create_tensor_from_elements(self, elements: Sequence[ir.Value], kind: ir.Type | None = None) -> ir.Value:
        """A rank-1 tensor of scalars (of `kind` elements; index by default)."""
        result = ir.RankedTensorType.get([len(elements)], kind or ir.IndexType.get())
        return self.create("tensor.from_elements", [result], list(elements))

    def collapse(self, tensor: ir.Value, groups: Sequence[Sequence[int]]) -> ir.Value:
        """Merge each group of neighbouring axes into one."""
        kind = self._collapsed(tensor.type, groups)
        return self.create("tensor.collapse_shape", [kind], [tensor], {"reassociation": _reassociation(groups)})

    @staticmethod
    def _collapsed(kind: ir.RankedTensorType, groups: Sequence[Sequence[int]]) -> ir.RankedTensorType:
        """The type of `kind` with each group of axes merged; dynamic where one of them is."""
        shape = []
        for group in groups:
            dims = [kind.shape[axis] for axis in group]
            shape.append(DYNAMIC if DYNAMIC in dims else _product(dims))
        return ir.RankedTensorType.get(shape, kind.element_type)

    def expand(self, tensor: ir.Value, groups: Sequence[Sequence[int]], shape: Sequence[Extent]) -> ir.Value:
        """Split axes: axis i of `tensor` becomes the axes `groups[i]` of a tensor with extents `shape`.

        An axis may be static in `tensor` and dynamic in `shape`, or the other way round.
        """
        statics = [_static(size) for size in shape]
        kind = ir.RankedTensorType.get(statics, tensor.type.element_type)
        tensor = self.cast(tensor, self._collapsed(kind, groups))
        attributes = {
            "reassociation": _reassociation(groups),
            "static_output_shape": ir.DenseI64ArrayAttr.get(statics),
        }
        dynamic = [size for size in shape if isinstance(size, ir.Value)]
        return self.create("tensor.expand_shape", [kind], [tensor, *dynamic], attributes)

    def insert_ones(self, tensor: ir.Value, axes: Sequence[int]) -> ir.Value:
        """`tensor` with axes of size 1 inserted, at the places `axes` of the result (in [0, its rank))."""
        if not axes:
            return tensor
        sizes = iter(self.shape(tensor))
        shape: list[Extent] = [1 if axis in axes else next(sizes) for axis in range(tensor.type.rank + len(axes))]
        inner = [axis for axis in range(len(shape)) if axis not in axes][1:]
        groups = [list(range(start, end)) for start, end in zip([0, *inner], [*inner, len(shape)], strict=True)]
        return self.expand(tensor, groups if tensor.type.rank else [], shape)

    def slice(self, tensor: ir.Value, offsets: Sequence[Extent], sizes: Sequence[Extent], strides: Sequence[Extent]) -> ir.Value:
        """A rectangular part: element i of axis d is `tensor[offsets[d] + i * strides[d]]`."""
        if 0 in [size for size in sizes if isinstance(size, int)]:
            return self.empty(sizes, tensor.type.element_type)  # MLIR takes no offset into an empty axis
        kind = ir.RankedTensorType.get([_static(size) for size in sizes], tensor.type.element_type)
        operands, attributes = _window([tensor], offsets, sizes, strides)
        return self.create("tensor.extract_slice", [kind], operands, attributes)

    def slice_at(self, tensor: ir.Value, axis: int, place: Extent) -> ir.Value:
        """`tensor` at one place of an axis, without that axis. No other axis may be empty."""
        sizes = self.shape(tensor)
        kept = [_static(size) for size in (*sizes[:axis], *sizes[axis + 1 :])]
        offsets: list[Extent] = [place if at == axis else 0 for at in range(len(sizes))]
        operands, attributes = _window([tensor], offsets, [*sizes[:axis], 1, *sizes[axis + 1 :]], [1] * len(sizes))
        return self.create("tensor.extract_slice", [ir.RankedTensorType.get(kept, tensor.type.element_type)], operands, attributes)

    def insert_slice(
        self, source: ir.Value, target: ir.Value, offsets: Sequence[Extent], sizes: Sequence[Extent], strides: Sequence[Extent]
    ) -> ir.Value:
        """`target` with the window replaced by `source`."""
        if 0 in [size for size in sizes if isinstance(size, int)]:
            return target
        operands, attributes = _window([source, target], offsets, sizes, strides)
        return self.create("tensor.insert_slice", [target.type], operands, attributes)

    def pad(self, tensor: ir.Value, low: Sequence[Extent], high: Sequence[Extent], value: ir.Value) -> ir.Value:
        """`tensor` with `low[d]` and `high[d]` more elements of `value` on both sides of axis d (none may be negative)."""
        if all(isinstance(size, int) and size == 0 for size in (*low, *high)):
            return tensor
        sizes = [
            self.extent("add", self.extent("add", self.dim(tensor, axis), low[axis]), high[axis])
            for axis in range(tensor.type.rank)
        ]
        return self.insert_slice(tensor, self.full(sizes, value), list(low), self.shape(tensor), [1] * tensor.type.rank)

    # Structured ops

    def generic(
        self,
        inputs: Sequence[ir.Value],
        output: ir.Value,
        maps: Sequence[ir.AffineMap],
        iterators: Sequence[str],
        body: Body,
    ) -> ir.Value:
        """A `linalg.generic` with one output; `body(*scalars)` gets input elements, then the output's, and returns one."""
        return self.generics(inputs, [output], maps, iterators, lambda *scalars: [body(*scalars)])[0]

    def generics(
        self,
        inputs: Sequence[ir.Value],
        outputs: Sequence[ir.Value],
        maps: Sequence[ir.AffineMap],
        iterators: Sequence[str],
        body: Callable[..., Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """A `linalg.generic` with any number of outputs; see `generic`. `body` returns one scalar per output."""
        attributes = {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(item) for item in maps]),
            "iterator_types": ir.ArrayAttr.get([self.iterator(item) for item in iterators]),
        }
        results = [output.type for output in outputs]
        operation = self.operation("linalg.generic", results, [*inputs, *outputs], attributes, regions=1)
        elements = [value.type.element_type for value in (*inputs, *outputs)]
        block = operation.regions[0].blocks.append(*elements, arg_locs=[self.loc] * len(elements))
        with self.inside(block):
            self.operation("linalg.yield", [], body(*block.arguments))
        return list(operation.results)

    def map(self, inputs: Sequence[ir.Value], shape: Sequence[Extent], dtype: str | ir.Type, body: Body) -> ir.Value:
        """`body` on each element of inputs that broadcast to `shape`; the result has `dtype`.

        `body` gets one scalar per input. An input may have rank 0 to the result's; its size-1 axes are repeated. Dims that are
        dynamic in an input are taken to be the result's: see `broadcasting.expand_ones` where they may be 1.
        """
        rank = len(shape)
        maps = [self._broadcast_map(value, shape) for value in inputs]
        out = self.empty(shape, dtype)
        return self.generic(
            inputs,
            out,
            [*maps, ir.AffineMap.get_identity(rank)],
            [PARALLEL] * rank,
            lambda *scalars: body(*scalars[:-1]),
        )

    def _broadcast_map(self, value: ir.Value, shape: Sequence[Extent]) -> ir.AffineMap:
        rank, own = len(shape), value.type.rank
        results = []
        for axis, size in enumerate(value.type.shape):
            target = shape[rank - own + axis]
            repeats = size == 1 and not (isinstance(target, int) and target == 1)
            results.append(ir.AffineExpr.get_constant(0) if repeats else ir.AffineExpr.get_dim(rank - own + axis))
        return ir.AffineMap.get(rank, 0, results)

    def transpose(self, tensor: ir.Value, permutation: Sequence[int]) -> ir.Value:
        """Axis i of the result is axis `permutation[i]` of `tensor`."""
        if list(permutation) == list(range(len(permutation))):
            return tensor
        shape = self.shape(tensor)
        out = self.empty([shape[axis] for axis in permutation], tensor.type.element_type)
        source = ir.AffineMap.get_permutation(_inverse(permutation))
        identity = ir.AffineMap.get_identity(len(permutation))
        return self.generic([tensor], out, [source, identity], [PARALLEL] * len(permutation), lambda element, _: element)

    def reduce(self, inputs: Sequence[ir.Value], axes: Sequence[int], init: ir.Value, body: Body) -> ir.Value:
        """Reduce `axes` of inputs of one shape: `body(*elements, acc)`, starting from the scalar `init`; axes are dropped."""
        rank = inputs[0].type.rank
        shape = self.shape(inputs[0])
        kept = [axis for axis in range(rank) if axis not in set(axes)]
        identity = ir.AffineMap.get_identity(rank)
        target = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(axis) for axis in kept])
        out = self.full([shape[axis] for axis in kept], init)
        iterators = [PARALLEL if axis in kept else REDUCTION for axis in range(rank)]
        return self.generic(inputs, out, [*[identity] * len(inputs), target], iterators, body)

    def loop(self, count: Extent, starts: Sequence[ir.Value], body: Callable[..., Sequence[ir.Value]]) -> list[ir.Value]:
        """An `scf.for` from 0 to `count`: `body(index, *carried)` returns the carried values of the next step."""
        bounds = [self.index(0), self.index(count), self.index(1)]
        kinds = [start.type for start in starts]
        operation = self.operation("scf.for", kinds, [*bounds, *starts], regions=1)
        types = [ir.IndexType.get(), *kinds]
        block = operation.regions[0].blocks.append(*types, arg_locs=[self.loc] * len(types))
        with self.inside(block):
            self.operation("scf.yield", [], body(*block.arguments))
        return list(operation.results)

    def branch(
        self, condition: ir.Value, kind: ir.Type, then: Callable[[], ir.Value], otherwise: Callable[[], ir.Value]
    ) -> ir.Value:
        """An `scf.if` on the i1 `condition` with one result of `kind`, which each side makes in its own block."""
        operation = self.operation("scf.if", [kind], [condition], regions=2)
        for region, make in zip(operation.regions, (then, otherwise), strict=True):
            with self.inside(region.blocks.append()):
                self.operation("scf.yield", [], [make()])
        return operation.results[0]

    # Places

    @contextmanager
    def inside(self, block: ir.Block) -> Iterator[None]:
        """Create ops at the end of `block` within the `with` statement."""
        outer = self.ip
        self.ip = ir.InsertionPoint(block)
        try:
            yield
        finally:
            self.ip = outer


def accumulator_dtype(dtype: str) -> str:
    """The dtype in which sums and products of `dtype` accumulate: f32 for f16 and bf16, else itself."""
    return "f32" if dtype in FLOATS and dtype != "f64" else dtype


def _static(size: Extent) -> int:
    return size if isinstance(size, int) else DYNAMIC


def _product(dims: Sequence[int]) -> int:
    count = 1
    for dim in dims:
        count *= dim
    return count


def _inverse(permutation: Sequence[int]) -> list[int]:
    inverse = [0] * len(permutation)
    for position, axis in enumerate(permutation):
        inverse[axis] = position
    return inverse


def _reassociation(groups: Sequence[Sequence[int]]) -> ir.ArrayAttr:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in group]) for group in groups])


def _window(
    tensors: Sequence[ir.Value], offsets: Sequence[Extent], sizes: Sequence[Extent], strides: Sequence[Extent]
) -> tuple[list[ir.Value], dict[str, ir.Attribute]]:
    """Operands and attributes shared by extract_slice and insert_slice."""
    parts = (offsets, sizes, strides)
    dynamic = [[size for size in part if isinstance(size, ir.Value)] for part in parts]
    segments = [*[1] * len(tensors), *[len(part) for part in dynamic]]
    attributes: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments)}
    for name, part in zip(("static_offsets", "static_sizes", "static_strides"), parts, strict=True):
        attributes[name] = ir.DenseI64ArrayAttr.get([_static(size) for size in part])
    return [*tensors, *[value for part in dynamic for value in part]], attributes

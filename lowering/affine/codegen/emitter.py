"""Emits a loop body again, once for a whole tile of iterations: several copies, each on a vector of lanes."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import affine, ir, vector
from dlc.lowering.affine.codegen.scattering import scatter
from dlc.lowering.affine.codegen.vector_loads import VectorAddress, gather, load_repeated, load_spaced, load_vector
from dlc.lowering.affine.ir.expressions import block_size, result_maps, shifted
from dlc.lowering.affine.ir.lanes import LaneFacts
from dlc.lowering.affine.ir.loops import Bound, Loop, apply, build_for, real_ops
from dlc.lowering.affine.ir.values import Instance, TileValues
from dlc.lowering.policy import policy

_FUSED = ("#arith.fastmath<contract>", "#arith.fastmath<none>")
"""Sums of products with these flags become one instruction that rounds once."""
_LEAST_FUSED_BITS = 32


class TileEmitter:
    """Re-emits blocks at the insertion point in terms of `values`; `facts` tells what each op does in the lanes.

    Ops that depend on no tile dimension are emitted once, and ops that are the same in all lanes stay scalar. Products are
    emitted with the sum that takes them, except for the `sums` that the caller emits.
    """

    def __init__(self, values: TileValues, facts: LaneFacts | None, sums: Sequence[ir.Operation] = ()) -> None:
        self.values = values
        self.facts = facts if values.lanes else None
        self.sums = sums

    def block(self, block: ir.Block) -> None:
        """Emit every op of `block` but its terminator."""
        self.ops(real_ops(block))

    def ops(self, ops: Sequence[ir.Operation]) -> None:
        """Emit `ops`, in order."""
        for op in ops:
            with op.location:
                self.op(op)

    def op(self, op: ir.Operation) -> None:
        """Emit the copies of one op."""
        if op.name == "affine.for":
            self._loop(op)
        elif op.name == "affine.load" or op.name == "memref.load":
            self._load(op)
        elif op.name == "affine.store":
            self._store(op)
        elif self._is_part_of_sum(op):
            return  # emitted with the sum that takes it
        elif products := self._products_of(op):
            self._multiply_add(op, products)
        else:
            self._compute(op)

    def _is_part_of_sum(self, op: ir.Operation) -> bool:
        """Whether `op` is a product, or the sum of two, that is emitted with the sum that takes it."""
        if op.name not in ("arith.mulf", "arith.addf") or self.facts is None:
            return False
        user = _only_user(op)
        outer = None if user is None else _only_user(user)
        taken = [product for each in (user, outer) if each is not None for product in self._products_of(each)]
        return any(op in (product, _only_user(product)) for product in taken)

    def _products_of(self, op: ir.Operation) -> list[ir.Operation]:
        """The products that become multiply-adds with the sum `op`: `accumulator + a * b`, or `accumulator + (a * b + c * d)`."""
        if op.name != "arith.addf" or self.facts is None or op.results[0].type.width < _LEAST_FUSED_BITS:
            return []
        if any(op == other for other in self.sums):
            return []
        added = [operand.owner.operation for operand in op.operands if not isinstance(operand.owner, ir.Block)]
        if len(added) != 1:
            return []
        sums = [op]
        products = added
        if added[0].name == "arith.addf":
            sums.append(added[0])
            products = [operand.owner.operation for operand in added[0].operands if not isinstance(operand.owner, ir.Block)]
        parts = [*sums[1:], *products]
        if len(parts) not in (1, 3) or any(product.name != "arith.mulf" for product in products):
            return []
        alone = all(part.block == op.block and _only_user(part) is not None for part in parts)
        exact = all(str(each.attributes["fastmath"]) in _FUSED for each in (op, *parts) if "fastmath" in each.attributes)
        return products if alone and exact and all(product.results[0] in self.facts.varying for product in products) else []

    def _multiply_add(self, op: ir.Operation, products: Sequence[ir.Operation]) -> None:
        values = self.values
        accumulator = next(operand for operand in op.operands if isinstance(operand.owner, ir.Block))
        for product in products:
            operands = [*product.operands, accumulator]
            dims = values.dims_of(operands)
            # Vector by vector, what all lanes share would stay in registers from the first to the last: 6x16 spills on AVX2.
            made = {
                tuple(at.values()): vector.FMAOp(*[values.vector(operand, at) for operand in operands]).result
                for at in sorted(values.instances(dims), key=self._vectors_last)
            }
            accumulator = op.results[0] if product == products[-1] else product.results[0]
            values.define(accumulator, dims, [made[tuple(at.values())] for at in values.instances(dims)], True)

    def _vectors_last(self, at: Instance) -> tuple[list[int], int]:
        lane_dim = self.values.lane_dim
        return [index for dim, index in at.items() if dim != lane_dim], 0 if lane_dim is None else at.get(lane_dim, 0)

    def _stride(self, op: ir.Operation) -> int:
        return self.facts.strides[op] if self.facts else 0

    def _compute(self, op: ir.Operation) -> None:
        values = self.values
        dims = values.dims_of(op.operands)
        in_lanes = self.facts is not None and op.results[0] in self.facts.varying
        attributes = dict(op.attributes.items())
        copies = []
        for at in values.instances(dims):
            pick = values.vector if in_lanes else values.scalar
            kinds = [values.vector_type(result.type) if in_lanes else result.type for result in op.results]
            operands = [pick(operand, at) for operand in op.operands]
            copy = ir.Operation.create(op.name, results=kinds, operands=operands, attributes=_widen(attributes, kinds))
            copies.append(copy.results[0])
        values.define(op.results[0], dims, copies, in_lanes)

    def _load(self, op: ir.Operation) -> None:
        subscripts = list(op.operands)[1:]
        dims = self.values.dims_of(subscripts)
        copies = [self._load_copy(op, subscripts, at) for at in self.values.instances(dims)]
        self.values.define(op.results[0], dims, copies, self._stride(op) != 0)

    def _load_copy(self, op: ir.Operation, subscripts: list[ir.Value], at: Instance) -> ir.Value:
        stride = self._stride(op)
        if self.facts and op in self.facts.lanewise:
            lanes = [self._load_lane(op, subscripts, at, lane) for lane in range(self.values.lanes)]
            return vector.FromElementsOp(self.values.vector_type(op.results[0].type), lanes).result
        if stride == 0:
            return self._load_lane(op, subscripts, at, 0)
        new_map, operands = self.values.subscripts(subscripts, _indexing(op), at)
        place = VectorAddress(op.operands[0], tuple(operands), new_map, op.name == "affine.load")
        kind = self.values.vector_type(op.results[0].type)
        mask = None if self._lies_in_block(op, subscripts) else self.values.mask(at)
        if self.facts and op in self.facts.repeats:
            return load_repeated(kind, place, self.facts.repeats[op], mask)
        if stride == 1:
            return load_vector(kind, place, mask)
        if 2 <= stride <= policy().tiles.spaced_elements:
            return load_spaced(kind, place, stride, mask)
        return gather(kind, place, stride, mask)

    def _lies_in_block(self, op: ir.Operation, subscripts: list[ir.Value]) -> bool:
        """Whether all lanes exist in memory, in range or not: those of a block of columns, the last of which may be filled up.

        A load with a mask takes an instruction of the units that multiply: 1000x10x1000 takes 0.95 of the time without.
        """
        values = self.values
        if op.name != "affine.load" or values.lane_dim is None:
            return False
        places = [place for place, value in enumerate(subscripts) if value == values.dims[values.lane_dim].iv]
        last = len(subscripts) and op.attributes["map"].value.results[-1]
        width = op.operands[0].type.shape[-1]
        return len(places) == 1 and width % values.lanes == 0 and block_size(last, places[0]) == width

    def _load_lane(self, op: ir.Operation, subscripts: list[ir.Value], at: Instance, lane: int) -> ir.Value:
        """Load the scalar of lane `lane`."""
        new_map, operands = self.values.subscripts(subscripts, _indexing(op), at)
        new_map = shifted(new_map, self.values.lane_offset(subscripts, lane))
        if op.name == "memref.load":
            operands = [apply(single, operands) for single in result_maps(new_map)]
            attributes = {}
        else:
            attributes = {"map": ir.AffineMapAttr.get(new_map)}
        return ir.Operation.create(
            op.name, results=[op.results[0].type], operands=[op.operands[0], *operands], attributes=attributes
        ).results[0]

    def _store(self, op: ir.Operation) -> None:
        if self.facts and op in self.facts.scattered:
            scatter(self.values, op)
            return
        value, buffer, *subscripts = op.operands
        for at in self.values.instances(self.values.dims_of([value, *subscripts])):
            new_map, operands = self.values.subscripts(subscripts, _indexing(op), at)
            if self._stride(op) == 0:
                self._store_scalar(self.values.scalar(value, at), buffer, operands, new_map)
                continue
            whole = self.values.vector(value, at)
            mask = self.values.mask(at)
            if self.facts and op in self.facts.lanewise:
                self._store_lanes(whole, buffer, operands, new_map, subscripts)
            elif mask is None:
                affine.AffineVectorStoreOp(whole, buffer, operands, new_map)
            else:
                indices = [apply(single, operands) for single in result_maps(new_map)]
                vector.MaskedStoreOp(buffer, indices, mask.vector(), whole)

    def _store_lanes(
        self, whole: ir.Value, buffer: ir.Value, operands: list[ir.Value], indexing: ir.AffineMap, old: list[ir.Value]
    ) -> None:
        for lane in range(self.values.lanes):
            element = vector.ExtractOp(whole, [], [lane]).result
            there = shifted(indexing, self.values.lane_offset(old, lane))
            self._store_scalar(element, buffer, operands, there)

    @staticmethod
    def _store_scalar(value: ir.Value, buffer: ir.Value, operands: list[ir.Value], indexing: ir.AffineMap) -> None:
        attributes = {"map": ir.AffineMapAttr.get(indexing)}
        ir.Operation.create("affine.store", operands=[value, buffer, *operands], attributes=attributes)

    def _loop(self, op: ir.Operation) -> None:
        """A loop inside the tile: its accumulators get one copy for every copy of the body."""
        lower, upper, step = self._bounds(op)
        self._define_all(list(op.results), self._run(op, lower, upper, step, self._inits(op)))

    def _inits(self, op: ir.Operation) -> list[ir.Value]:
        """The initial values of the accumulators of loop `op`, one for every copy of the body."""
        lower, upper, _ = op.attributes["operandSegmentSizes"]
        return self._copies(list(op.operands)[lower + upper :])

    def _copies(self, values: Sequence[ir.Value]) -> list[ir.Value]:
        """Every copy of each of `values`, as what loops carry."""
        pick = self.values.vector if self.facts else self.values.scalar
        every = tuple(range(len(self.values.dims)))
        return [pick(value, at) for value in values for at in self.values.instances(every)]

    def _run(
        self, op: ir.Operation, lower: Bound, upper: Bound, step: int, inits: Sequence[ir.Value], unroll: int = 1
    ) -> list[ir.Value]:
        """Emit a loop with the body of `op`, `unroll` steps of it one after the other; returns its results."""
        values, body = self.values, op.regions[0].blocks[0]
        loop = build_for(lower, upper, step * unroll, inits)
        new = loop.regions[0].blocks[0]
        carried = list(new.arguments)[1:]
        with ir.InsertionPoint(new):
            values.enter_body()
            self._enter(op, new.arguments[0])
            for copy in range(unroll):
                values.define_index(body.arguments[0], new.arguments[0], copy * step)
                self._define_all(list(body.arguments)[1:], carried)
                self.block(body)
                carried = self._copies(list(list(body.operations)[-1].operands))
            affine.AffineYieldOp(carried)
            values.leave_body()
        return list(loop.results)

    def _enter(self, op: ir.Operation, iv: ir.Value) -> None:
        """Emit what else belongs at the start of the body of loop `op`, whose induction variable is now `iv`."""

    def _define_all(self, old: Sequence[ir.Value], new: Sequence[ir.Value]) -> None:
        every = tuple(range(len(self.values.dims)))
        share = len(new) // max(1, len(old))
        for index, value in enumerate(old):
            self.values.define(value, every, new[index * share : (index + 1) * share], self.facts is not None)

    def _bounds(self, op: ir.Operation) -> tuple[Bound, Bound, int]:
        count = list(op.attributes["operandSegmentSizes"])
        operands = [self.values.scalar(operand, {}) for operand in list(op.operands)[: count[0] + count[1]]]
        lower = Bound(op.attributes["lowerBoundMap"].value, tuple(operands[: count[0]]))
        upper = Bound(op.attributes["upperBoundMap"].value, tuple(operands[count[0] :]))
        return lower, upper, ir.IntegerAttr(op.attributes["step"]).value


def _only_user(op: ir.Operation) -> ir.Operation | None:
    """The op that takes the result of `op`, if that is the only use."""
    uses = [use for result in op.results for use in result.uses]
    return uses[0].owner.operation if len(uses) == 1 else None


def copy_loop(loop: Loop, values: TileValues) -> ir.Operation:
    """An empty loop with the bounds of `loop`, whose induction variable stands for the old one."""
    made = build_for(Bound.constant(0), loop.upper, parallel=loop.parallel)
    values.define(loop.iv, (), [made.regions[0].blocks[0].arguments[0]], False)
    return made


def _indexing(op: ir.Operation) -> ir.AffineMap:
    if op.name == "memref.load":
        return ir.AffineMap.get_identity(len(op.operands) - 1)
    return op.attributes["map"].value


def _widen(attributes: dict[str, ir.Attribute], kinds: list[ir.Type]) -> dict[str, ir.Attribute]:
    """`attributes` with a constant's value made a vector where the result is one."""
    value = attributes.get("value")
    if isinstance(kinds[0], ir.VectorType) and isinstance(value, (ir.FloatAttr, ir.IntegerAttr)):
        return attributes | {"value": ir.DenseElementsAttr.get_splat(kinds[0], value)}
    return attributes

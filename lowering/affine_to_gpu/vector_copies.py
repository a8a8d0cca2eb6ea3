"""The iterations of a loop written out, with vectors for what they load and store side by side."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from dlc._mlir import affine, arith, ir
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of
from dlc.lowering.affine.ir.affine_builder import AffineScope, substitute
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.outlining import clone_replacing


@dataclass(eq=False)
class VectorCopies:
    """`count` copies of the body of `loop`.

    `lanes` says how many neighbours an access takes as one vector, which `count` is a multiple of; accesses that it does not name
    go one by one. Loads in `fixed` are of one element for all copies.
    """

    loop: ir.Operation
    count: int
    lanes: Mapping[ir.Operation, int]
    fixed: Set[ir.Operation]
    loaded: dict[ir.Operation, list[ir.Value]] = field(default_factory=dict)
    """The elements that a load gives, copy by copy."""
    stored: dict[ir.Operation, list[ir.Value]] = field(default_factory=dict)

    @property
    def body(self) -> ir.Block:
        """The block that the loop repeats."""
        return self.loop.regions[0].blocks[0]

    def emit(self) -> list[ir.Value]:
        """Emit the copies at the insertion point; returns what the loop carries after them."""
        ops = real_ops(self.body)
        for op in ops:
            if op in self.lanes and op.name == "affine.load":
                self.loaded[op] = self._load(access_of(op), self.lanes[op])
        variable, *carried = self.body.arguments
        lowers, uppers, _ = ir.DenseI32ArrayAttr(self.loop.attributes["operandSegmentSizes"])
        values = list(self.loop.operands)[lowers + uppers :]
        yielded = list(list(self.body.operations)[-1].operands)
        shared: dict[ir.Value, ir.Value] = {}
        for number in range(self.count):
            known = {**shared, **dict(zip(carried, values, strict=True))}
            known[variable] = arith.ConstantOp(ir.IndexType.get(), number).result
            self._copy(number, known, shared)
            values = [known.get(value, value) for value in yielded]
        for op, elements in self.stored.items():
            self._store(access_of(op), self.lanes[op], elements)
        return values

    def _copy(self, number: int, known: dict[ir.Value, ir.Value], shared: dict[ir.Value, ir.Value]) -> None:
        """Emit copy `number`; `shared` holds what all copies have in common."""
        for op in real_ops(self.body):
            if op in self.loaded:
                known[op.results[0]] = self.loaded[op][number]
            elif op in self.lanes:
                self.stored.setdefault(op, []).append(known.get(op.operands[0], op.operands[0]))
            elif op not in self.fixed:
                clone_replacing(op, known)
            elif op.results[0] not in shared:
                shared[op.results[0]] = clone_replacing(op, known).results[0]

    def _load(self, access: MemRefAccess, lanes: int) -> list[ir.Value]:
        """Emit the loads of all copies; the elements."""
        element = ir.MemRefType(access.memref.type).element_type
        kind, found = ir.VectorType.get([lanes], element), list[ir.Value]()
        for start in range(0, self.count, lanes):
            map, indices = self._place(access, start)
            vector = affine.AffineVectorLoadOp(kind, access.memref, indices, ir.AffineMapAttr.get(map)).result
            for place in range(lanes):
                attributes = {"static_position": ir.DenseI64ArrayAttr.get([place])}
                found.append(ir.Operation.create("vector.extract", [element], [vector], attributes).results[0])
        return found

    def _store(self, access: MemRefAccess, lanes: int, elements: list[ir.Value]) -> None:
        """Emit the stores of all copies."""
        kind = ir.VectorType.get([lanes], ir.MemRefType(access.memref.type).element_type)
        for start in range(0, self.count, lanes):
            map, indices = self._place(access, start)
            vector = ir.Operation.create("vector.from_elements", [kind], elements[start : start + lanes]).results[0]
            attributes = {"map": ir.AffineMapAttr.get(map)}
            ir.Operation.create("affine.vector_store", operands=[vector, access.memref, *indices], attributes=attributes)

    def _place(self, access: MemRefAccess, number: int) -> tuple[ir.AffineMap, list[ir.Value]]:
        """The subscripts of copy `number`."""
        count, variable = access.map.n_dims, self.body.arguments[0]
        scope = AffineScope(list(access.indices[:count]), list(access.indices[count:]))
        dims = [
            ir.AffineExpr.get_constant(number) if value == variable else ir.AffineExpr.get_dim(at)
            for at, value in enumerate(access.indices[:count])
        ]
        symbols = [ir.AffineExpr.get_symbol(at) for at in range(len(access.indices) - count)]
        return scope.map([substitute(result, dims, symbols) for result in access.map.results])

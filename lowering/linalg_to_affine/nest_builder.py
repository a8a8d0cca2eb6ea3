"""Builds the affine loop nest of one `linalg.generic` on buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlc._mlir import affine, arith, ir
from dlc.lowering.affine.ir.loops import Bound, build_for
from dlc.lowering.linalg_to_affine.generic import Generic, uses_loop


class NestBuilder:
    """Emits parallel loops outside, then reduction loops that carry the outputs as accumulators.

    Outputs that move with a reduction loop and are not read are stored in each step of it. Where one is read, or a parallel loop
    does not select an output element, the order of iterations matters: then the loops keep linalg's order, carry no mark, and
    accumulate in memory.
    """

    def __init__(self, generic: Generic, starts: Sequence[ir.Value | None] = ()) -> None:
        """`starts` gives, for each output, the value that all its elements hold before the op, where that is known."""
        self.generic = generic
        self.bounds = generic.bounds()
        self.ivs: list[ir.Value | None] = [None] * len(self.bounds)
        self.outputs = list(range(generic.num_inputs, len(generic.operands)))
        self.starts = list(starts) or [None] * len(self.outputs)
        self.ordered = generic.ordered

    def emit(self) -> None:
        """Emit the nest at the insertion point."""
        every = list(range(len(self.bounds)))
        outer = every if self.ordered else [loop for loop in every if self.generic.parallel[loop]]
        self._parallel(self._repeated(outer))

    def _repeated(self, loops: list[int]) -> list[int]:
        """`loops` without those of one iteration, which are index 0; but one of them, if there is no other."""
        once = [loop for loop in loops if self.bounds[loop].static == 1]
        for loop in once if len(once) < len(loops) else once[1:]:
            self.ivs[loop] = arith.constant(ir.IndexType.get(), 0)
        return [loop for loop in loops if self.ivs[loop] is None]

    def _parallel(self, loops: list[int]) -> None:
        if not loops:
            self._point()
            return
        with self._loop(loops[0], parallel=not self.ordered):
            self._parallel(loops[1:])
            affine.AffineYieldOp([])

    def _point(self) -> None:
        """One element of the outputs: load them, reduce, store."""
        generic = self.generic
        if self.ordered or not generic.reductions:
            results = self._body({output: self._load(output) for output in self.outputs if generic.reads(output)})
            stored = self.outputs
        else:
            starts = dict(zip(self.outputs, self.starts, strict=True))
            stored = [output for output in self.outputs if not generic.moves(output)]
            inits = [self._load(output) if starts[output] is None else starts[output] for output in stored]
            results = self._reduce(generic.reductions, [init for init in inits if init is not None])
        for output, value in zip(stored, results, strict=True):
            self._store(output, value)

    def _reduce(self, loops: list[int], inits: list[ir.Value]) -> list[ir.Value]:
        if not loops:
            return self._step(inits)
        with self._loop(loops[0], inits) as loop:
            accumulators = list(loop.regions[0].blocks[0].arguments)[1:]
            affine.AffineYieldOp(self._reduce(loops[1:], accumulators))
        return list(loop.results)

    def _step(self, accumulators: list[ir.Value]) -> list[ir.Value]:
        """One step of all reductions: store what moves with them, return what they carry on."""
        carried = [output for output in self.outputs if not self.generic.moves(output)]
        results = dict(zip(self.outputs, self._body(dict(zip(carried, accumulators, strict=True))), strict=True))
        for output in self.outputs:
            if output not in carried:
                self._store(output, results[output])
        return [results[output] for output in carried]

    def _loop(self, index: int, inits: Sequence[ir.Value] = (), parallel: bool = False) -> _Inside:
        loop = build_for(Bound.constant(0), self.bounds[index], inits=inits, parallel=parallel)
        self.ivs[index] = loop.regions[0].blocks[0].arguments[0]
        return _Inside(loop)

    def _access(self, operand: int) -> tuple[list[ir.Value], ir.AffineMapAttr]:
        """The subscripts of `operand`: the loops it uses, and a map over just these."""
        indexing = self.generic.maps[operand]
        used = [loop for loop in range(len(self.ivs)) if uses_loop(indexing, loop)]
        dims = [ir.AffineDimExpr.get(used.index(loop) if loop in used else 0) for loop in range(len(self.ivs))]
        rename = ir.AffineMap.get(len(used), 0, dims)
        results = [expression.compose(rename) for expression in indexing.results]
        ivs = [iv for loop in used if (iv := self.ivs[loop]) is not None]
        return ivs, ir.AffineMapAttr.get(ir.AffineMap.get(len(used), 0, results))

    def _load(self, operand: int) -> ir.Value:
        value = self.generic.operands[operand]
        if not isinstance(value.type, ir.MemRefType):
            return value
        ivs, indexing = self._access(operand)
        result = ir.MemRefType(value.type).element_type
        return ir.Operation.create("affine.load", results=[result], operands=[value, *ivs], attributes={"map": indexing}).results[0]

    def _store(self, operand: int, value: ir.Value) -> None:
        ivs, indexing = self._access(operand)
        buffer = self.generic.operands[operand]
        ir.Operation.create("affine.store", operands=[value, buffer, *ivs], attributes={"map": indexing})

    def _body(self, olds: Mapping[int, ir.Value]) -> list[ir.Value]:
        """Emit the scalar computation on outputs that are `olds`; returns what it yields."""
        values = {self.generic.body.arguments[output]: old for output, old in olds.items()}
        for operand, argument in enumerate(self.generic.body.arguments[: self.generic.num_inputs]):
            if self.generic.reads(operand):
                values[argument] = self._load(operand)
        *ops, terminator = [op.operation for op in self.generic.body.operations]
        for op in ops:
            if op.name == "linalg.index":
                iv = self.ivs[ir.IntegerAttr(op.attributes["dim"]).value]
                assert iv is not None
                values[op.results[0]] = iv
                continue
            _clone(op, values)
        return [values.get(value, value) for value in terminator.operands]


class _Inside:
    """`with` moves the insertion point into the loop's body."""

    def __init__(self, loop: ir.Operation) -> None:
        self.loop = loop
        self.point = ir.InsertionPoint(loop.regions[0].blocks[0])

    def __enter__(self) -> ir.Operation:
        self.point.__enter__()
        return self.loop

    def __exit__(self, *error: object) -> None:
        self.point.__exit__(*error)


def _clone(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Clone `op`, with the ops inside it, in terms of `values`."""
    copy = op.clone()

    def rename(inner: ir.Operation) -> ir.WalkResult:
        for place, operand in enumerate(inner.operands):
            if operand in values:
                inner.operands[place] = values[operand]
        return ir.WalkResult.ADVANCE

    copy.operation.walk(rename)
    for old, new in zip(op.results, copy.operation.results, strict=True):
        values[old] = new

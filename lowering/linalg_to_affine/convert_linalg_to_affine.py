"""linalg on buffers becomes affine loops over plain loads and stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dlc._mlir import ir, linalg_regions
from dlc.analysis.buffers import is_contiguous, is_linalg
from dlc.lowering.linalg.buffer_sizes import unify_sizes
from dlc.lowering.linalg_to_affine.generic import Generic, dim_position
from dlc.lowering.linalg_to_affine.nest_builder import NestBuilder
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import Pass, PassFailure

_VIEWS_OF_ALL = ("memref.collapse_shape", "memref.expand_shape", "memref.cast")
_WITHOUT_EFFECTS = ("arith.", "math.", "memref.dim", "memref.alloc", "memref.subview", *_VIEWS_OF_ALL)


@dataclass(frozen=True)
class ConvertLinalgToAffine(Pass):
    """Turn linalg ops on buffers into affine loop nests.

    before: linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
    after:  affine.for %m = 0 to 4 { affine.for %n = 0 to 6 {
              %r = affine.for %k = 0 to 8 iter_args(%acc = ...) { loads, mulf, addf, yield }
              affine.store %r, %c[%m, %n] } {dlc.parallel} } {dlc.parallel}

    Parallel loops come first, in linalg's order, and carry `dlc.parallel`; reduction loops come inside them and carry the
    outputs as accumulators. A fill that comes just before a reduction into the same buffer becomes the accumulators'
    start. Copies between strided buffers become loops; contiguous ones stay `memref.copy`. Loads and stores of buffers with
    one element and no axes are affine ones, too, so that values go from those to these. Sizes of arguments that have one name
    (`dl.dims`) are one value, so that loops over them are seen to have the same bounds.
    """

    def run(self, op: ir.Operation) -> None:
        """Convert every linalg op of the module."""
        _refuse_tensors(op)
        for inner in _collect(op, is_linalg):
            if inner.parent.operation.name.startswith("linalg."):
                raise PassFailure(inner, f"'{inner.name}' lies in the body of another linalg op", "move it out of there")
        for function in _collect(op, lambda found: found.name == "func.func" and len(found.regions[0].blocks) > 0):
            unify_sizes(function)
        for copy in _collect(op, _is_strided_copy):
            _make_linalg(copy)
        run_native(op, "func.func(linalg-generalize-named-ops)")
        generics = [Generic.of(found) for found in _collect(op, lambda found: found.name == "linalg.generic")]
        starts = [[_fill_before(generic, value) for value in generic.outputs] for generic in generics]
        folded = {fill.op for fills in starts for fill in fills if fill}
        left = [(generic, fills) for generic, fills in zip(generics, starts, strict=True) if generic.op not in folded]
        for generic, fills in left:
            _convert(generic, [fill.operands[0] if fill else None for fill in fills])
        for fill in folded:
            fill.erase()
        for access in _collect(op, _is_scalar_access):
            _convert_scalar_access(access)
        for stray in _collect(op, lambda found: found.name.startswith("linalg.")):
            raise PassFailure(stray, f"'{stray.name}' has no loop form", "decompose it into linalg.generic first")


def _make_linalg(copy: ir.Operation) -> None:
    """Replace a `memref.copy` by a `linalg.copy`."""
    sizes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])}
    with ir.InsertionPoint(copy), copy.location:
        made = ir.Operation.create("linalg.copy", operands=list(copy.operands), attributes=sizes, regions=1)
    linalg_regions.fill_builtin_region(made)
    copy.erase()


def _collect(root: ir.Operation, wanted: Callable[[ir.Operation], bool]) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if wanted(op):
            found.append(op)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _refuse_tensors(module: ir.Operation) -> None:
    for op in _collect(module, lambda found: found.name.startswith(("linalg.", "tensor.", "dl."))):
        if any(isinstance(value.type, ir.RankedTensorType) for value in (*op.operands, *op.results)):
            raise PassFailure(op, "convert-linalg-to-affine needs memrefs", "run one-shot-bufferize first")


def _is_strided_copy(op: ir.Operation) -> bool:
    """Whether a copy is loops: not that of one run of elements in a branch or loop, whose sizes may be no symbols there."""
    if op.name != "memref.copy" or not all(isinstance(value.type, ir.MemRefType) for value in op.operands):
        return False
    if not any(isinstance(value.type.layout, ir.StridedLayoutAttr) for value in op.operands):
        return False
    return op.parent.operation.name == "func.func" or not all(is_contiguous(value.type) for value in op.operands)


def _is_scalar_access(op: ir.Operation) -> bool:
    """Whether `op` loads or stores an element of a buffer without axes."""
    at = {"memref.load": 0, "memref.store": 1}.get(op.name)
    return at is not None and ir.MemRefType(op.operands[at].type).rank == 0


def _convert_scalar_access(op: ir.Operation) -> None:
    """The same as an op of the affine dialect."""
    place = {"map": ir.AffineMapAttr.get(ir.AffineMap.get(0, 0, []))}
    name, kinds = op.name.replace("memref", "affine"), [result.type for result in op.results]
    with ir.InsertionPoint(op), op.location:
        made = ir.Operation.create(name, results=kinds, operands=list(op.operands), attributes=place)
    for old, new in zip(op.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def _convert(generic: Generic, starts: list[ir.Value | None]) -> None:
    with ir.InsertionPoint(generic.op), generic.op.location:
        NestBuilder(generic, starts).emit()
    generic.op.erase()


def _fill_before(generic: Generic, output: ir.Value) -> Generic | None:
    """The fill of the whole of `output` whose value the reduction `generic` starts from, when nothing comes between."""
    if all(generic.parallel) or generic.ordered or not _covers(generic, generic.operands.index(output)):
        return None
    if [_buffer(operand) for operand in generic.operands].count(_buffer(output)) > 1:
        return None
    siblings = [op.operation for op in generic.op.block.operations]
    for op in reversed(siblings[: siblings.index(generic.op)]):
        if op.name == "linalg.generic":
            return _as_fill(op, output)
        if not op.name.startswith(_WITHOUT_EFFECTS):
            return None
    return None


def _as_fill(op: ir.Operation, output: ir.Value) -> Generic | None:
    """`op` as the fill of the whole of `output` with one scalar, or None."""
    fill = Generic.of(op)
    body = [inner.operation for inner in fill.body.operations]
    yields_scalar = len(body) == 1 and len(fill.inputs) == 1 and body[0].operands[0] == fill.body.arguments[0]
    scalar = yields_scalar and not isinstance(fill.operands[0].type, ir.MemRefType)
    same = len(fill.outputs) == 1 and _buffer(fill.outputs[0]) == _buffer(output)
    return fill if scalar and same and _covers(fill, len(fill.inputs)) else None


def _buffer(value: ir.Value) -> ir.Value:
    """What `value` is a view of the whole of."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in _VIEWS_OF_ALL:
        value = value.owner.operands[0]
    return value


def _covers(generic: Generic, operand: int) -> bool:
    """Whether the loops of `generic` reach every element of `operand`: a loop of its own along each axis not of size 1."""
    shape = ir.MemRefType(generic.operands[operand].type).shape
    loops = [dim_position(result) for result, size in zip(generic.maps[operand].results, shape, strict=True) if size != 1]
    return None not in loops and len(set(loops)) == len(loops)

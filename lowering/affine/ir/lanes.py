"""What happens to a loop body when one loop's iterations become the lanes of a vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.buffers import strides_of
from dlc.lowering.affine.ir.expressions import block_size, coefficient, mentions
from dlc.lowering.affine.ir.loops import Loop, real_ops

_SUBSCRIPTS_FROM = {"affine.load": 1, "affine.store": 2, "memref.load": 1}
_TRAPPING = ("arith.div", "arith.rem", "arith.ceildiv", "arith.floordiv")


class NoLanesError(Exception):
    """The loop's iterations cannot be lanes; the message says why."""


@dataclass
class LaneFacts:
    """How each value and access of a body depends on the lane.

    `varying` holds the values that differ between lanes; `strides` gives each memory op's distance in elements between
    neighbouring lanes (0: the same element). `lanewise` ops move one lane at a time (i1 that lies apart: LLVM would take
    it from bits, but it is stored in bytes).
    """

    iv: ir.Value
    varying: set[ir.Value] = field(default_factory=set)
    strides: dict[ir.Operation, int] = field(default_factory=dict)
    lanewise: set[ir.Operation] = field(default_factory=set)
    repeats: dict[ir.Operation, int] = field(default_factory=dict)
    """Loads of which so many neighbouring lanes take the same element."""
    maskable: bool = True
    """Whether lanes beyond the extent may compute on made-up values."""
    may_scatter: bool = False
    """Whether vectors may be stored with their lanes apart."""
    scattered: set[ir.Operation] = field(default_factory=set)
    """The stores whose lanes lie apart; they take whole vectors."""
    lanes: int = 0
    """How many lanes a vector has, where that is known."""


def analyse_lanes(
    ops: Iterable[ir.Operation],
    iv: ir.Value,
    chain: Sequence[Loop] = (),
    varying: Iterable[ir.Value] = (),
    lanes: int = 0,
    may_scatter: bool = False,
) -> LaneFacts:
    """The facts of `ops` with the iterations of `iv` as lanes; `NoLanesError` when that is impossible.

    `chain` is the nest of reduction loops, outermost first, whose accumulators become vectors of partial results; its
    outermost results are then the same for all lanes. `varying` are values that differ between lanes, of other ops. With
    `lanes`, the number of lanes of a vector, subscripts may divide the lane into blocks of a multiple of them. `may_scatter` allows
    stores whose lanes are apart.
    """
    facts = LaneFacts(iv, {iv, *varying}, lanes=lanes, may_scatter=may_scatter)
    _visit_ops(ops, facts, [loop.op for loop in chain], inside=False)
    return facts


def element_bits(element: ir.Type) -> int | None:
    """Bits of a lane of `element`, None when vectors cannot hold it."""
    if isinstance(element, ir.IndexType):
        return 64
    if isinstance(element, (ir.IntegerType, ir.FloatType)):
        return int(element.width)
    return None


def widest_element(ops: Iterable[ir.Operation]) -> int:
    """Bits of the widest number that `ops` compute or move; i1 and subscripts don't count."""
    widths = [8]

    def visit(op: ir.Operation) -> ir.WalkResult:
        for value in (*op.results, *op.operands):
            if isinstance(value.type, (ir.IntegerType, ir.FloatType)):
                widths.append(int(value.type.width))
        return ir.WalkResult.ADVANCE

    for op in ops:
        op.walk(visit)
    return max(widths)


def _visit_ops(ops: Iterable[ir.Operation], facts: LaneFacts, chain: list[ir.Operation], inside: bool) -> None:
    """`inside` says whether the ops are in the loop of `chain` that becomes lanes."""
    for op in ops:
        if op.name == "affine.for":
            _visit_loop(op, facts, chain, inside)
        elif op.name in _SUBSCRIPTS_FROM:
            _visit_access(op, facts, reduces=bool(chain) and not inside)
        else:
            _visit_computation(op, facts)


def _visit_loop(op: ir.Operation, facts: LaneFacts, chain: list[ir.Operation], inside: bool) -> None:
    lower, upper, _ = op.attributes["operandSegmentSizes"]
    if any(operand in facts.varying for operand in list(op.operands)[: lower + upper]):
        raise NoLanesError("a loop bound differs between lanes")
    body = op.regions[0].blocks[0]
    facts.varying.update(list(body.arguments)[1:])
    if not chain or op != chain[0]:
        facts.varying.update(op.results)
    _visit_ops(real_ops(body), facts, chain, inside or (bool(chain) and op == chain[-1]))


def _visit_computation(op: ir.Operation, facts: LaneFacts) -> None:
    if not op.name.startswith(("arith.", "math.", "affine.apply")) or len(op.results) != 1:
        raise NoLanesError(f"'{op.name}' has no vector form")
    if not any(operand in facts.varying for operand in op.operands):
        return
    if op.name == "affine.apply" or element_bits(op.results[0].type) is None:
        raise NoLanesError(f"'{op.name}' has no vector form")
    facts.maskable &= not op.name.startswith(_TRAPPING) or isinstance(op.results[0].type, ir.FloatType)
    facts.varying.add(op.results[0])


def _visit_access(op: ir.Operation, facts: LaneFacts, reduces: bool) -> None:
    repeats = _repeats(op, facts)
    if repeats:
        facts.repeats[op] = repeats
    stride = 1 if repeats else lane_stride(op, facts)
    facts.strides[op] = stride
    if op.name == "affine.store":
        if facts.may_scatter and stride > 1 and not reduces:
            facts.scattered.add(op)
            facts.maskable = False
        elif stride != (0 if reduces else 1) or (reduces and op.operands[0] in facts.varying):
            raise NoLanesError("lanes are stored apart")
    elif stride:
        facts.varying.add(op.results[0])
    element = ir.MemRefType(op.operands[_SUBSCRIPTS_FROM[op.name] - 1].type).element_type
    bits = element_bits(element)
    if stride and (bits is None or isinstance(element, ir.IndexType)):
        raise NoLanesError(f"no vectors of {element}")
    if stride not in (0, 1) and bits is not None and bits % 8:
        facts.scattered.discard(op)
        facts.lanewise.add(op)
        facts.maskable = False


def _repeats(op: ir.Operation, facts: LaneFacts) -> int:
    """How many lanes in turn take the same element of the load `op`, where its last subscript divides the lane; else 0."""
    if op.name != "affine.load" or not facts.lanes or element_bits(op.results[0].type) in (None, 1):
        return 0
    subscripts, indexing = list(op.operands)[1:], op.attributes["map"].value
    dims = [dim for dim in range(indexing.n_dims) if subscripts[dim] == facts.iv]
    if len(dims) != 1 or any(operand in facts.varying and operand != facts.iv for operand in subscripts):
        return 0
    *others, last = indexing.results
    size = 0 if isinstance(last.maybe_downcast(), ir.AffineModExpr) else block_size(last, dims[0])
    fits = size > 1 and facts.lanes % size == 0 and not any(mentions(other, dims[0]) for other in others)
    strides, _ = strides_of(ir.MemRefType(op.operands[0].type))
    return size if fits and strides[-1] == 1 else 0


def lane_stride(op: ir.Operation, facts: LaneFacts) -> int:
    """Elements between what neighbouring lanes of memory op `op` touch."""
    first = _SUBSCRIPTS_FROM[op.name]
    subscripts = list(op.operands)[first:]
    if not any(operand in facts.varying for operand in subscripts):
        return 0
    if any(operand in facts.varying and operand != facts.iv for operand in subscripts):
        raise NoLanesError("a subscript is computed in the lanes")
    strides, _ = strides_of(ir.MemRefType(op.operands[first - 1].type))
    total = 0
    for axis, factor in enumerate(_lane_factors(op, subscripts, facts)):
        if factor and strides[axis] == ir.ShapedType.get_dynamic_stride_or_offset():
            raise NoLanesError("the distance between lanes is not known")
        total += factor * strides[axis] if factor else 0
    if strides[-1] != 1:
        raise NoLanesError("the last dimension is not contiguous")
    return total


def _lane_factors(op: ir.Operation, subscripts: list[ir.Value], facts: LaneFacts) -> list[int]:
    """By how much each subscript grows from one lane to the next."""
    iv = facts.iv
    if op.name == "memref.load":
        return [int(operand == iv) for operand in subscripts]
    indexing = op.attributes["map"].value
    factors = []
    for expression in indexing.results:
        parts = [coefficient(expression, dim, facts.lanes) for dim in range(indexing.n_dims) if subscripts[dim] == iv]
        if any(part is None for part in parts):
            raise NoLanesError("a subscript is not linear in the lane")
        factors.append(sum(part for part in parts if part is not None))
    return factors

"""`affine-use-dot-products`: sums of four products of bytes become one instruction, or few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir, vector
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.byte_products import ByteDot, byte_dot_of
from dlc.lowering.pass_base import Pass
from dlc.targets.cpu.facts import CpuFacts, facts_of

_VNNI = {512: "llvm.x86.avx512.vpdpbusd.512", 256: "llvm.x86.avx512.vpdpbusd.256", 128: "llvm.x86.avx512.vpdpbusd.128"}
_PAIRS = {512: "llvm.x86.avx512.pmaddw.d.512", 256: "llvm.x86.avx2.pmadd.wd", 128: "llvm.x86.sse2.pmadd.wd"}
_PAIRS_NEED = {512: "avx512bw", 256: "avx2", 128: "sse2"}
_EVEN_BYTES = 0x00FF00FF


@dataclass(frozen=True)
class UseDotProducts(Pass):
    """Let the target's instructions for bytes compute what the tile of a product of bytes sums up.

    before: %s = ((%a0 * %b0 + %a1 * %b1) + (%a2 * %b2 + %a3 * %b3)) + %acc on vectors of i32,
            where %ai is a widened unsigned byte, the same in all lanes, and %bi byte i of the lanes of %w, signed
    after:  %s = vpdpbusd %acc, (the four bytes in all lanes), %w

    Without VNNI, x86 multiplies the even bytes and the odd ones as pairs of i16 (vpmaddwd), which is exact, too. Other targets
    keep the products. Sums that follow each other are ordered by their bytes, so that few registers hold them.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Rewrite one function."""
        facts = facts_of(op)
        for run in _runs(op):
            dots = [dot for dot in run if _instruction(facts, dot) is not None]
            if dots:
                _replace(dots, facts)


def _runs(function: ir.Operation) -> Iterator[list[ByteDot]]:
    """Sums of four products, those that follow each other together; all are found before the first is given out."""
    runs: list[list[ByteDot]] = []
    last: ir.Block | None = None
    for op in list(nested_ops(function)):
        dot = byte_dot_of(op)
        if dot is None:
            last = None
            continue
        if last is None or last != op.block:
            runs.append([])
        runs[-1].append(dot)
        last = op.block
    return iter(runs)


def _instruction(facts: CpuFacts, dot: ByteDot) -> str | None:
    """The intrinsic for the vectors of `dot`, None where the target has none."""
    bits = 32 * dot.lanes
    if facts.arch != "x86_64" or bits > facts.vector_bits or bits not in _VNNI:
        return None
    evex = "avx512_vnni" in facts.features and (bits == 512 or "avx512vl" in facts.features)
    if evex or (bits < 512 and "avx_vnni" in facts.features):
        return _VNNI[bits]
    return _PAIRS[bits] if _PAIRS_NEED[bits] in facts.features else None


def _replace(dots: Sequence[ByteDot], facts: CpuFacts) -> None:
    """Emit the sums of a run where the first one stands, in the order of their bytes."""
    order: dict[ir.Value, int] = {}
    for dot in dots:
        order.setdefault(dot.values[0], len(order))
    first = dots[0].total
    groups: dict[ir.Value, ir.Value] = {}
    pairs: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}
    with first.location, ir.InsertionPoint(first):
        for dot in sorted(dots, key=lambda dot: order[dot.values[0]]):
            name = _instruction(facts, dot)
            assert name is not None
            if dot.values[0] not in groups:
                groups[dot.values[0]] = _group(dot.values)
            group = groups[dot.values[0]]
            emit = _vnni if name in _VNNI.values() else _by_pairs
            dot.total.results[0].replace_all_uses_with(emit(name, dot, group, pairs))
    for dot in dots:
        dot.erase()


def _group(values: Sequence[ir.Value]) -> ir.Value:
    """Four bytes as an i32, the first one lowest. LLVM loads neighbours at once."""
    found = _i32("arith.extui", values[0])
    for place, value in enumerate(values[1:], start=1):
        found = _i32("arith.ori", found, _i32("arith.shli", _i32("arith.extui", value), _constant(8 * place)))
    return found


def _vnni(name: str, dot: ByteDot, group: ir.Value, pairs: dict[ir.Value, tuple[ir.Value, ir.Value]]) -> ir.Value:
    del pairs
    bytes_type = ir.VectorType.get([4 * dot.lanes], ir.IntegerType.get_signless(8))
    everywhere = _bitcast(bytes_type, vector.BroadcastOp(dot.packed.type, group).result)
    return _call(name, dot.accumulator.type, dot.accumulator, everywhere, _bitcast(bytes_type, dot.packed))


def _by_pairs(name: str, dot: ByteDot, group: ir.Value, pairs: dict[ir.Value, tuple[ir.Value, ir.Value]]) -> ir.Value:
    """acc + (even bytes as i16 by those of the weights) + (odd bytes likewise)."""
    halves = ir.VectorType.get([2 * dot.lanes], ir.IntegerType.get_signless(16))
    if dot.packed not in pairs:
        eight = ir.DenseElementsAttr.get_splat(halves, ir.IntegerAttr.get(halves.element_type, 8))
        shift = ir.Operation.create("arith.constant", results=[halves], attributes={"value": eight}).result
        words = _bitcast(halves, dot.packed)
        raised = ir.Operation.create("arith.shli", results=[halves], operands=[words, shift]).result
        even, odd = (
            ir.Operation.create("arith.shrsi", results=[halves], operands=[value, shift]).result for value in (raised, words)
        )
        pairs[dot.packed] = (even, odd)
    mask = _constant(_EVEN_BYTES)
    found = dot.accumulator
    for value, weights in zip((group, _i32("arith.shrui", group, _constant(8))), pairs[dot.packed], strict=True):
        everywhere = vector.BroadcastOp(dot.packed.type, _i32("arith.andi", value, mask)).result
        product = _call(name, found.type, _bitcast(halves, everywhere), weights)
        found = ir.Operation.create("arith.addi", results=[found.type], operands=[found, product]).result
    return found


def _i32(name: str, *operands: ir.Value) -> ir.Value:
    return ir.Operation.create(name, results=[ir.IntegerType.get_signless(32)], operands=list(operands)).result


def _constant(number: int) -> ir.Value:
    kind = ir.IntegerType.get_signless(32)
    return ir.Operation.create("arith.constant", results=[kind], attributes={"value": ir.IntegerAttr.get(kind, number)}).result


def _bitcast(kind: ir.VectorType, value: ir.Value) -> ir.Value:
    return vector.BitCastOp(kind, value).result


def _call(name: str, kind: ir.Type, *operands: ir.Value) -> ir.Value:
    attributes = {
        "intrin": ir.StringAttr.get(name),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
    }
    return ir.Operation.create("llvm.call_intrinsic", results=[kind], operands=list(operands), attributes=attributes).result

"""`affine-use-dot-products`: sums of four products of bytes, or of two of bf16 or i16, become one instruction, or few."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir, vector
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.vectors.byte_products import Dot, byte_dot_of
from dlc.lowering.affine.vectors.group_loads import load_word, neighbours_of, only_reads
from dlc.lowering.affine.vectors.pair_products import pair_dot_of
from dlc.lowering.pass_base import Pass
from dlc.lowering.vnni import PAIR
from dlc.targets.machine import VECTOR_BITS, Machine, facts_of

_VNNI = {512: "llvm.x86.avx512.vpdpbusd.512", 256: "llvm.x86.avx512.vpdpbusd.256", 128: "llvm.x86.avx512.vpdpbusd.128"}
_PAIRS = {512: "llvm.x86.avx512.pmaddw.d.512", 256: "llvm.x86.avx2.pmadd.wd", 128: "llvm.x86.sse2.pmadd.wd"}
_PAIRS_NEED = {512: "avx512bw", 256: "avx2", 128: "sse2"}
_BF16 = {bits: f"llvm.x86.avx512bf16.dpbf16ps.{bits}" for bits in (512, 256, 128)}
_BF16_ARM = "llvm.aarch64.neon.bfdot.v4f32.v8bf16"
_BYTES_ARM = {"i8mm": "llvm.aarch64.neon.usdot.v4i32.v16i8", "asimddp": "llvm.aarch64.neon.sdot.v4i32.v16i8"}
"""By the feature that has it: unsigned bytes by signed ones, and signed ones by signed ones."""
_EVEN_BYTES = 0x00FF00FF


@dataclass(frozen=True)
class UseDotProducts(Pass):
    """Let the target's instructions for bytes and bf16 compute what the tile of a product of these sums up.

    before: %s = ((%a0 * %b0 + %a1 * %b1) + (%a2 * %b2 + %a3 * %b3)) + %acc on vectors of i32,
            where %ai is a widened unsigned byte, the same in all lanes, and %bi byte i of the lanes of %w, signed
    after:  %s = vpdpbusd %acc, (the four bytes in all lanes), %w

    before: %s = fma(%a1, %w1, fma(%a0, %w0, %acc)) on vectors of f32,
            where %ai is a widened bf16 number, the same in all lanes, and %wi half i of the lanes of %w
    after:  %s = vdpbf16ps %acc, (the two numbers in all lanes), %w

    before: %s = (%a0 * %w0 + %a1 * %w1) + %acc on vectors of i32,
            where %ai is a widened number of i16, the same in all lanes, and %wi half i of the lanes of %w, signed
    after:  %s = vpmaddwd (the two numbers in all lanes), %w + %acc

    Without VNNI, or with a slow one, x86 multiplies the even bytes and the odd ones as pairs of i16 (vpmaddwd), which is exact,
    too. AArch64 has usdot, or sdot on bytes that are lowered by 128, less what a row of -128 gives, once for all rows.
    Other targets keep the products, and those without dot products of bf16, or with slow ones, keep the multiply-adds. Sums
    that follow each other are ordered by their numbers, so that few registers hold them. Neighbours that an affine.load each reads
    become one load of a group, where nothing around it writes memory.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Rewrite one function."""
        facts = facts_of(op)
        for run in _runs(op):
            dots = [dot for dot in run if _instruction(facts, dot) is not None]
            if dots:
                _replace(dots, facts)


def _runs(function: ir.Operation) -> Iterator[list[Dot]]:
    """Sums of products, those that follow each other together; all are found before the first is given out."""
    runs: list[list[Dot]] = []
    last: ir.Block | None = None
    for op in nested_ops(function):
        dot = byte_dot_of(op) or pair_dot_of(op)
        if dot is None:
            last = None
            continue
        if last is None or last != op.block:
            runs.append([])
        runs[-1].append(dot)
        last = op.block
    return iter(runs)


def _instruction(facts: Machine, dot: Dot) -> str | None:
    """The intrinsic for the vectors of `dot`, None where the target has none."""
    bits = 32 * dot.lanes
    if isinstance(dot.values[0].type, ir.BF16Type):
        return _bf16_instruction(facts, bits)
    if facts.arch == "aarch64":
        return _bytes_instruction_arm(facts, dot) if bits == VECTOR_BITS[0] else None
    if facts.arch != "x86_64" or bits > facts.vector_bits or bits not in _VNNI:
        return None
    if len(dot.values) == PAIR:
        return _PAIRS[bits] if _PAIRS_NEED[bits] in facts.features else None
    evex = facts.prefers_vnni and "avx512_vnni" in facts.features and (bits == 512 or "avx512vl" in facts.features)
    if evex or (bits < 512 and facts.prefers_vnni and "avx_vnni" in facts.features):
        return _VNNI[bits]
    return _PAIRS[bits] if _PAIRS_NEED[bits] in facts.features else None


def _bf16_instruction(facts: Machine, bits: int) -> str | None:
    if not facts.prefers_bf16_dot:
        return None
    if facts.arch == "aarch64":
        return _BF16_ARM if bits == VECTOR_BITS[0] else None
    fits = bits in _BF16 and bits <= facts.vector_bits and (bits == max(_BF16) or "avx512vl" in facts.features)
    return _BF16[bits] if fits else None


def _bytes_instruction_arm(facts: Machine, dot: Dot) -> str | None:
    if len(dot.values) == PAIR:
        return None
    return next((name for feature, name in _BYTES_ARM.items() if feature in facts.features), None)


def _replace(dots: Sequence[Dot], facts: Machine) -> None:
    """Emit the sums of a run where the first one stands, in the order of their bytes."""
    order: dict[ir.Value, int] = {}
    for dot in dots:
        order.setdefault(dot.values[0], len(order))
    first = dots[0].total
    may_move = only_reads(first.block)
    groups: dict[ir.Value, ir.Value] = {}
    pairs: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}
    with first.location, ir.InsertionPoint(first):
        for dot in sorted(dots, key=lambda dot: order[dot.values[0]]):
            name = _instruction(facts, dot)
            assert name is not None
            if dot.values[0] not in groups:
                groups[dot.values[0]] = _group(dot.values, first.block if may_move else None)
            group = groups[dot.values[0]]
            dot.total.results[0].replace_all_uses_with(_emitter(name, dot)(name, dot, group, pairs))
    for dot in dots:
        dot.erase()


def _emitter(name: str, dot: Dot) -> Callable[[str, Dot, ir.Value, dict[ir.Value, tuple[ir.Value, ir.Value]]], ir.Value]:
    if name == _BYTES_ARM["asimddp"]:
        return _signed_at_once
    if name not in _PAIRS.values():
        return _at_once
    return _pair_at_once if len(dot.values) == PAIR else _by_pairs


def _group(values: Sequence[ir.Value], block: ir.Block | None) -> ir.Value:
    """The numbers of a group as an i32, the first one lowest.

    Neighbours that are loaded in `block`, which writes nothing, are loaded at once. Where LLVM has to find that, it gathers the
    groups of several rows into vectors first, and takes them out again: 196x256x1024 of bf16 runs at 75 % of the peak.
    """
    neighbours = None if block is None else neighbours_of(values, block)
    if neighbours is not None:
        return load_word(neighbours, len(values))
    width = 32 // len(values)
    found = _i32("arith.extui", _bits(values[0], width))
    for place, value in enumerate(values[1:], start=1):
        raised = _i32("arith.shli", _i32("arith.extui", _bits(value, width)), _constant(width * place))
        found = _i32("arith.ori", found, raised)
    return found


def _bits(value: ir.Value, width: int) -> ir.Value:
    """A number of `width` bits as an integer."""
    kind = ir.IntegerType.get_signless(width)
    return value if value.type == kind else ir.Operation.create("arith.bitcast", results=[kind], operands=[value]).result


def _at_once(name: str, dot: Dot, group: ir.Value, pairs: dict[ir.Value, tuple[ir.Value, ir.Value]]) -> ir.Value:
    del pairs
    element = ir.BF16Type.get() if len(dot.values) == PAIR else ir.IntegerType.get_signless(8)
    parts = ir.VectorType.get([len(dot.values) * dot.lanes], element)
    everywhere = _bitcast(parts, vector.BroadcastOp(dot.packed.type, group).result)
    return _call(name, dot.accumulator.type, dot.accumulator, everywhere, _bitcast(parts, dot.packed))


def _signed_at_once(name: str, dot: Dot, group: ir.Value, pairs: dict[ir.Value, tuple[ir.Value, ir.Value]]) -> ir.Value:
    """acc + (bytes - 128) * weights - (-128) * weights; what is subtracted is the same for all rows."""
    parts = ir.VectorType.get([4 * dot.lanes], ir.IntegerType.get_signless(8))
    kind, weights = dot.accumulator.type, _bitcast(parts, dot.packed)
    if dot.packed not in pairs:
        none = ir.Operation.create(
            "arith.constant",
            results=[kind],
            attributes={"value": ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(kind.element_type, 0))},
        ).result
        lowest = _bitcast(parts, vector.BroadcastOp(kind, _constant(_signs())).result)
        moved = _call(name, kind, none, lowest, weights)
        pairs[dot.packed] = (moved, moved)
    everywhere = _bitcast(parts, vector.BroadcastOp(dot.packed.type, _i32("arith.xori", group, _constant(_signs()))).result)
    found = _call(name, kind, dot.accumulator, everywhere, weights)
    return ir.Operation.create("arith.subi", results=[kind], operands=[found, pairs[dot.packed][0]]).result


def _signs() -> int:
    """The sign bits of four bytes, as an i32."""
    return int.from_bytes(b"\x80\x80\x80\x80", "little", signed=True)


def _pair_at_once(name: str, dot: Dot, group: ir.Value, pairs: dict[ir.Value, tuple[ir.Value, ir.Value]]) -> ir.Value:
    del pairs
    halves, found = ir.VectorType.get([2 * dot.lanes], ir.IntegerType.get_signless(16)), dot.accumulator
    everywhere = _bitcast(halves, vector.BroadcastOp(dot.packed.type, group).result)
    product = _call(name, found.type, everywhere, _bitcast(halves, dot.packed))
    return ir.Operation.create("arith.addi", results=[found.type], operands=[found, product]).result


def _by_pairs(name: str, dot: Dot, group: ir.Value, pairs: dict[ir.Value, tuple[ir.Value, ir.Value]]) -> ir.Value:
    """acc + (even bytes as i16 by those of the weights) + (odd bytes likewise)."""
    halves = ir.VectorType.get([2 * dot.lanes], ir.IntegerType.get_signless(16))
    if dot.packed not in pairs:
        eight = ir.DenseElementsAttr.get_splat(halves, ir.IntegerAttr.get(halves.element_type, 8))
        shift = ir.Operation.create("arith.constant", results=[halves], attributes={"value": eight}).result
        groups = _bitcast(halves, dot.packed)
        raised = ir.Operation.create("arith.shli", results=[halves], operands=[groups, shift]).result
        even, odd = (
            ir.Operation.create("arith.shrsi", results=[halves], operands=[value, shift]).result for value in (raised, groups)
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

"""The loops that measure instructions: of one chain for latency, of many for throughput."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dlc.targets.cpu.calibration.loops import CarriedValue, MeasuredLoop, aligned, load
from dlc.targets.machine import Machine

CLOCK = "clock"
"""The loop of scalar sums, which take one cycle each on any CPU."""
LATENCY, CYCLES = "latency", "cycles"

_X, _Y, _F64, _INTEGERS, _ORDER, _INDICES, _TABLE, STORED = 0, 256, 512, 1024, 1280, 1536, 8192, 16384
"""Offsets of operands: f32, f64, i32, the order of a shuffle, indices of a gather, the table it reads, and what is stored to."""
_TABLE_WORDS = 256
_BUFFER_BYTES = 1 << 16
_MASK = (1 << 14) - 1
"""Stores go over so many bytes, which any first-level cache holds."""
_STEPS_OF_CHAIN = 12
_GATHERS = 4
_STORES = 8


@dataclass(frozen=True)
class _Kind:
    """An instruction that makes `%r` of `%a`: lines with `{r}` and `{a}`, the type of both, where `%a` starts, and lines before."""

    figure: str
    kind: str
    start: int
    lines: Sequence[str]
    before: Sequence[str] = ()
    count: int = 1
    chains: int = 0


def buffer() -> np.ndarray:
    """The buffer that loops of instructions take: operands for which no instruction leaves the ordinary range of numbers."""
    found = aligned(_BUFFER_BYTES).view(np.int32)
    found[:] = 0
    words = np.random.default_rng(0).permutation(_TABLE_WORDS).astype(np.int32)
    found.view(np.float32)[: _F64 // 4] = 0.75
    found.view(np.float64)[_F64 // 8 : _INTEGERS // 8] = 0.75
    found[_INTEGERS // 4 : _ORDER // 4] = 0x01010101
    found[_ORDER // 4 : _INDICES // 4] = np.arange(64)[::-1] % 16
    found[_INDICES // 4 : _INDICES // 4 + 64] = words[:64]
    found[_TABLE // 4 : _TABLE // 4 + _TABLE_WORDS] = words
    return found


def mask() -> int:
    """The mask that the loops of stores take."""
    return _MASK


def clock_loop() -> MeasuredLoop:
    """A chain of sums and exclusive ors, which no compiler puts together."""
    names = ["%a0", *(f"%c{at}" for at in range(2 * _STEPS_OF_CHAIN - 1)), "%b0"]
    ops = [("add", "%x"), ("xor", "%y")] * _STEPS_OF_CHAIN
    step = [f"{new} = llvm.{op} {old}, {other} : i64" for (op, other), old, new in zip(ops, names, names[1:], strict=False)]
    return MeasuredLoop(
        CLOCK, len(ops), [CarriedValue("i64", _INTEGERS)], [load("%x", "i64", _INTEGERS), load("%y", "i64", _X)], step
    )


def loops(machine: Machine) -> dict[str, MeasuredLoop]:
    """The loops for what `machine` has, by the path of the figure that each measures, such as `instructions.fma_f32.cycles`."""
    found: dict[str, MeasuredLoop] = {}
    many = 24 if machine.vector_registers >= 32 else 10
    for each in _kinds(machine):
        path = f"instructions.{each.figure}"
        found[f"{path}.{LATENCY}"] = _chains(f"{each.figure}_{LATENCY}", each, 1, _STEPS_OF_CHAIN)
        found[f"{path}.{CYCLES}"] = _chains(f"{each.figure}_{CYCLES}", each, each.chains or many, 1)
    found[f"instructions.store.{CYCLES}"] = _stores("store", machine, "llvm.store {v}, {p} : {kind}, !llvm.ptr")
    masked = "llvm.intr.masked.store {v}, {p}, %lanes {{alignment = 4 : i32}} : {kind}, {lanes} into !llvm.ptr"
    found[f"instructions.masked_store.{CYCLES}"] = _stores("masked_store", machine, masked)
    return found


def _chains(name: str, each: _Kind, chains: int, steps: int) -> MeasuredLoop:
    """`chains` values that do not wait for each other, each of which goes through the instruction `steps` times."""
    lines = []
    for chain in range(chains):
        for step in range(steps):
            a = f"%a{chain}" if step == 0 else f"%t{chain}_{step - 1}"
            r = f"%b{chain}" if step == steps - 1 else f"%t{chain}_{step}"
            lines += [line.format(a=a, r=r, u=r.removeprefix("%")) for line in each.lines]
    return MeasuredLoop(name, chains * steps * each.count, [CarriedValue(each.kind, each.start)] * chains, each.before, lines)


def _kinds(machine: Machine) -> Iterator[_Kind]:
    lanes, half = machine.lanes(32), machine.lanes(64)
    f32, f64, i32 = f"vector<{lanes}xf32>", f"vector<{half}xf64>", f"vector<{lanes}xi32>"
    floats = (load("%x", f32, _X), load("%y", f32, _Y))
    doubles = (load("%x", f64, _F64), load("%y", f64, _F64 + 256))
    integers = (load("%x", i32, _INTEGERS), load("%y", i32, _INTEGERS + 64))
    if machine.has_fma:
        yield _Kind("fma_f32", f32, _X, [f"{{r}} = llvm.intr.fma({{a}}, %x, %y) : ({f32}, {f32}, {f32}) -> {f32}"], floats)
        yield _Kind("fma_f64", f64, _F64, [f"{{r}} = llvm.intr.fma({{a}}, %x, %y) : ({f64}, {f64}, {f64}) -> {f64}"], doubles)
    yield _Kind("add_f32", f32, _X, [f"{{r}} = llvm.fadd {{a}}, %x : {f32}"], floats)
    yield _Kind("divide_f32", f32, _X, [f"{{r}} = llvm.fdiv %x, {{a}} : {f32}"], floats)
    yield _Kind("divide_f64", f64, _F64, [f"{{r}} = llvm.fdiv %x, {{a}} : {f64}"], doubles)
    yield _Kind("sqrt_f32", f32, _X, [f"{{r}} = llvm.intr.sqrt({{a}}) : ({f32}) -> {f32}"])
    both = [f"%q{{u}} = llvm.add {{a}}, %x : {i32}", f"{{r}} = llvm.xor %q{{u}}, %y : {i32}"]
    yield _Kind("integer_i32", i32, _INTEGERS, both, integers, count=2)
    yield from _dots(machine, f32, i32, integers)
    yield from _moves(machine, f32, i32)


def _dots(machine: Machine, f32: str, i32: str, integers: Sequence[str]) -> Iterator[_Kind]:
    bits, lanes = machine.vector_bits, machine.lanes(32)
    pairs, halves, quads = f"vector<{2 * lanes}xbf16>", f"vector<{2 * lanes}xi16>", f"vector<{4 * lanes}xi8>"
    if machine.has_bf16_dot:
        arm = "llvm.aarch64.neon.bfdot.v4f32.v8bf16"
        name = arm if machine.arch == "aarch64" else f"llvm.x86.avx512bf16.dpbf16ps.{bits}"
        yield _Kind("dot_bf16", f32, _X, _call(name, "{a}, %x, %y", f"{f32}, {pairs}, {pairs}", f32), _both(pairs, _X, _Y))
    if machine.has_vnni:
        name = f"llvm.x86.avx512.vpdpbusd.{bits}"
        yield _Kind(
            "dot_i8",
            i32,
            _INTEGERS,
            _call(name, "{a}, %x, %y", f"{i32}, {quads}, {quads}", i32),
            _both(quads, _INTEGERS, _INTEGERS),
        )
    name = {512: "llvm.x86.avx512.pmaddw.d.512", 256: "llvm.x86.avx2.pmadd.wd", 128: "llvm.x86.sse2.pmadd.wd"}.get(bits, "")
    if machine.arch == "x86_64" and name and {512: "avx512bw", 256: "avx2", 128: "sse2"}[bits] in machine.features:
        lines = [f"%q{{u}} = llvm.bitcast {{a}} : {i32} to {halves}", *_call(name, "%q{u}, %x", f"{halves}, {halves}", i32)]
        yield _Kind("dot_i16", i32, _INTEGERS, lines, _both(halves, _INTEGERS, _INTEGERS))


def _moves(machine: Machine, f32: str, i32: str) -> Iterator[_Kind]:
    lanes = machine.lanes(32)
    order = [load("%order", i32, _ORDER)]
    if "avx512f" in machine.features:
        lines = _call("llvm.x86.avx512.vpermi2var.ps.512", "{a}, %order, %x", f"{f32}, {i32}, {f32}", f32)
        yield _Kind("shuffle_f32", f32, _X, lines, [*order, load("%x", f32, _X)])
    elif "avx2" in machine.features:
        yield _Kind("shuffle_f32", f32, _X, _call("llvm.x86.avx2.permps", "{a}, %order", f"{f32}, {i32}", f32), order)
    elif machine.arch == "aarch64":
        bytes_ = "vector<16xi8>"
        lines = _call("llvm.aarch64.neon.tbl1.v16i8", "{a}, %order", f"{bytes_}, {bytes_}", bytes_)
        yield _Kind("shuffle_f32", bytes_, _X, lines, [load("%order", bytes_, _ORDER)])
    pointers, flags = f"vector<{lanes}x!llvm.ptr>", f"vector<{lanes}xi1>"
    lines = [
        f"%p{{u}} = llvm.getelementptr %table[{{a}}] : (!llvm.ptr, {i32}) -> {pointers}, i32",
        f"{{r}} = llvm.intr.masked.gather %p{{u}}, %all, %none {{{{alignment = 4 : i32}}}} : ({pointers}, {flags}, {i32}) -> {i32}",
    ]
    before = [
        f"%table = llvm.getelementptr %m[{_TABLE}] : (!llvm.ptr) -> !llvm.ptr, i8",
        f"%all = llvm.mlir.constant(dense<true> : {flags}) : {flags}",
        f"%none = llvm.mlir.zero : {i32}",
    ]
    yield _Kind("gather_f32", i32, _INDICES, lines, before, chains=_GATHERS)


def _stores(name: str, machine: Machine, line: str) -> MeasuredLoop:
    """Stores of all vectors of a part of the buffer in order, again and again."""
    lanes, size = machine.lanes(32), machine.vector_bits // 8
    kind, flags = f"vector<{lanes}xf32>", f"vector<{lanes}xi1>"
    before = [
        load("%x", kind, _X),
        load("%w", f"vector<{lanes}xi32>", _ORDER),
        f"%none = llvm.mlir.zero : vector<{lanes}xi32>",
        f'%lanes = llvm.icmp "ne" %w, %none : vector<{lanes}xi32>',
        f"%bytes = llvm.mlir.constant({_STORES * size} : i64) : i64",
        f"%base = llvm.getelementptr %m[{STORED}] : (!llvm.ptr) -> !llvm.ptr, i8",
    ]
    step = [
        "%o = llvm.mul %i, %bytes : i64",
        "%at = llvm.and %o, %mask : i64",
        "%here = llvm.getelementptr %base[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8",
    ]
    for each in range(_STORES):
        step.append(f"%p{each} = llvm.getelementptr %here[{each * size}] : (!llvm.ptr) -> !llvm.ptr, i8")
        step.append(line.format(v="%x", p=f"%p{each}", kind=kind, lanes=flags))
    return MeasuredLoop(f"{name}_cycles", _STORES, [], before, step)


def _call(name: str, operands: str, kinds: str, result: str) -> list[str]:
    return [f'{{r}} = llvm.call_intrinsic "{name}"({operands}) : ({kinds}) -> {result}']


def _both(kind: str, x: int, y: int) -> list[str]:
    return [load("%x", kind, x), load("%y", kind, y)]

"""The loops that measure caches and memory: reads in order, and loads that each wait for the one before."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dlc.targets.cpu.calibration.loops import PAGE, RESULT_BYTES, CarriedValue, MeasuredLoop, aligned
from dlc.targets.machine import Machine

READ, CHASE, FORK = "read", "chase", "fork"
_READS = 8
_CHASES = 8
_MOST_BYTES = 128 << 20
_L3_IN_L2 = 2
"""Twice the second level is read from the third one. More of that, which others use, too, is gone when this process runs again."""
_BEYOND_CACHES = 4
_MOST_SPINS = 1_000_000
"""Looks at who is there, some milliseconds, after which a thread goes on alone."""
LEAST_OF_CORE = 1 << 24
"""Bytes that each of all cores reads at least, of which its caches and its share of the last one hold little."""


@dataclass(frozen=True)
class Place:
    """A level by the name of its member in `Machine`, and bytes of a buffer that lies in it, a power of two."""

    level: str
    size: int


def places(machine: Machine) -> list[Place]:
    """A buffer for each level, from the nearest on."""
    beyond = min(_BEYOND_CACHES * machine.l3.bytes, _MOST_BYTES)
    sizes = {
        "l1": machine.l1.bytes // 2,
        "l2": machine.l2.bytes // 2,
        "l3": min(machine.l3.bytes // 2, _L3_IN_L2 * machine.l2.bytes),
        "memory": beyond,
    }
    return [Place(level, 1 << max(12, size.bit_length() - 1)) for level, size in sizes.items()]


def read_loop(machine: Machine) -> MeasuredLoop:
    """Reads all vectors of the buffer in order, again and again; `count` is bytes of a step.

    A call goes on where the one before ended, so that short samples read all of a large buffer, too. The mask is the bytes of the
    buffer less those of a step, both powers of two, so that no step begins within another one.
    """
    lanes, size = machine.lanes(32), machine.vector_bits // 8
    kind = f"vector<{lanes}xi32>"
    before = [f"%bytes = llvm.mlir.constant({_READS * size} : i64) : i64"]
    step = [
        f"%at = llvm.and %a{_READS}, %mask : i64",
        f"%b{_READS} = llvm.add %at, %bytes : i64",
        "%here = llvm.getelementptr %m[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8",
    ]
    for each in range(_READS):
        step.append(f"%p{each} = llvm.getelementptr %here[{each * size}] : (!llvm.ptr) -> !llvm.ptr, i8")
        step.append(f"%v{each} = llvm.load %p{each} : !llvm.ptr -> {kind}")
        step.append(f"%b{each} = llvm.xor %a{each}, %v{each} : {kind}")
    carried = [*[CarriedValue(kind, 0)] * _READS, CarriedValue("i64", RESULT_BYTES * _READS - PAGE)]
    return MeasuredLoop(READ, _READS * size, carried, before, step, -PAGE)


def chase_loop() -> MeasuredLoop:
    """Follows pointers, from where the call before ended."""
    names = ["%a0", *(f"%c{at}" for at in range(_CHASES - 1)), "%b0"]
    step = [f"{new} = llvm.load {old} : !llvm.ptr -> !llvm.ptr" for old, new in pairwise(names)]
    return MeasuredLoop(CHASE, _CHASES, [CarriedValue("!llvm.ptr", -PAGE)], [], step, -PAGE)


def fork_text() -> str:
    """A function that lets all threads of the pool meet, as often as it is told: each waits for the last one, or not for ever.

    Where threads only return, the calling one takes the shares of those that are not there yet. The first word of the buffer
    counts who is there, the second one holds how many are asked for.
    """
    return f"""llvm.func @dlc_parallel_for(!llvm.ptr, !llvm.ptr, i64)
    llvm.func internal @meet(%context: !llvm.ptr, %lo: i64, %hi: i64) {{
      %zero = llvm.mlir.constant(0 : i64) : i64
      %one = llvm.mlir.constant(1 : i64) : i64
      %most = llvm.mlir.constant({_MOST_SPINS} : i64) : i64
      %place = llvm.getelementptr %context[8] : (!llvm.ptr) -> !llvm.ptr, i8
      %threads = llvm.load %place : !llvm.ptr -> i64
      %taken = llvm.sub %hi, %lo : i64
      %before = llvm.atomicrmw add %context, %taken acq_rel : !llvm.ptr, i64
      llvm.br ^wait(%zero : i64)
    ^wait(%spins: i64):
      %there = llvm.load %context atomic acquire {{alignment = 8 : i64}} : !llvm.ptr -> i64
      %all = llvm.icmp "sge" %there, %threads : i64
      %late = llvm.icmp "sge" %spins, %most : i64
      %done = llvm.or %all, %late : i1
      %next = llvm.add %spins, %one : i64
      llvm.cond_br %done, ^end, ^wait(%next : i64)
    ^end:
      llvm.return
    }}
    llvm.func @{FORK}(%m: !llvm.ptr, %n: i64, %threads: i64) {{
      %zero = llvm.mlir.constant(0 : i64) : i64
      %one = llvm.mlir.constant(1 : i64) : i64
      %body = llvm.mlir.addressof @meet : !llvm.ptr
      %place = llvm.getelementptr %m[8] : (!llvm.ptr) -> !llvm.ptr, i8
      llvm.store %threads, %place : i64, !llvm.ptr
      llvm.br ^loop(%zero : i64)
    ^loop(%i: i64):
      llvm.store %zero, %m : i64, !llvm.ptr
      llvm.call @dlc_parallel_for(%body, %m, %threads) : (!llvm.ptr, !llvm.ptr, i64) -> ()
      %next = llvm.add %i, %one : i64
      %more = llvm.icmp "slt" %next, %n : i64
      llvm.cond_br %more, ^loop(%next : i64), ^end
    ^end:
      llvm.return
    }}"""


def linked(size: int, line: int) -> np.ndarray:
    """A buffer in which each line points to another one, in a cycle through all of them in no order.

    The page before it is where loops start and end: at the first line, at offset 0.
    """
    found = aligned(size)
    order = np.random.default_rng(0).permutation(size // line).astype(np.int64) * line
    words = found.view(np.int64)
    words[order // 8] = np.roll(order, -1) + found.ctypes.data
    front = (ctypes.c_int64 * (PAGE // 8)).from_address(found.ctypes.data - PAGE)
    front[:] = [found.ctypes.data, *[0] * (PAGE // 8 - 1)]
    return found

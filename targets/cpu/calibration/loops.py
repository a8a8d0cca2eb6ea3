"""Loops at level llvm that repeat one instruction, as text, and code of them in this process.

A loop is a function of a pointer to a buffer, the number of its steps, and a mask for offsets into the buffer. What it carries from
step to step starts from vectors in the buffer and ends there, so that nothing of it is dead.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.targets.cpu.emit import emit_unit
from dlc.targets.cpu.link import LinkedCode

RESULT_BYTES = 64
PAGE = 4096

Run = Callable[[int, int, int], None]
"""Runs a loop: address of its buffer, steps, mask."""


@dataclass(frozen=True)
class CarriedValue:
    """A value that a loop hands to its next step: its type, and the offset in the buffer that it starts from."""

    kind: str
    offset: int


@dataclass(frozen=True)
class MeasuredLoop:
    """A loop: what it does before, in a step, and what it carries.

    A step reads `%a0`, `%a1`, ... and defines `%b0`, `%b1`, ... of the same types; `%i` is the number of the step, `%m` the buffer,
    `%mask` the mask. A step runs `count` instructions of the kind that is measured.
    """

    name: str
    count: int
    carried: Sequence[CarriedValue]
    before: Sequence[str]
    step: Sequence[str]
    results: int = 4096
    """Offset in the buffer where it leaves what it carried."""

    def text(self) -> str:
        """The function."""
        kinds = [each.kind for each in self.carried]
        places = range(len(kinds))
        names = ["%i", *(f"%a{at}" for at in places)]
        arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, ["i64", *kinds], strict=True))
        types = ", ".join(["i64", *kinds])
        lines = [
            f"llvm.func @{self.name}(%m: !llvm.ptr, %n: i64, %mask: i64) {{",
            "%zero = llvm.mlir.constant(0 : i64) : i64",
            "%one = llvm.mlir.constant(1 : i64) : i64",
            *(load(f"%s{at}", each.kind, each.offset) for at, each in enumerate(self.carried)),
            *self.before,
            f"llvm.br ^loop({', '.join(['%zero', *(f'%s{at}' for at in places)])} : {types})",
            f"^loop({arguments}):",
            *self.step,
            "%next = llvm.add %i, %one : i64",
            '%more = llvm.icmp "slt" %next, %n : i64',
            f"llvm.cond_br %more, ^loop({', '.join(['%next', *(f'%b{at}' for at in places)])} : {types}), ^end",
            "^end:",
            *(store(f"%b{at}", kind, self.results + RESULT_BYTES * at) for at, kind in enumerate(kinds)),
            "llvm.return\n}",
        ]
        return "\n".join(lines)


def load(name: str, kind: str, offset: int) -> str:
    """Loads from an offset of the buffer, before the loop."""
    place = f"{name}_place"
    address = f"{place} = llvm.getelementptr %m[{offset}] : (!llvm.ptr) -> !llvm.ptr, i8"
    return f"{address}\n{name} = llvm.load {place} : !llvm.ptr -> {kind}"


def store(name: str, kind: str, offset: int) -> str:
    """Stores to an offset of the buffer, after the loop."""
    place = f"{name}_end"
    address = f"{place} = llvm.getelementptr %m[{offset}] : (!llvm.ptr) -> !llvm.ptr, i8"
    return f"{address}\nllvm.store {name}, {place} : {kind}, !llvm.ptr"


def aligned(size: int) -> np.ndarray:
    """Bytes that start at a page, with another page before them for results; written, so that they are there."""
    room = np.ones(size + 2 * PAGE, np.uint8)
    start = -room.ctypes.data % PAGE + PAGE
    return room[start : start + size]


class Code:
    """Loops, and other functions of the same arguments, that are loaded as long as this object lives."""

    def __init__(self, texts: Sequence[str], names: Sequence[str]) -> None:
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse("\n".join(texts))
            content = emit_unit(module, names[0])
        self._code = LinkedCode([content], names)

    def run(self, name: str) -> Run:
        """The function called `name`. Python's other threads run beside it."""
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(self._code.address(name))

        def run(address: int, steps: int, mask: int = 0, keep: object = self) -> None:
            function(address, steps, mask)

        return run

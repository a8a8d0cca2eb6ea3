"""Relocations of the x86-64 psABI (System V Application Binary Interface, AMD64 supplement, 4.4)."""

from __future__ import annotations

from dlc.targets.cpu.relocations import Patch, Relocations, write_signed

_ABSOLUTE, _PC32, _PLT32, _GOTPCREL, _PC64, _GOTOFF64, _GOTPC32, _GOT64, _GOTPC64, _GOTPCRELX, _REX_GOTPCRELX = (
    1, 2, 4, 9, 24, 25, 26, 27, 29, 41, 42,
)  # fmt: skip
_STUB = b"\xff\x25"
"""`jmp *rel32(%rip)`: how text that calls by a relative address reaches a function that is imported."""


def _relative(size: int) -> Patch:
    def patch(memory: bytearray, at: int, target: int, table: int) -> None:
        write_signed(memory, at, target - at, size)

    return patch


def _from_table(memory: bytearray, at: int, target: int, table: int) -> None:
    write_signed(memory, at, target - table, 8)


def _stub(at: int, word: int) -> bytes:
    return _STUB + (word - (at + 6)).to_bytes(4, "little", signed=True)


X86_64 = Relocations(
    name="x86_64",
    page=4096,
    absolute=_ABSOLUTE,
    by_table=frozenset({_GOTPCREL, _GOT64, _GOTPCRELX, _REX_GOTPCRELX}),
    to_table=frozenset({_GOTPC32, _GOTPC64}),
    calls=frozenset({_PC32, _PLT32, _PC64}),
    patches={
        **dict.fromkeys((_PC32, _PLT32, _GOTPCREL, _GOTPC32, _GOTPCRELX, _REX_GOTPCRELX), _relative(4)),
        **dict.fromkeys((_PC64, _GOTPC64), _relative(8)),
        **dict.fromkeys((_GOTOFF64, _GOT64), _from_table),
    },
    stub=_stub,
    stub_bytes=8,
)

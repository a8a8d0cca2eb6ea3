"""Relocations of AArch64 (ELF for the Arm 64-bit Architecture, 5.7): fields of instructions, and words of data."""

from __future__ import annotations

from dlc.targets.cpu.relocations import Patch, Relocations, write_signed

_ABS64, _PREL64, _PREL32 = 257, 260, 261
_LITERAL19, _ADR21, _PAGE21, _ADD12 = 273, 274, 275, 277
_TEST14, _BRANCH19, _JUMP26, _CALL26 = 279, 280, 282, 283
_LOADS = {278: 0, 284: 1, 285: 2, 286: 3, 299: 4}
"""Loads and stores with an offset within a page, and the logarithm of their bytes, by which the offset is divided."""
_GOT_PAGE21, _GOT_LOAD12 = 311, 312

_PAGE_BITS = 12
_LOW = (1 << _PAGE_BITS) - 1
_LARGEST_PAGE = 1 << 16
"""Pages of Linux on AArch64 have 4, 16 or 64 KiB."""


def _insert(memory: bytearray, at: int, value: int, bits: int, shift: int) -> None:
    """Put the signed `value` into a field of the instruction at `at`, which is zero."""
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise OverflowError
    word = int.from_bytes(memory[at : at + 4], "little") | (value & (1 << bits) - 1) << shift
    memory[at : at + 4] = word.to_bytes(4, "little")


def _insert_address(memory: bytearray, at: int, value: int) -> None:
    """Put a value of 21 bits into `adr` or `adrp`, whose lowest two bits lie apart."""
    if not -(1 << 20) <= value < 1 << 20:
        raise OverflowError
    word = int.from_bytes(memory[at : at + 4], "little") | (value & 3) << 29 | (value >> 2 & (1 << 19) - 1) << 5
    memory[at : at + 4] = word.to_bytes(4, "little")


def _branch(bits: int, shift: int) -> Patch:
    def patch(memory: bytearray, at: int, target: int, table: int) -> None:
        if (target - at) % 4:
            raise OverflowError
        _insert(memory, at, (target - at) // 4, bits, shift)

    return patch


def _near(memory: bytearray, at: int, target: int, table: int) -> None:
    _insert_address(memory, at, target - at)


def _page(memory: bytearray, at: int, target: int, table: int) -> None:
    _insert_address(memory, at, (target >> _PAGE_BITS) - (at >> _PAGE_BITS))


def _in_page(scale: int) -> Patch:
    def patch(memory: bytearray, at: int, target: int, table: int) -> None:
        if target % (1 << scale):
            raise OverflowError
        _insert(memory, at, (target & _LOW) >> scale, _PAGE_BITS + 1, 10)

    return patch


def _relative(size: int) -> Patch:
    def patch(memory: bytearray, at: int, target: int, table: int) -> None:
        write_signed(memory, at, target - at, size)

    return patch


_STUB = (0x90000010, 0xF9400211, 0xD61F0220)
"""`adrp x16, word; ldr x17, [x16, word]; br x17`: the registers that calls leave to a linker."""


def _stub(at: int, word: int) -> bytes:
    code = bytearray(b"".join(each.to_bytes(4, "little") for each in _STUB))
    _page(code, 0, word - (at & ~_LOW), 0)
    _in_page(3)(code, 4, word, 0)
    return bytes(code)


AARCH64 = Relocations(
    name="aarch64",
    page=_LARGEST_PAGE,
    absolute=_ABS64,
    by_table=frozenset({_GOT_PAGE21, _GOT_LOAD12}),
    to_table=frozenset(),
    calls=frozenset({_JUMP26, _CALL26, _PREL32, _PREL64}),
    patches={
        **dict.fromkeys((_JUMP26, _CALL26), _branch(26, 0)),
        **dict.fromkeys((_LITERAL19, _BRANCH19), _branch(19, 5)),
        _TEST14: _branch(14, 5),
        _ADR21: _near,
        **dict.fromkeys((_PAGE21, _GOT_PAGE21), _page),
        _ADD12: _in_page(0),
        **{kind: _in_page(scale) for kind, scale in _LOADS.items()},
        _GOT_LOAD12: _in_page(3),
        _PREL32: _relative(4),
        _PREL64: _relative(8),
    },
    stub=_stub,
    stub_bytes=16,
)

"""What relocations of AArch64 write into instructions, as an assembler writes them for the same distance."""

from __future__ import annotations

import pytest

from dlc.targets.cpu.relocations_aarch64 import AARCH64


def _patched(kind: int, instruction: int, at: int, target: int) -> int:
    memory = bytearray(at + 4)
    memory[at:] = instruction.to_bytes(4, "little")
    AARCH64.patches[kind](memory, at, target, 0)
    return int.from_bytes(memory[at:], "little")


@pytest.mark.parametrize(
    ("kind", "instruction", "at", "target", "expected"),
    [
        (283, 0x94000000, 0, 8, 0x94000002),  # bl .+8
        (282, 0x14000000, 8, 0, 0x17FFFFFE),  # b .-8
        (280, 0x54000000, 8, 4, 0x54FFFFE0),  # b.eq .-4
        (279, 0x36000000, 0, 4, 0x36000020),  # tbz w0, #0, .+4
        (274, 0x10000000, 0, 5, 0x30000020),  # adr x0, .+5
        (275, 0x90000000, 0xFFC, 0x5004, 0xB0000020),  # adrp x0, 5 pages on
        (275, 0x90000000, 0x1000, 0, 0xF0FFFFE0),  # adrp x0, the page before
        (277, 0x91000000, 0, 0x1234, 0x9108D000),  # add x0, x0, #0x234
        (299, 0x3DC00000, 0, 0x1FF0, 0x3DC3FC00),  # ldr q0, [x0, #0xff0]
        (312, 0xF9400000, 0, 0x2008, 0xF9400400),  # ldr x0, [x0, #8]
    ],
)
def test_fields_of_instructions(kind: int, instruction: int, at: int, target: int, expected: int) -> None:
    assert hex(_patched(kind, instruction, at, target)) == hex(expected)


@pytest.mark.parametrize(("kind", "target"), [(283, 1 << 27), (280, 1 << 20), (275, 1 << 32), (286, 4), (283, 2)])
def test_what_has_no_room_is_refused(kind: int, target: int) -> None:
    with pytest.raises(OverflowError):
        _patched(kind, 0, 0, target)


def test_jumps_to_imported_functions() -> None:
    code = AARCH64.stub(0x10, 0x21018)
    words = [hex(int.from_bytes(code[begin : begin + 4], "little")) for begin in range(0, len(code), 4)]
    assert words == ["0xb0000110", "0xf9400e11", "0xd61f0220"]  # adrp x16, 0x21 pages on; ldr x17, [x16, #24]; br x17

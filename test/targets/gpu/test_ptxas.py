"""What NVIDIA's assembler says is read right, and its absence is one clear error."""

from __future__ import annotations

import pytest

import dlc
from dlc.targets.gpu import ptxas
from dlc.targets.gpu.known_gpus import KNOWN_GPUS
from dlc.targets.gpu.occupancy import Occupancy, occupancy_of
from dlc.targets.gpu.ptx_text import one_text
from dlc.targets.gpu.ptxas import KernelUsage, assemble, find_ptxas, usages_of

_LOG = """
ptxas info    : Compiling entry function 'one' for 'sm_90'
ptxas info    : Function properties for one
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 8 bytes cumulative stack size, 5632 bytes smem
ptxas info    : Compiling entry function 'two' for 'sm_90'
ptxas info    : Function properties for two
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 0 barriers, 400 bytes cmem[0]
"""
_TEXT = b"""//
// Generated
.version 8.0
.target sm_90
.address_size 64

.visible .entry %s()
{
	ret;
}
"""


def test_usage_is_read_from_the_log() -> None:
    assert list(usages_of(_LOG)) == [KernelUsage("one", 40, 8, 4, 12, 5632), KernelUsage("two", 30, 0, 0, 0, 0)]
    assert [usage.spills for usage in usages_of(_LOG)] == [True, False]


def test_without_the_assembler_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptxas, "find_ptxas", lambda: None)
    with pytest.raises(dlc.TargetError, match=r"ptxas, which is not installed; pip install 'dlc\[ptxas\]', or write ptx"):
        assemble(_TEXT % b"one")


def test_texts_are_joined_under_one_header() -> None:
    joined = one_text([_TEXT % b"one", _TEXT % b"two"])
    assert joined.count(b".version") == 1 and joined.index(b".entry one") < joined.index(b".entry two")
    with pytest.raises(dlc.TargetError, match="not PTX for one GPU"):
        one_text([_TEXT % b"one", (_TEXT % b"two").replace(b"sm_90", b"sm_80")])


@pytest.mark.skipif(find_ptxas() is None, reason="NVIDIA's ptxas is not installed (pip install 'dlc[ptxas]')")
def test_the_assembler_takes_joined_texts_and_refuses_nonsense() -> None:
    found = assemble(one_text([_TEXT % b"one", _TEXT % b"two"]))
    assert sorted(found.usage) == ["one", "two"] and found.cubin[:4] == b"\x7fELF"
    with pytest.raises(dlc.TargetError, match="ptxas refuses the kernels"):
        assemble(_TEXT.replace(b"ret;", b"nonsense;") % b"one")


def test_occupancy_is_what_the_programming_guide_says() -> None:
    """65536 registers hold 8 blocks of 256 threads with 32 registers each, 2 with 128; 48 KiB of shared memory leave 4 of 228."""
    facts = KNOWN_GPUS["sm_90"]
    assert occupancy_of(facts, 256, 32, 0) == Occupancy(8, 1.0, "threads")
    assert occupancy_of(facts, 256, 128, 0) == Occupancy(2, 0.25, "registers")
    assert occupancy_of(facts, 256, 32, 48 * 1024) == Occupancy(4, 0.5, "shared memory")
    assert occupancy_of(facts, 32, 16, 0) == Occupancy(32, 0.5, "blocks")
    assert occupancy_of(KNOWN_GPUS["sm_86"], 32, 16, 0) == Occupancy(16, 16 / 48, "blocks")

"""Facts of a CPU come from data and can be overridden."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlc.targets.cpu import facts
from dlc.targets.cpu.facts import CpuFacts, host_facts


def test_host() -> None:
    host = host_facts()
    assert host.cores >= 1
    assert host.vector_bits in (64, 128, 256, 512)
    assert 0 < host.l1_bytes <= host.l2_bytes
    assert host.line_bytes >= 16


@pytest.mark.parametrize(
    ("features", "bits", "registers", "fma"),
    [
        ({"sse2"}, 128, 16, False),
        ({"sse2", "avx", "avx2", "fma"}, 256, 16, True),
        ({"sse2", "avx", "avx2", "fma", "avx512f"}, 512, 32, True),
        (set(), 64, 16, False),
    ],
)
def test_vector_units(features: set[str], bits: int, registers: int, fma: bool) -> None:
    cpu = CpuFacts(features=frozenset(features))
    assert (cpu.vector_bits, cpu.vector_registers, cpu.has_fma) == (bits, registers, fma)
    assert cpu.lanes(32) == max(1, bits // 32)


def test_override() -> None:
    cpu = CpuFacts().override(arch="aarch64", features=frozenset({"asimd"}), cores=8)
    assert (cpu.arch, cpu.cores, cpu.vector_bits, cpu.vector_registers) == ("aarch64", 8, 128, 32)


def test_reads_cpuinfo_and_caches(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nflags\t\t: fpu sse2 avx\n")
    for index, (level, kind, size) in enumerate([("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2M")]):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, value in (("level", level), ("type", kind), ("size", size), ("coherency_line_size", "64")):
            (folder / name).write_text(f"{value}\n")
    assert facts._features(tmp_path / "cpuinfo") == {"fpu", "sse2", "avx"}
    assert facts._cache_sizes(tmp_path) == {"l1_bytes": 48 * 1024, "line_bytes": 64, "l2_bytes": 2 * 1024**2}


def test_unknown_system(tmp_path: Path) -> None:
    assert facts._features(tmp_path / "missing") == frozenset()
    assert facts._cache_sizes(tmp_path / "missing") == {}

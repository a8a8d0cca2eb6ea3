"""Facts of a CPU come from data and can be overridden."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlc._mlir import ir
from dlc.errors import TargetError
from dlc.targets.cpu import host as this_machine
from dlc.targets.cpu.known_cpus import KNOWN_CPUS
from dlc.targets.machine import Cache, Instruction, Instructions, Machine, facts_of, host_facts, set_target, target_facts


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
    cpu = Machine(features=frozenset(features))
    assert (cpu.vector_bits, cpu.vector_registers, cpu.has_fma) == (bits, registers, fma)
    assert cpu.lanes(32) == max(1, bits // 32)


def test_override() -> None:
    cpu = Machine().override(arch="aarch64", features=frozenset({"asimd"}), cores=8)
    assert (cpu.arch, cpu.cores, cpu.vector_bits, cpu.vector_registers) == ("aarch64", 8, 128, 32)


def test_flat_names_are_members_of_records() -> None:
    cpu = Machine().override(line_bytes=128, l1_bytes=65536, l2_ways=4, l3_bytes=1 << 20, sum_cycles=2, l3_line_cycles=16)
    assert {cache.line for cache in cpu.caches} == {128}
    assert (cpu.l1.bytes, cpu.l2.ways, cpu.l3.bytes, cpu.l3.busy_bytes_per_cycle) == (65536, 4, 1 << 20, 8.0)
    assert (cpu.instruction("add_f32").latency, cpu.sum_cycles, cpu.l3_line_cycles) == (2.0, 2, 16)


def test_instructions_follow_ports_unless_stated() -> None:
    wide = frozenset({"avx512f", "avx512_bf16", "avx512_vnni"})
    cpu = Machine(features=wide, fma_ports=2)
    assert (cpu.cycles("fma_f32"), cpu.cycles("dot_bf16"), cpu.instruction("fma_f32").latency) == (0.5, 0.5, 4.0)
    slow = cpu.override(instructions=Instructions(dot_bf16=Instruction(cycles=2.0), dot_i8=Instruction(cycles=3.0)))
    assert slow.instruction("dot_bf16") == Instruction(5.0, 2.0)
    assert (cpu.prefers_bf16_dot, slow.prefers_bf16_dot, slow.has_bf16_dot) == (True, False, True)
    assert (cpu.prefers_vnni, slow.prefers_vnni, slow.has_vnni) == (True, False, True)


def test_reads_cpuinfo_and_caches(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nflags\t\t: fpu sse2 avx\n")
    for index, (level, kind, size) in enumerate([("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2M")]):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        said = {"level": level, "type": kind, "size": size, "coherency_line_size": "64", "ways_of_associativity": "16"}
        for name, value in said.items():
            (folder / name).write_text(f"{value}\n")
    assert this_machine._features(tmp_path / "cpuinfo") == {"fpu", "sse2", "avx"}
    expected = {"l1_bytes": 48 * 1024, "line_bytes": 64, "l2_bytes": 2 * 1024**2, "l2_ways": 16}
    assert this_machine._cache_sizes(tmp_path) == expected
    assert Machine().override(**expected).l2_way_bytes == 128 * 1024


def test_reads_who_shares_a_cache(tmp_path: Path) -> None:
    (tmp_path / "index3").mkdir()
    for name, value in {"level": "3", "type": "Unified", "ways_of_associativity": "12", "shared_cpu_list": "0-3,8,10-11"}.items():
        (tmp_path / "index3" / name).write_text(f"{value}\n")
    assert this_machine._with_sharing(Cache(), 3, tmp_path) == Cache(ways=12, shared_by=7)
    assert this_machine._with_sharing(Cache(), 2, tmp_path) == Cache()
    assert [this_machine._count_of(text) for text in ("0", "", "0-", "all")] == [1, 0, 0, 0]


def test_unknown_system(tmp_path: Path) -> None:
    assert this_machine._features(tmp_path / "missing") == frozenset()
    assert this_machine._cache_sizes(tmp_path / "missing") == {}


def test_ports_of_multiply_adds(tmp_path: Path) -> None:
    wide = frozenset({"avx512f"})
    for vendor, family, model, ports in (("AuthenticAMD", 25, 17, 1), ("GenuineIntel", 6, 207, 2), ("GenuineIntel", 6, 140, 1)):
        text = f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n\nvendor_id\t: other\n"
        (tmp_path / "cpuinfo").write_text(text)
        assert this_machine._fma_ports(tmp_path / "cpuinfo", wide) == ports
    assert this_machine._fma_ports(tmp_path / "missing", wide) == 2


def test_timing_of_designs(tmp_path: Path) -> None:
    for vendor, family, model, cycles in (
        ("AuthenticAMD", 25, 17, (3, 4)),
        ("AuthenticAMD", 21, 2, (4, 8)),
        ("GenuineIntel", 6, 85, (4, 8)),
    ):
        (tmp_path / "cpuinfo").write_text(f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n")
        found = this_machine._with_timing(Machine(), tmp_path / "cpuinfo")
        assert (found.sum_cycles, found.l3_line_cycles) == cycles
    assert this_machine._with_timing(Machine(), tmp_path / "missing") == Machine()


@pytest.mark.parametrize("name", sorted(KNOWN_CPUS))
def test_known_cpus(name: str) -> None:
    cpu = target_facts(f"cpu:{name}")
    assert cpu == target_facts(name)
    assert cpu.processor == KNOWN_CPUS[name].processor
    assert len(cpu.llvm_features) == len(cpu.features) + ("avx512f" in cpu.features), "each feature has a name in LLVM"
    assert not cpu.missing_in(cpu)


@pytest.mark.parametrize(
    ("name", "bits", "registers", "fma", "vnni", "bf16"),
    [
        ("generic", 128, 16, False, False, False),
        ("haswell", 256, 16, True, False, False),
        ("alderlake", 256, 16, True, True, False),
        ("skylake-avx512", 512, 32, True, False, False),
        ("znver4", 512, 32, True, True, True),
        ("neoverse-n1", 128, 32, True, False, False),
        ("neoverse-v1", 128, 32, True, False, True),
    ],
)
def test_named_targets(name: str, bits: int, registers: int, fma: bool, vnni: bool, bf16: bool) -> None:
    cpu = target_facts(name)
    assert (cpu.vector_bits, cpu.vector_registers, cpu.has_fma) == (bits, registers, fma)
    assert (cpu.has_vnni, cpu.has_bf16_dot) == (vnni, bf16)


def test_this_machine_and_unknown_names() -> None:
    assert target_facts("cpu") == target_facts("cpu:native") == host_facts()
    with pytest.raises(
        TargetError, match=r"unknown target 'cpu:haswel'; did you mean 'cpu:haswell'\? \(targets: cpu, cpu:native, "
    ):
        target_facts("cpu:haswel")
    for name in ("gpus", "", "cpu:", "cpu:cpu"):
        with pytest.raises(TargetError, match="unknown target"):
            target_facts(name)


def test_what_is_missing() -> None:
    haswell, wide = target_facts("haswell"), target_facts("skylake-avx512")
    assert haswell.missing_in(wide) == []
    assert wide.missing_in(haswell) == ["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]
    assert target_facts("apple-m1").missing_in(wide) == ["aarch64"]


def test_attribute() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse("func.func @f() { return }").operation
        function = module.regions[0].blocks[0].operations[0].operation
        assert facts_of(function) == host_facts()
        slow = Machine(instructions=Instructions(dot_bf16=Instruction(cycles=2.5)), fork_cycles=12.5)
        for cpu in (target_facts("znver4"), target_facts("apple-m1"), host_facts(), slow):
            set_target(module, cpu)
            assert facts_of(function) == facts_of(module) == cpu


def test_attribute_with_records() -> None:
    text = "{l2_bytes = 65536 : i64, l1 = {latency = 6 : i64}, instructions = {add_f32 = {cycles = 0.25}}}"
    with ir.Context():
        cpu = facts_of(ir.Module.parse(f"module attributes {{dlc.target = {text}}} {{}}").operation)
    assert (cpu.l2.bytes, cpu.l2.ways, cpu.l1.latency, cpu.l1.bytes) == (65536, 8, 6.0, 32768)
    assert cpu.instruction("add_f32") == Instruction(4.0, 0.25)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"haswell"', 'is "haswell"; give a dictionary of arch, cores, .* or run dl-set-target'),
        ("{registers = 3}", "'registers = 3 : i64' is no fact of a CPU \\(facts: arch, cores"),
        ('{cores = "two"}', "'cores = \"two\"' is no fact of a CPU"),
        ("{features = [1]}", "is no fact of a CPU"),
        ("{l1 = {size = 3}}", "'l1 = .*' is no fact of a CPU"),
        ("{instructions = {fma_f32 = 2.0}}", "'instructions = .*' is no fact of a CPU"),
    ],
)
def test_attribute_that_says_nothing(text: str, message: str) -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(f"module attributes {{dlc.target = {text}}} {{}}")
        with pytest.raises(TargetError, match=message):
            facts_of(module.operation)

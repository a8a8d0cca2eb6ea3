"""This machine, as the system describes it."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from pathlib import Path

from dlc.targets.cpu.calibration.row import load_row
from dlc.targets.cpu.microarchitectures import Microarchitecture, microarchitecture_of
from dlc.targets.llvm_features import LLVM_FEATURES
from dlc.targets.machine import Cache, Machine

_CPUINFO = Path("/proc/cpuinfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}
_ARCHITECTURES = {"AMD64": "x86_64", "arm64": "aarch64"}
_IDENTITY = ("vendor_id", "cpu family", "model", "stepping", "model name", "CPU implementer", "CPU variant", "CPU part")
_FALLBACK_FEATURES = {"x86_64": frozenset({"sse", "sse2"}), "aarch64": frozenset({"asimd"})}


def calibrated_host() -> Machine:
    """This machine, with the figures that `dlc calibrate` has measured of it if it has."""
    machine = detect_host()
    row = load_row(processor_of(machine))
    return machine if row is None else row.applied_to(machine)


def processor_of(machine: Machine) -> str:
    """What makes this machine the one that was measured: its processor, as the system names it, and the width of its vectors."""
    fields = _first_processor(_CPUINFO)
    said = [fields[key] for key in _IDENTITY if fields.get(key)]
    return " ".join([machine.arch, *said, f"{machine.vector_bits} bits"])


def detect_host() -> Machine:
    """This machine; what neither the system nor a row of its design tells keeps the defaults of `Machine`."""
    arch = _ARCHITECTURES.get(platform.machine(), platform.machine())
    read = _features(_CPUINFO) or _FALLBACK_FEATURES.get(arch, frozenset())
    features = frozenset(read & LLVM_FEATURES.get(arch, {}).keys())
    known = {name: size for name, size in _cache_sizes(_CACHES).items() if size}
    facts = Machine(arch=arch, features=features, fma_ports=_fma_ports(_CPUINFO, features), cores=_usable_cores())
    sized = _with_timing(facts, _CPUINFO).override(**known)
    l1, l2, l3 = (_with_sharing(cache, level, _CACHES) for level, cache in enumerate(sized.caches, start=1))
    return sized.override(l1=l1, l2=l2, l3=l3)


def has_timing() -> bool:
    """Whether a row has the timing of this machine's design."""
    return _timing_of(_CPUINFO) is not None


def _timing_of(cpuinfo: Path) -> Microarchitecture | None:
    fields = _first_processor(cpuinfo)
    return microarchitecture_of(*(fields.get(key, "") for key in ("vendor_id", "cpu family", "model")))


def _with_timing(facts: Machine, cpuinfo: Path) -> Machine:
    """The same machine with the timing of its design, where a row has that."""
    timing = _timing_of(cpuinfo)
    if timing is None:
        return facts
    levels = zip(facts.caches, (timing.l1, timing.l2, timing.l3), strict=True)
    l1, l2, l3 = (each.in_cache(cache) for cache, each in levels)
    found = facts.override(instructions=timing.instructions, l1=l1, l2=l2, l3=l3)
    return found.override(memory=timing.memory, tlb=timing.tlb, scheduler_entries=timing.scheduler_entries)


_HALF_WIDE_FAMILIES = {("AuthenticAMD", "25")}
"""Vendors and families whose AVX-512 multiply-adds start one a cycle: Zen 4."""

_CLIENT_MODELS = frozenset({"125", "126", "140", "141", "167"})
"""Models of Intel with AVX-512 for clients (Ice Lake, Tiger Lake, Rocket Lake), which do likewise."""


def _fma_ports(cpuinfo: Path, features: frozenset[str]) -> int:
    """Multiply-adds of the widest vectors that start in a cycle."""
    if "avx512f" not in features:
        return 2
    fields = _first_processor(cpuinfo)
    vendor, family, model = (fields.get(key, "") for key in ("vendor_id", "cpu family", "model"))
    one = (vendor, family) in _HALF_WIDE_FAMILIES or (vendor == "GenuineIntel" and family == "6" and model in _CLIENT_MODELS)
    return 1 if one else 2


def _first_processor(cpuinfo: Path) -> dict[str, str]:
    """What the system says of the first processor, by name; empty when the file is missing."""
    try:
        text = cpuinfo.read_text(encoding="utf-8")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _features(cpuinfo: Path) -> frozenset[str]:
    """Feature flags of the first processor; empty when the file is missing."""
    fields = _first_processor(cpuinfo)
    return frozenset((fields.get("flags") or fields.get("Features") or "").split())


def _cache_sizes(folder: Path) -> dict[str, int]:
    """Sizes of the data caches, of a line and of a set, by the field name of `Machine`; 0 where unknown."""
    found: dict[str, int] = {}
    for index in sorted(folder.glob("index*")):
        if _read(index / "type") not in ("Data", "Unified"):
            continue
        level = _read(index / "level")
        if level in ("1", "2", "3"):
            found[f"l{level}_bytes"] = _parse_size(_read(index / "size"))
        if level == "1":
            found["line_bytes"] = _parse_size(_read(index / "coherency_line_size"))
        if level == "2":
            found["l2_ways"] = _parse_size(_read(index / "ways_of_associativity"))
    return found


def _with_sharing(cache: Cache, level: int, folder: Path) -> Cache:
    """`cache`, which is of that level, with its ways and the number of processors that share it, where the system tells."""
    for index in sorted(folder.glob("index*")):
        if _read(index / "level") != str(level) or _read(index / "type") not in ("Data", "Unified"):
            continue
        ways, sharing = _parse_size(_read(index / "ways_of_associativity")), _count_of(_read(index / "shared_cpu_list"))
        return replace(cache, ways=ways or cache.ways, shared_by=sharing or cache.shared_by)
    return cache


def _count_of(listed: str) -> int:
    """How many numbers `0-3,8` lists; 0 for a text that is no list."""
    ends = [part.partition("-") for part in listed.split(",") if part]
    if not all(first.isdigit() and (not dash or last.isdigit()) for first, dash, last in ends):
        return 0
    return sum(int(last or first) - int(first) + 1 for first, _, last in ends)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _parse_size(text: str) -> int:
    """`48K` as 49152; 0 when `text` is no size."""
    digits = text.rstrip("KMG")
    return int(digits) * _UNITS.get(text[-1], 1) if digits.isdigit() else 0


def _usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

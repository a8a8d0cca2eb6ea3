"""What the code generator needs to know of a CPU. Made from data, so any CPU can be described on any machine."""

from __future__ import annotations

import dataclasses
import functools
import os
import platform
from dataclasses import dataclass
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}
_ARCHITECTURES = {"AMD64": "x86_64", "arm64": "aarch64"}
_VECTOR_BITS = (("avx512f", 512), ("avx", 256), ("sse2", 128), ("asimd", 128), ("neon", 128))
_FALLBACK_FEATURES = {"x86_64": frozenset({"sse", "sse2"}), "aarch64": frozenset({"asimd"})}


@dataclass(frozen=True)
class CpuFacts:
    """A CPU as seen by tiling and vectorisation. Sizes are in bytes; `override` makes a variation."""

    arch: str = "x86_64"
    features: frozenset[str] = frozenset({"sse", "sse2"})
    cores: int = 1
    l1_bytes: int = 32 * 1024
    l2_bytes: int = 512 * 1024
    l3_bytes: int = 4 * 1024**2
    line_bytes: int = 64

    @property
    def vector_bits(self) -> int:
        """Width of a vector register; 64 without any vector unit."""
        return next((bits for feature, bits in _VECTOR_BITS if feature in self.features), 64)

    @property
    def vector_registers(self) -> int:
        """Number of vector registers."""
        return 32 if self.arch == "aarch64" or "avx512f" in self.features else 16

    @property
    def has_fma(self) -> bool:
        """Whether one instruction multiplies and adds."""
        return self.arch == "aarch64" or "fma" in self.features or "avx512f" in self.features

    def lanes(self, element_bits: int) -> int:
        """How many elements of this width one vector register holds."""
        return max(1, self.vector_bits // element_bits)

    def override(self, **changes: object) -> CpuFacts:
        """The same CPU with other facts, by field name."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


@functools.lru_cache(maxsize=1)
def host_facts() -> CpuFacts:
    """Facts of this machine; what the system does not tell keeps the defaults of `CpuFacts`."""
    arch = _ARCHITECTURES.get(platform.machine(), platform.machine())
    features = _features(_CPUINFO) or _FALLBACK_FEATURES.get(arch, frozenset())
    known = {name: size for name, size in _cache_sizes(_CACHES).items() if size}
    return CpuFacts(arch=arch, features=features, cores=_usable_cores(), **known)


def _features(cpuinfo: Path) -> frozenset[str]:
    """Feature flags of the first processor; empty when the file is missing."""
    try:
        text = cpuinfo.read_text(encoding="utf-8")
    except OSError:
        return frozenset()
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return frozenset()


def _cache_sizes(folder: Path) -> dict[str, int]:
    """Sizes of the data caches and the line size, by the field name of `CpuFacts`; 0 where unknown."""
    found: dict[str, int] = {}
    for index in sorted(folder.glob("index*")):
        if _read(index / "type") not in ("Data", "Unified"):
            continue
        level = _read(index / "level")
        if level in ("1", "2", "3"):
            found[f"l{level}_bytes"] = _parse_size(_read(index / "size"))
        if level == "1":
            found["line_bytes"] = _parse_size(_read(index / "coherency_line_size"))
    return found


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

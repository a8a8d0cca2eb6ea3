"""What the code generator needs to know of a CPU. Made from data, so any CPU can be described on any machine.

Passes ask `facts_of(op)`: a module states its target in the attribute `dlc.target`, and without it this machine is meant.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlc._mlir import ir
from dlc.diagnostics import did_you_mean
from dlc.errors import TargetError
from dlc.targets.cpu.known_cpus import ALIASES, KNOWN_CPUS, LLVM_FEATURES

L1_WAY_BYTES = 4096
"""Lines a multiple of so many bytes apart share a set of the first-level cache, which is indexed by the bits within a page."""

TARGET = "dlc.target"
"""The module attribute that holds the facts, by the field names of `CpuFacts`."""

_CPUINFO = Path("/proc/cpuinfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}
_ARCHITECTURES = {"AMD64": "x86_64", "arm64": "aarch64"}
_VECTOR_BITS = (("avx512f", 512), ("avx", 256), ("sse2", 128), ("asimd", 128))
_FALLBACK_FEATURES = {"x86_64": frozenset({"sse", "sse2"}), "aarch64": frozenset({"asimd"})}
MANY_REGISTERS = 32
"""Vector registers from which on tiles have 48 columns and more."""
_NATIVE = "native"
_GPU_HINT = "; models do not run on GPUs yet: dlc-opt --affine-to-gpu --gpu-to-ptx makes PTX of kernels"
_FAMILY = "cpu"


@dataclass(frozen=True)
class CpuFacts:
    """A CPU as seen by tiling and vectorisation. Sizes are in bytes; `override` makes a variation.

    `processor` is LLVM's name of it, empty for the machine that compiles; `features` are named as Linux does; `fma_ports` is
    how many multiply-adds of the widest vectors start in a cycle. `l2_ways` lines that lie a multiple of `l2_way_bytes` apart are
    in the second-level cache at once. A sum of floats is there after `sum_cycles`, a multiply-add after four. The last cache gives
    a core that reads one line after the other a line in `l3_line_cycles`.
    """

    processor: str = ""
    arch: str = "x86_64"
    features: frozenset[str] = frozenset({"sse", "sse2"})
    fma_ports: int = 2
    cores: int = 1
    l1_bytes: int = 32 * 1024
    l2_bytes: int = 512 * 1024
    l3_bytes: int = 4 * 1024**2
    line_bytes: int = 64
    l2_ways: int = 8
    sum_cycles: int = 4
    l3_line_cycles: int = 8

    @property
    def l2_way_bytes(self) -> int:
        """Bytes of the second-level cache, the line after which falls on the place of the first."""
        return max(self.line_bytes, self.l2_bytes // max(1, self.l2_ways))

    @property
    def vector_bits(self) -> int:
        """Width of a vector register; 64 without any vector unit."""
        return next((bits for feature, bits in _VECTOR_BITS if feature in self.features), 64)

    @property
    def vector_registers(self) -> int:
        """Number of vector registers."""
        return 32 if self.arch == "aarch64" or "avx512f" in self.features else 16

    @property
    def has_many_registers(self) -> bool:
        """Whether there are registers for tiles of 48 columns and more."""
        return self.vector_registers >= MANY_REGISTERS

    @property
    def has_mask_registers(self) -> bool:
        """Whether an instruction stores some lanes of a vector as fast as all of them."""
        return "avx512f" in self.features

    @property
    def has_split_units(self) -> bool:
        """Whether twice as many multiply-adds start in a cycle where vectors have half the width."""
        return "avx512f" in self.features and self.fma_ports == 1

    @property
    def has_fma(self) -> bool:
        """Whether one instruction multiplies and adds."""
        return self.arch == "aarch64" or "fma" in self.features or "avx512f" in self.features

    @property
    def has_vnni(self) -> bool:
        """Whether one instruction adds four products of u8 and i8 to each i32 of the widest vector."""
        wide = "avx512f" in self.features
        return "avx512_vnni" in self.features if wide else "avx_vnni" in self.features

    @property
    def has_bf16_dot(self) -> bool:
        """Whether one instruction adds two products of bf16 to each f32 of the widest vector."""
        return ("bf16" if self.arch == "aarch64" else "avx512_bf16") in self.features

    @property
    def has_f16(self) -> bool:
        """Whether f16 is loaded and stored as f32 by one instruction."""
        return self.arch == "aarch64" or "f16c" in self.features or "avx512f" in self.features

    @property
    def llvm_features(self) -> tuple[str, ...]:
        """The features in LLVM's notation (`+avx2`), sorted; vectors of 512 bits are used where there are any."""
        names = LLVM_FEATURES.get(self.arch, {})
        found = sorted(f"+{names[feature]}" for feature in self.features if feature in names)
        return (*found, "-prefer-256-bit") if "avx512f" in self.features else tuple(found)

    def lanes(self, element_bits: int) -> int:
        """How many elements of this width one vector register holds."""
        return max(1, self.vector_bits // element_bits)

    def missing_in(self, other: CpuFacts) -> list[str]:
        """What a machine with the facts `other` lacks to run code for this one; empty when it can."""
        if self.arch != other.arch:
            return [self.arch]
        return sorted(self.features - other.features)

    def override(self, **changes: object) -> CpuFacts:
        """The same CPU with other facts, by field name."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


def known_targets() -> list[str]:
    """The names that `target_facts` knows."""
    return [_FAMILY, *(f"{_FAMILY}:{name}" for name in (_NATIVE, *KNOWN_CPUS, *ALIASES))]


def target_facts(target: str) -> CpuFacts:
    """The facts of `cpu` or `cpu:native` (this machine), `cpu:haswell` or `haswell`; `TargetError` for an unknown name."""
    if not isinstance(target, str):
        raise TargetError(f"a target is a name like cpu:haswell, not {target!r}")
    name = target.removeprefix(f"{_FAMILY}:")
    if name == _NATIVE or target == _FAMILY:
        return host_facts()
    row = KNOWN_CPUS.get(ALIASES.get(name, name))
    if row is None:
        hint = _GPU_HINT if target.partition(":")[0] == "gpu" else did_you_mean(target, known_targets())
        raise TargetError(f"unknown target '{target}'{hint} (targets: {_listed()})")
    return CpuFacts(
        processor=row.processor,
        arch=row.arch,
        features=frozenset(row.features),
        fma_ports=row.fma_ports,
        cores=row.cores,
        l1_bytes=row.l1 * 1024,
        l2_bytes=row.l2 * 1024,
        l3_bytes=row.l3 * 1024,
        line_bytes=row.line,
        l2_ways=row.l2_ways,
        sum_cycles=row.sum_cycles,
        l3_line_cycles=row.l3_line_cycles,
    )


def _listed() -> str:
    return ", ".join(known_targets())


def facts_of(op: ir.Operation) -> CpuFacts:
    """The facts of the target that the module around `op` is for: its attribute `dlc.target`, else this machine's.

    `TargetError` when the attribute does not say what it should.
    """
    module = op
    while module.parent is not None:
        module = module.parent
    if TARGET not in module.attributes:
        return host_facts()
    return _read_attribute(module.attributes[TARGET])


def set_target(module: ir.Operation, facts: CpuFacts) -> None:
    """State in `module` that its code is for the CPU `facts`."""
    with module.context:
        module.attributes[TARGET] = ir.DictAttr.get({key: _to_attribute(value) for key, value in vars(facts).items()})


def _to_attribute(value: str | int | frozenset[str]) -> ir.Attribute:
    if isinstance(value, frozenset):
        return ir.ArrayAttr.get([ir.StringAttr.get(item) for item in sorted(value)])
    return ir.StringAttr.get(value) if isinstance(value, str) else ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _read_attribute(attribute: ir.Attribute) -> CpuFacts:
    """The facts that `set_target` wrote, or a person: what is left out has the default of `CpuFacts`."""
    fields = {field.name for field in dataclasses.fields(CpuFacts)}
    if not isinstance(attribute, ir.DictAttr):
        raise TargetError(f"{TARGET} is {attribute}; give a dictionary of {', '.join(sorted(fields))}, or run dl-set-target")
    found: dict[str, Any] = {}
    for entry in attribute:
        value = _from_attribute(entry.attr)
        if entry.name not in fields or type(value) is not type(getattr(CpuFacts(), entry.name)):
            known = ", ".join(sorted(fields))
            raise TargetError(f"{TARGET}: '{entry.name} = {entry.attr}' is no fact of a CPU (facts: {known})")
        found[entry.name] = value
    return CpuFacts(**found)


def _from_attribute(attribute: ir.Attribute) -> str | int | frozenset[str] | None:
    if isinstance(attribute, ir.StringAttr):
        return str(attribute.value)
    if isinstance(attribute, ir.IntegerAttr):
        return int(attribute.value)
    if isinstance(attribute, ir.ArrayAttr) and all(isinstance(item, ir.StringAttr) for item in attribute):
        return frozenset(str(ir.StringAttr(item).value) for item in attribute)
    return None


@functools.lru_cache(maxsize=1)
def host_facts() -> CpuFacts:
    """Facts of this machine; what the system does not tell keeps the defaults of `CpuFacts`."""
    arch = _ARCHITECTURES.get(platform.machine(), platform.machine())
    read = _features(_CPUINFO) or _FALLBACK_FEATURES.get(arch, frozenset())
    features = frozenset(read & LLVM_FEATURES.get(arch, {}).keys())
    known = {name: size for name, size in _cache_sizes(_CACHES).items() if size}
    facts = CpuFacts(arch=arch, features=features, fma_ports=_fma_ports(_CPUINFO, features), cores=_usable_cores())
    return facts.override(**_zen_cycles(_CPUINFO), **known)


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


_ZEN = frozenset({("AuthenticAMD", family) for family in ("23", "25", "26")})
"""Vendors and families whose sums of floats take three cycles, and whose last cache is one of a few cores."""


def _zen_cycles(cpuinfo: Path) -> dict[str, int]:
    """Cycles of Zen that differ from the defaults of `CpuFacts`, by its field names; nothing for other processors."""
    fields = _first_processor(cpuinfo)
    is_zen = (fields.get("vendor_id"), fields.get("cpu family")) in _ZEN
    return {"sum_cycles": 3, "l3_line_cycles": 4} if is_zen else {}


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
    """Sizes of the data caches, of a line and of a set, by the field name of `CpuFacts`; 0 where unknown."""
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

"""What code generation knows of a machine. Made from data, so any machine can be described on any other.

Passes ask `facts_of(op)` and `gpu_facts_of(op)`: a module states its CPU in the attribute `dlc.target` and its GPU in `dlc.gpu`.
Without the first, the machine that compiles is meant, without the second `GpuMachine()`. Lowering sees nothing else of `targets/`.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
from dataclasses import dataclass
from typing import Any, TypeVar

from dlc._mlir import ir
from dlc.errors import TargetError
from dlc.targets.llvm_features import LLVM_FEATURES

TARGET = "dlc.target"
"""The module attribute that holds the CPU, by the field names of `Machine`."""

GPU = "dlc.gpu"
"""The module attribute that holds the GPU, by the field names of `GpuMachine`."""

L1_WAY_BYTES = 4096
"""Lines a multiple of so many bytes apart share a set of the first-level cache, which is indexed by the bits within a page."""

MANY_REGISTERS = 32
"""Vector registers from which on tiles have 48 columns and more."""

_VECTOR_BITS = (("avx512f", 512), ("avx", 256), ("sse2", 128), ("asimd", 128))


@dataclass(frozen=True)
class Machine:
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

    def missing_in(self, other: Machine) -> list[str]:
        """What a machine with the facts `other` lacks to run code for this one; empty when it can."""
        if self.arch != other.arch:
            return [self.arch]
        return sorted(self.features - other.features)

    def override(self, **changes: object) -> Machine:
        """The same CPU with other facts, by field name."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class GpuMachine:
    """A GPU as seen by the mapping of loops to blocks and threads. Sizes are in bytes.

    `chip` is LLVM's name of it, `ptx` the version of PTX, times ten. A multiprocessor runs `threads_per_multiprocessor` threads at
    a time; a warp's threads run in step. A block has `block_threads` threads where its loops allow, never more than `most_threads`.
    """

    chip: str = "sm_80"
    ptx: int = 70
    multiprocessors: int = 108
    threads_per_multiprocessor: int = 2048
    shared_bytes: int = 48 * 1024
    """What a block may have of shared memory without asking the driver."""
    warp_threads: int = 32
    block_threads: int = 256
    most_threads: int = 1024
    most_blocks_y: int = 65535
    """Blocks that a grid has at most along y and z; along x there are 2^31 - 1."""
    sector_bytes: int = 32
    """What memory moves at least."""

    @property
    def threads(self) -> int:
        """Threads that run at a time."""
        return self.multiprocessors * self.threads_per_multiprocessor


def facts_of(op: ir.Operation) -> Machine:
    """The CPU that the module around `op` is for: its attribute `dlc.target`, else this machine.

    `TargetError` when the attribute does not say what it should.
    """
    module = _module_of(op)
    return _read(module.attributes[TARGET], TARGET, Machine) if TARGET in module.attributes else host_facts()


def gpu_facts_of(op: ir.Operation) -> GpuMachine:
    """The GPU that the module around `op` is for. `TargetError` when its attribute does not say what it should."""
    module = _module_of(op)
    return _read(module.attributes[GPU], GPU, GpuMachine) if GPU in module.attributes else GpuMachine()


def set_target(module: ir.Operation, facts: Machine) -> None:
    """State in `module` that its code is for the CPU `facts`."""
    _write(module, TARGET, facts)


def set_gpu(module: ir.Operation, facts: GpuMachine) -> None:
    """State in `module` that its kernels are for the GPU `facts`; the rest is for the CPU of `dlc.target`, as in any module."""
    _write(module, GPU, facts)


@functools.lru_cache(maxsize=1)
def host_facts() -> Machine:
    """This machine."""
    from dlc.targets.cpu.host import detect_host

    return detect_host()


def target_facts(target: str) -> Machine:
    """The CPU called `cpu` or `cpu:native` (this machine), `cpu:haswell` or `haswell`; `TargetError` for another name."""
    found = _find_target(target).machine(target)
    if not isinstance(found, Machine):
        raise TargetError(f"target '{target}' is no CPU; name one, as cpu:haswell")
    return found


def state_target(module: ir.Operation, target: str) -> None:
    """State in `module` that its code is for the target called `target`; `TargetError` for an unknown name."""
    _find_target(target).state(module, target)


def _find_target(name: str) -> Any:
    """The `Target` of that name, which knows passes and is imported when it is asked for: passes import this file."""
    return importlib.import_module("dlc.targets.registry").find_target(name)


def _module_of(op: ir.Operation) -> ir.Operation:
    while op.parent is not None:
        op = op.parent.operation
    return op


_NOUNS = {TARGET: "a CPU", GPU: "a GPU"}
_Facts = TypeVar("_Facts", Machine, GpuMachine)


def _write(module: ir.Operation, name: str, facts: Machine | GpuMachine) -> None:
    with module.context:
        module.attributes[name] = ir.DictAttr.get({key: _to_attribute(value) for key, value in vars(facts).items()})


def _to_attribute(value: str | int | frozenset[str]) -> ir.Attribute:
    if isinstance(value, frozenset):
        return ir.ArrayAttr.get([ir.StringAttr.get(item) for item in sorted(value)])
    return ir.StringAttr.get(value) if isinstance(value, str) else ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _read(attribute: ir.Attribute, name: str, kind: type[_Facts]) -> _Facts:
    """The facts that `_write` wrote, or a person: what is left out has the default of `kind`."""
    known = ", ".join(sorted(field.name for field in dataclasses.fields(kind)))
    defaults = vars(kind())
    if not isinstance(attribute, ir.DictAttr):
        raise TargetError(f"{name} is {attribute}; give a dictionary of {known}, or run dl-set-target")
    found: dict[str, Any] = {}
    for entry in attribute:
        value = _from_attribute(entry.attr)
        if entry.name not in defaults or type(value) is not type(defaults[entry.name]):
            raise TargetError(f"{name}: '{entry.name} = {entry.attr}' is no fact of {_NOUNS[name]} (facts: {known})")
        found[entry.name] = value
    return kind(**found)


def _from_attribute(attribute: ir.Attribute) -> str | int | frozenset[str] | None:
    if isinstance(attribute, ir.StringAttr):
        return str(attribute.value)
    if isinstance(attribute, ir.IntegerAttr):
        return int(attribute.value)
    if isinstance(attribute, ir.ArrayAttr) and all(isinstance(item, ir.StringAttr) for item in attribute):
        return frozenset(str(ir.StringAttr(item).value) for item in attribute)
    return None

"""What the code generator needs to know of a GPU. Made from data: no GPU is asked.

Passes ask `gpu_facts_of(op)`: a module states its GPU in the attribute `dlc.gpu`, and without it `DEFAULT` is meant. What runs on
the host is for the CPU of `dlc.target`, as in any module.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from dlc._mlir import ir
from dlc.diagnostics import did_you_mean
from dlc.errors import TargetError
from dlc.targets.gpu.known_gpus import KNOWN_GPUS

GPU = "dlc.gpu"
"""The module attribute that holds the facts, by the field names of `GpuFacts`."""

FAMILY = "gpu"
DEFAULT = "sm_80"
"""The GPU of a module that names none; newer ones run its code, too."""


@dataclass(frozen=True)
class GpuFacts:
    """A GPU as seen by the mapping of loops to blocks and threads. Sizes are in bytes.

    `chip` is LLVM's name of it, `ptx` the version of PTX, times ten. A multiprocessor runs `threads_per_multiprocessor` threads at
    a time; a warp's threads run in step. A block has `block_threads` threads where its loops allow, never more than `most_threads`.
    """

    chip: str = DEFAULT
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


def known_gpus() -> list[str]:
    """The names that `gpu_facts` knows."""
    return [FAMILY, *(f"{FAMILY}:{name}" for name in KNOWN_GPUS)]


def gpu_facts(target: str) -> GpuFacts:
    """The facts of `gpu` (`DEFAULT`) or `gpu:sm_90`; `TargetError` for an unknown name."""
    name = DEFAULT if target == FAMILY else target.removeprefix(f"{FAMILY}:")
    row = KNOWN_GPUS.get(name)
    if row is None:
        raise TargetError(f"unknown target '{target}'{did_you_mean(target, known_gpus())} (targets: {', '.join(known_gpus())})")
    return GpuFacts(chip=name, ptx=row.ptx, multiprocessors=row.multiprocessors, threads_per_multiprocessor=row.threads)


def gpu_facts_of(op: ir.Operation) -> GpuFacts:
    """The facts of the GPU that the module around `op` is for. `TargetError` when its attribute does not say what it should."""
    module = op
    while module.parent is not None:
        module = module.parent.operation
    return _read_attribute(module.attributes[GPU]) if GPU in module.attributes else gpu_facts(FAMILY)


def set_gpu(module: ir.Operation, facts: GpuFacts) -> None:
    """State in `module` that its kernels are for the GPU `facts`."""
    with module.context:
        word = ir.IntegerType.get_signless(64)
        module.attributes[GPU] = ir.DictAttr.get(
            {
                key: ir.StringAttr.get(value) if isinstance(value, str) else ir.IntegerAttr.get(word, value)
                for key, value in vars(facts).items()
            }
        )


def _read_attribute(attribute: ir.Attribute) -> GpuFacts:
    """The facts that `set_gpu` wrote, or a person: what is left out has the default of `GpuFacts`."""
    known = {field.name for field in dataclasses.fields(GpuFacts)}
    if not isinstance(attribute, ir.DictAttr):
        raise TargetError(f"{GPU} is {attribute}; give a dictionary of {', '.join(sorted(known))}, or run dl-set-target")
    found: dict[str, Any] = {}
    for entry in attribute:
        value = entry.attr.value if isinstance(entry.attr, (ir.StringAttr, ir.IntegerAttr)) else None
        if entry.name not in known or type(value) is not type(getattr(GpuFacts(), entry.name)):
            raise TargetError(f"{GPU}: '{entry.name} = {entry.attr}' is no fact of a GPU (facts: {', '.join(sorted(known))})")
        found[entry.name] = value
    return GpuFacts(**found)

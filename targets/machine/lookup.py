"""The machine of a module, of a name, and the one that compiles."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from dlc._mlir import ir
from dlc.errors import TargetError
from dlc.targets.machine.attributes import GPU, TARGET, read, write
from dlc.targets.machine.cpu import Machine
from dlc.targets.machine.gpu import GpuMachine

_BESIDE_GPU = "cpu:x86-64-v3"
"""What stands for the processor while kernels are made; the host's part gets its own afterwards."""


def facts_of(op: ir.Operation) -> Machine:
    """The CPU that the module around `op` is for: its attribute `dlc.target`, else this machine.

    A module for a GPU that states no CPU gets one that is the same on all machines, so that its kernels do not depend on the
    one that compiles. `TargetError` when the attribute does not say what it should.
    """
    module = module_of(op)
    if TARGET in module.attributes:
        return read(module.attributes[TARGET], TARGET, Machine)
    return _facts_beside_gpu() if GPU in module.attributes else host_facts()


def gpu_facts_of(op: ir.Operation) -> GpuMachine:
    """The GPU that the module around `op` is for. `TargetError` when its attribute does not say what it should."""
    module = module_of(op)
    return read(module.attributes[GPU], GPU, GpuMachine) if GPU in module.attributes else GpuMachine()


def is_for_gpu(op: ir.Operation) -> bool:
    """Whether kernels of the module around `op` are for a GPU, and what suits a CPU's lanes and caches is left out."""
    return GPU in module_of(op).attributes


def set_target(module: ir.Operation, facts: Machine) -> None:
    """State in `module` that its code is for the CPU `facts`."""
    write(module, TARGET, facts)


def set_gpu(module: ir.Operation, facts: GpuMachine) -> None:
    """State in `module` that its kernels are for the GPU `facts`; the rest is for the CPU of `dlc.target`."""
    write(module, GPU, facts)


@functools.lru_cache(maxsize=1)
def host_facts() -> Machine:
    """This machine: what the system says of it, and the row that `dlc calibrate` has measured, if there is one."""
    return importlib.import_module("dlc.targets.cpu.host").calibrated_host()


@functools.lru_cache(maxsize=1)
def _facts_beside_gpu() -> Machine:
    return target_facts(_BESIDE_GPU)


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


def module_of(op: ir.Operation) -> ir.Operation:
    """The outermost op around `op`, which states what it is for."""
    while op.parent is not None:
        op = op.parent.operation
    return op

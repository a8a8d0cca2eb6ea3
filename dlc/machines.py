"""The target that a model is compiled for, by name."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.boundary import check_boundary
from dlc.errors import TargetError
from dlc.lowering.policy import state_policy
from dlc.lowering.stages import stage_of
from dlc.option_values import DEFAULT_TARGET
from dlc.sources import Model, copy_module
from dlc.targets.base import Target
from dlc.targets.registry import find_target
from dlc.targets.units import SCHEDULED


def copy_for_target(model: Model, target: str) -> ir.Module:
    """A copy of a model's module that is for `target` (`cpu`, `cpu:native`, `cpu:haswell`, `gpu:sm_90`, ...).

    `TargetError` if the target is unknown, `VerifyError` for a dl module whose functions take or give what dl does not know.
    """
    found = find_target(target)
    module = copy_module(model)
    if stage_of(module) == "dl":
        check_boundary(module)
    if target != DEFAULT_TARGET:
        found.state(module.operation, target)
    state_policy(module.operation)
    return module


def explained_target(target: str) -> Target:
    """The target called `target`, if there is something to tell of its kernels: schedules, or what they ask of a device."""
    found = find_target(target)
    return found if found.has_report else scheduling_target(target)


def scheduling_target(target: str) -> Target:
    """The target called `target`, if kernels get schedules on the way to it; else `TargetError`."""
    found = find_target(target)
    if not found.has_stage(SCHEDULED):
        raise TargetError(f"kernels get no schedules for target '{target}'; name a CPU, as cpu:haswell")
    return found

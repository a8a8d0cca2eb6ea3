"""The machine that a model is compiled for, by name, and whether this one can run its code."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.boundary import check_boundary
from dlc.errors import TargetError
from dlc.lowering.stages import stage_of
from dlc.sources import Model, copy_module
from dlc.targets.cpu.facts import CpuFacts, facts_of, host_facts, set_target, target_facts

DEFAULT_TARGET = "cpu"
"""This machine, or the one that the module itself names."""


def copy_for_target(model: Model, target: str) -> ir.Module:
    """A copy of a model's module that is for `target` (`cpu`, `cpu:native`, `cpu:haswell`, ...).

    `TargetError` if the target is unknown, `VerifyError` for a dl module whose functions take or give what dl does not know.
    """
    facts = target_facts(target)
    module = copy_module(model)
    if stage_of(module) == "dl":
        check_boundary(module)
    if target != DEFAULT_TARGET:
        set_target(module.operation, facts)
    return module


def runnable_facts(module: ir.Module, target: str) -> CpuFacts:
    """The facts that code of `module` for `target` is made for; `TargetError` where this machine cannot run that."""
    facts = facts_of(module.operation) if target == DEFAULT_TARGET else target_facts(target)
    missing = facts.missing_in(host_facts())
    if missing:
        name = target if target != DEFAULT_TARGET else f"'{facts.processor or facts.arch}', which the module names"
        raise TargetError(f"this machine cannot run code for {name}: it lacks {', '.join(missing)}; write it with dlc compile")
    return facts

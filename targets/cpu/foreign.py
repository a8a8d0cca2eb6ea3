"""LLVM IR to the code of another architecture than this machine's, by llvmlite's LLVM, which has the back ends for it.

MLIR's own LLVM is built for the machine that it runs on. It is newer, so its text is rewritten first.
"""

from __future__ import annotations

import functools

import llvmlite.binding as llvm

from dlc.errors import TargetError
from dlc.lowering.older_text import older_text
from dlc.targets.machine import Machine


def foreign_assembly(text: str, facts: Machine, opt_level: int) -> str:
    """The LLVM IR `text` as assembly for `facts`; `TargetError` where the installed LLVM cannot make it."""
    return str(_machine(facts, opt_level).emit_assembly(_optimized(text, facts, opt_level)))


def foreign_object(text: str, facts: Machine, opt_level: int) -> bytes:
    """The LLVM IR `text` as a relocatable object for `facts`; `TargetError` where the installed LLVM cannot make it."""
    return bytes(_machine(facts, opt_level).emit_object(_optimized(text, facts, opt_level)))


def triple_of(facts: Machine) -> str:
    """LLVM's name of the architecture and system that `facts` belong to."""
    if facts.processor.startswith("apple"):
        return "arm64-apple-macosx"
    return f"{facts.arch}-unknown-linux-gnu"


@functools.lru_cache(maxsize=1)
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def _machine(facts: Machine, opt_level: int) -> llvm.TargetMachine:
    _initialize()
    try:
        target = llvm.Target.from_triple(triple_of(facts))
    except RuntimeError:
        raise TargetError(f"the installed LLVM makes no code for {facts.arch}; emit llvmir, or compile on such a machine") from None
    features = ",".join(facts.llvm_features)
    return target.create_target_machine(cpu=facts.processor, features=features, opt=opt_level, reloc="pic")


def _optimized(text: str, facts: Machine, opt_level: int) -> llvm.ModuleRef:
    machine = _machine(facts, opt_level)
    try:
        module = llvm.parse_assembly(older_text(text))
    except RuntimeError as error:
        raise TargetError(f"the LLVM that makes code for {facts.arch} cannot read the module: {error}") from None
    module.triple = triple_of(facts)
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=opt_level)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module

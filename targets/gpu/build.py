"""A module to the code of a GPU and of the host beside it."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.affine_to_gpu.affine_map_to_gpu import ON_CPU
from dlc.lowering.affine_to_llvm.interfaces import C_INTERFACE
from dlc.lowering.deadline import Progress, reporting
from dlc.lowering.func.profile_calls import ATTRIBUTE as PROFILED
from dlc.lowering.func.profile_calls import ProfileCalls
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipelines import positions
from dlc.targets.base import Target
from dlc.targets.build_report import BuildReport
from dlc.targets.code_options import CodeOptions
from dlc.targets.cpu.emit import emit_unit
from dlc.targets.gpu.ptx_text import text_without_kernels
from dlc.targets.machine import TARGET, gpu_facts_of, host_facts, set_target, target_facts
from dlc.targets.model_code import ModelCode
from dlc.targets.signature import signature_of

_KERNELS, _LAST = "gpu", "nvvm"
_PLACE_COPIES, _HOST = "gpu-place-copies", "gpu-host-to-llvm"


def build(
    module: ir.Module, since: str, options: CodeOptions, target: Target, progress: Progress | None = None
) -> tuple[ModelCode, BuildReport]:
    """Lower `module`, which is at stage `since` and is consumed: PTX of its kernels, and an object of all else for this machine.

    The object comes first. A module that has no kernels runs on the host, with a text of PTX that has none. `PassError`, or
    `TargetError` for options of CPUs.
    """
    at = positions(target.stages, target.pipelines)
    instruments, facts = reporting(progress), gpu_facts_of(module.operation)
    with module.context, ir.Location.unknown():
        if at[since] < at[_KERNELS]:
            target.passes(since, _KERNELS).run(module, verify_each=False, instruments=instruments)
        if options.profile:
            ProfileCalls().run(module.operation)
        Pipeline([_PLACE_COPIES]).run(module, verify_each=False, instruments=instruments)
        if at[since] < at[_LAST]:
            target.passes(_KERNELS, _LAST).run(module, verify_each=False, instruments=instruments)
        kernels = _taken_out(module)
        has_kernels = any(op.operation.name == "gpu.module" for op in kernels.body.operations)
        ptx = target.emit(kernels, target.forms[0], options.opt_level) if has_kernels else text_without_kernels(facts)
        if options.beside or TARGET not in module.operation.attributes:  # not before: kernels are the same beside all processors
            set_target(module.operation, target_facts(options.beside) if options.beside else host_facts())
        Pipeline([_HOST]).run(module, verify_each=False, instruments=instruments)
    signature = signature_of(module)
    profiled = module.operation.attributes[PROFILED] if options.profile else ()
    host = emit_unit(module, f"{C_INTERFACE}{signature.entry}", options.opt_level)
    names = tuple(ir.StringAttr(name).value for name in ir.ArrayAttr(profiled)) if profiled else ()
    count = sum(op.operation.name == "gpu.binary" for op in kernels.body.operations)
    return ModelCode(signature, (host, ptx), names, target.name), BuildReport(count, count)


def _taken_out(module: ir.Module) -> ir.Module:
    """A module with copies of the kernels of `module`, and declarations of the functions that say why they have none."""
    taken = ir.Module.create(module.operation.location)
    for name, attribute in module.operation.attributes.items():
        taken.operation.attributes[name] = attribute
    for op in [each.operation for each in module.body.operations]:
        if op.name == "gpu.module":
            op.clone(ip=ir.InsertionPoint(taken.body))
        elif ON_CPU in op.attributes:  # without the body, which may call functions that are not taken
            attributes = {**dict(op.attributes.items()), "sym_visibility": ir.StringAttr.get("private")}
            ir.Operation.create("func.func", attributes=attributes, regions=1, ip=ir.InsertionPoint(taken.body), loc=op.location)
    return taken

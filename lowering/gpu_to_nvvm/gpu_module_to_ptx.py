"""gpu-module-to-ptx: kernels as PTX text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import gpu, ir, llvm_translation
from dlc.errors import TargetError
from dlc.lowering.gpu_to_nvvm.ptx import ptx_of
from dlc.lowering.llvm_translation import untranslatable
from dlc.lowering.pass_base import Pass, PassFailure

_ASSEMBLY = 2
"""The number of the format `assembly` of `#gpu.object`."""

_OPTION = re.compile(r'(chip|features) = "([^"]*)"')


@dataclass(frozen=True)
class GpuModuleToPtx(Pass):
    """Replace every `gpu.module` of llvm and nvvm by a `gpu.binary` that holds its PTX.

    before: gpu.module @f_kernel [#nvvm.target<chip = "sm_90">] { llvm.func @f_kernel ... }
    after:  gpu.binary @f_kernel [#gpu.object<#nvvm.target<chip = "sm_90">, assembly = "//...">]

    As upstream's `gpu-module-to-binary{format=isa}`, whose back end the bindings lack.
    """

    def run(self, op: ir.Operation) -> None:
        for module in [inner.operation for inner in op.regions[0].blocks[0].operations if inner.operation.name == "gpu.module"]:
            _serialize(module)


def _serialize(module: ir.Operation) -> None:
    text = llvm_text([module])
    if "targets" not in module.attributes:
        raise PassFailure(module, "the module of kernels does not say which GPU it is for", "run convert-kernels-to-nvvm first")
    target, *others = ir.ArrayAttr(module.attributes["targets"])
    if others:
        raise PassFailure(module, "the module of kernels is for several GPUs", "state one target")
    facts = dict(_OPTION.findall(str(target)))
    try:
        ptx = ptx_of(text, facts.get("chip", "sm_75"), facts.get("features", ""))
    except TargetError as error:
        raise PassFailure(module, str(error)) from None
    found = gpu.ObjectAttr.get(target, _ASSEMBLY, ptx.encode())
    attributes = {
        "sym_name": module.attributes["sym_name"],
        "objects": ir.ArrayAttr.get([found]),
        "offloadingHandler": ir.Attribute.parse("#gpu.select_object"),
    }
    ir.Operation.create("gpu.binary", attributes=attributes, ip=ir.InsertionPoint(module), loc=module.location)
    module.erase()


def llvm_text(modules: Sequence[ir.Operation]) -> str:
    """The kernels of `gpu.module` ops, whose symbols differ, as LLVM IR; `PassFailure` for ops that are at no level below nvvm."""
    for module in modules:
        for inner, problem, remedy in untranslatable(module, ("llvm", "nvvm"), "convert-kernels-to-nvvm"):
            raise PassFailure(inner, problem, remedy)
    with modules[0].location:
        flat = ir.Module.create()
        for op in [op for module in modules for op in module.regions[0].blocks[0].operations]:
            flat.body.append(op.operation.clone(ip=False))
    return str(llvm_translation.translate_module_to_llvmir(flat.operation))

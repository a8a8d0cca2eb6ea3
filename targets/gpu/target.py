"""The target `gpu`: NVIDIA's GPUs by compute capability. It makes code; what calls the driver is not there yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

from dlc._mlir import gpu, ir
from dlc.errors import TargetError
from dlc.lowering.pipeline import Pipeline
from dlc.targets.base import Target
from dlc.targets.device_kernels import DeviceReport
from dlc.targets.gpu.known_gpus import KNOWN_GPUS, known_gpu
from dlc.targets.gpu.ptx_text import one_text
from dlc.targets.gpu.ptxas import assemble, find_ptxas
from dlc.targets.machine import GpuMachine, gpu_facts_of, set_gpu
from dlc.targets.units import UNITS

_TO_PTX = "gpu-module-to-ptx"


class GpuTarget(Target):
    """PTX by LLVM: one text that holds all kernels, in the order of the module; cubins of it by NVIDIA's `ptxas`."""

    name = "gpu"
    stages = ("dl", "linalg", "affine", "gpu", "nvvm")
    forms = ("ptx", "cubin")
    has_report = True

    def names(self) -> list[str]:
        return [self.name, *(f"{self.name}:{name}" for name in KNOWN_GPUS)]

    def machine(self, name: str) -> GpuMachine:
        """`gpu` is the default of `GpuMachine`: newer GPUs run its code, too."""
        return known_gpu(name.removeprefix(f"{self.name}:")) or GpuMachine()

    def state(self, module: ir.Operation, name: str) -> None:
        set_gpu(module, self.machine(name))

    def emit(self, module: ir.Module, form: str, opt_level: int = 2) -> bytes:
        """The PTX of all kernels, or its cubin; both back ends work at their highest level, whatever `opt_level` says."""
        with module.context, ir.Location.unknown():
            Pipeline([_TO_PTX]).run(module)
        texts = list(_texts(module))
        if not texts:
            remedy = "write loops that carry no dependence, or name a CPU"
            raise TargetError(f"the module has no kernel for a GPU{_reasons(module)}; {remedy}")
        ptx = one_text(texts)
        return assemble(ptx).cubin if form == "cubin" else ptx

    def report(self, module: ir.Module) -> DeviceReport:
        """By analyses at level gpu, and by `ptxas` where it is installed."""
        from dlc.targets.gpu.kernel_report import kernels_of, report_of  # brings isl

        facts = gpu_facts_of(module.operation)
        with module.context, ir.Location.unknown():
            self.passes(UNITS, "gpu").run(module, verify_each=False)
            kernels = tuple(kernels_of(module, facts))
            if not kernels or find_ptxas() is None:
                return report_of(module, kernels, None if kernels else {}, facts)
            self.passes("gpu", "nvvm").run(module, verify_each=False)
            Pipeline([_TO_PTX]).run(module)
        return report_of(module, kernels, assemble(one_text(list(_texts(module)))).usage, facts)

    def load(self, objects: Sequence[bytes], functions: Sequence[str]) -> tuple[list[int], object]:
        _refuse(self.name)

    def obstacle(self, name: str) -> str:
        return "dlc has no device driver for it yet"

    def require_runnable(self, module: ir.Module, name: str) -> None:
        _refuse(name)


def _refuse(name: str) -> NoReturn:
    raise TargetError(
        f"models do not run on GPUs yet: dlc has no device driver for '{name}'; "
        f"write the kernels with dlc compile --target {name} --emit=ptx, or run on a CPU with --target cpu"
    )


def _texts(module: ir.Module) -> Iterator[bytes]:
    """The PTX of each `gpu.binary`."""
    for op in module.body.operations:
        if op.operation.name == "gpu.binary":
            yield from (gpu.ObjectAttr(each).object.rstrip(b"\0\n") + b"\n" for each in ir.ArrayAttr(op.attributes["objects"]))


def _reasons(module: ir.Module) -> str:
    """Why functions stay on the CPU, in brackets."""
    from dlc.lowering.affine_to_gpu.affine_map_to_gpu import ON_CPU  # brings isl, which listing the targets does without

    marked = [op.attributes for op in module.body.operations if ON_CPU in op.attributes]
    said = [f"'{ir.StringAttr(each['sym_name']).value}' stays on the CPU: {ir.StringAttr(each[ON_CPU]).value}" for each in marked]
    return f" ({'; '.join(said[:3])}{'; ...' if len(said) > 3 else ''})" if said else ""

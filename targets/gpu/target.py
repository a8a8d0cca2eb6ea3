"""The target `gpu`: this machine's GPU, and NVIDIA's GPUs by compute capability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlc._mlir import gpu, ir
from dlc.errors import TargetError
from dlc.lowering.deadline import Progress
from dlc.lowering.gpu_to_llvm.runtime_calls import MODEL
from dlc.lowering.pipeline import Pipeline
from dlc.runtime.gpu_model import device_facts
from dlc.runtime.gpu_session import GpuSession
from dlc.runtime.library import load_library
from dlc.targets.base import Target
from dlc.targets.build_report import BuildReport
from dlc.targets.code_options import CodeOptions
from dlc.targets.cpu.host_key import host_key
from dlc.targets.device_kernels import DeviceReport
from dlc.targets.engine_code import EngineCode
from dlc.targets.gpu.device import find_device, machine_of, refusal
from dlc.targets.gpu.known_gpus import KNOWN_GPUS, capability_of, known_gpu
from dlc.targets.gpu.nvdisasm import disassemble
from dlc.targets.gpu.ptx_text import one_text
from dlc.targets.gpu.ptxas import assemble, find_ptxas
from dlc.targets.machine import TARGET, GpuMachine, Machine, facts_of, gpu_facts_of, host_facts, set_gpu
from dlc.targets.model_code import ModelCode
from dlc.targets.object_store import ObjectStore
from dlc.targets.units import UNITS

_BESIDE = {"x86_64": "x86-64-v3", "aarch64": "neoverse-n1"}
"""Processors by architecture: machines with GPUs of compute capability 7.0 (2017) and later have their features."""
_FEATURE = "cuda"
"""Of machines in engine files that have a GPU of NVIDIA's."""
_TO_PTX = "gpu-module-to-ptx"
_PLACE_COPIES = "gpu-place-copies"


class GpuTarget(Target):
    """PTX by LLVM: one text that holds all kernels, in the order of the module, and LLVM's IR that it is made of; cubins of it by
    NVIDIA's `ptxas`, and their instructions by `nvdisasm`."""

    name = "gpu"
    stages = ("dl", "linalg", "affine", "gpu", "nvvm")
    forms = ("ptx", "llvmir", "cubin", "sass")
    has_report = True
    has_device = True
    session = GpuSession

    def names(self) -> list[str]:
        return [self.name, *(f"{self.name}:{name}" for name in KNOWN_GPUS)]

    def machine(self, name: str) -> GpuMachine:
        """`gpu` is the GPU of this machine; where there is none the default of `GpuMachine`, whose code newer GPUs run, too."""
        known = known_gpu(name.removeprefix(f"{self.name}:"))
        device = find_device() if known is None else None
        return known or (machine_of(device) if device else GpuMachine())

    def state(self, module: ir.Operation, name: str) -> None:
        set_gpu(module, self.machine(name))

    def emit(self, module: ir.Module, form: str, opt_level: int = 2) -> bytes:
        """The PTX of all kernels, the LLVM IR above it, its cubin or the instructions of that; both back ends work at their highest
        level, whatever `opt_level` says."""
        kernels = [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]
        if not kernels:
            remedy = "write loops that carry no dependence, or name a CPU"
            raise TargetError(f"the module has no kernel for a GPU{_reasons(module)}; {remedy}")
        if form == "llvmir":
            from dlc.lowering.gpu_to_nvvm.gpu_module_to_ptx import llvm_text  # brings llvmlite

            return llvm_text(kernels).encode()
        with module.context, ir.Location.unknown():
            Pipeline([_TO_PTX]).run(module)
        ptx = one_text(list(_texts(module)))
        if form == "ptx":
            return ptx
        cubin = assemble(ptx).cubin
        return disassemble(cubin) if form == "sass" else cubin

    def report(self, module: ir.Module) -> DeviceReport:
        """By analyses at level gpu, and by `ptxas` where it is installed."""
        from dlc.targets.gpu.kernel_report import copies_of, kernels_of, report_of  # brings isl

        facts = gpu_facts_of(module.operation)
        with module.context, ir.Location.unknown():
            self.passes(UNITS, "gpu").run(module, verify_each=False)
            kernels = tuple(kernels_of(module, facts))
            Pipeline([_PLACE_COPIES]).run(module, verify_each=False)
            copies = copies_of(module) if kernels else ()
            if not kernels or find_ptxas() is None:
                return report_of(module, kernels, None if kernels else {}, facts, copies)
            self.passes("gpu", "nvvm").run(module, verify_each=False)
            Pipeline([_TO_PTX]).run(module)
        return report_of(module, kernels, assemble(one_text(list(_texts(module)))).usage, facts, copies)

    def build(
        self, module: ir.Module, since: str, options: CodeOptions, store: ObjectStore, progress: Progress | None = None
    ) -> tuple[ModelCode, BuildReport]:
        """PTX of the kernels, and an object of the host's part beside it."""
        from dlc.targets.gpu.build import build  # brings isl

        if options.schedules is not None or options.measure:
            raise TargetError(f"target '{self.name}' takes no schedules and no measuring; leave them out, or name a CPU")
        return build(module, since, options, self, progress)

    def load(self, objects: Sequence[bytes], functions: Sequence[str]) -> tuple[list[int], object]:
        """`objects` are those of the host, and PTX as the last one."""
        from dlc.targets.gpu.loaded_code import LoadedCode

        code = LoadedCode(objects[:-1], objects[-1], functions)
        return code.addresses, code

    def processor(self, module: ir.Operation, name: str) -> Machine:
        return facts_of(module) if TARGET in module.attributes else host_facts()

    def processor_beside(self, name: str) -> str:
        """Beside a GPU by name, what nearly all machines with such a GPU have; beside this machine's GPU, its own processor."""
        return "" if name == self.name else _BESIDE.get(host_facts().arch, "")

    def engine_features(self, facts: Machine) -> tuple[str, ...]:
        from dlc.targets.cpu.needed_features import needed_features

        own = host_facts().arch
        if facts.arch != own:
            remedy = f"compile it on a machine of {facts.arch}"
            raise TargetError(f"the host's part of code for a GPU cannot be compiled for {facts.arch} on {own}; {remedy}")
        return tuple(sorted({*needed_features(facts, load_library()), _FEATURE}))

    def link(self, objects: Sequence[bytes], functions: Sequence[str]) -> EngineCode:
        from dlc.targets.cpu.static_link import link_image
        from dlc.targets.gpu.kernel_forms import kernel_forms

        image = link_image(objects[:-1], [*functions, MODEL], load_library().provides)
        return EngineCode(image, kernel_forms(objects[-1]), image.entries[MODEL])

    def obstacle(self, name: str) -> str:
        try:
            device = device_facts()
        except TargetError as error:
            return str(error)
        facts = self.machine(name)
        return refusal(device, capability_of(facts), facts.ptx)

    def require_runnable(self, module: ir.Module, name: str) -> None:
        reason = self.obstacle(name)
        if reason:
            raise TargetError(
                f"models cannot run on '{name}' here: {reason}; what works without it: dlc compile --target {name} --emit=ptx "
                f"writes the kernels, dlc explain --target {name} tells of them, and --target cpu runs the model"
            )

    def cache_key(self) -> str:
        """The host's part is for this machine; PTX says itself what it is for, which is on the module."""
        device = find_device()
        return f"{host_key()} {device}"


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

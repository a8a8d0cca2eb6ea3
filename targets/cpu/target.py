"""The target `cpu`: this machine, and CPUs by name."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.errors import TargetError
from dlc.lowering.deadline import Progress
from dlc.lowering.pipelines import STAGES
from dlc.runtime.library import load_library
from dlc.targets.base import Target
from dlc.targets.build_report import BuildReport
from dlc.targets.code_options import CodeOptions
from dlc.targets.cpu.host_key import host_key
from dlc.targets.cpu.known_cpus import ALIASES, KNOWN_CPUS, known_cpu
from dlc.targets.engine_code import EngineCode
from dlc.targets.machine import Machine, facts_of, host_facts
from dlc.targets.model_code import ModelCode
from dlc.targets.object_store import ObjectStore

_NATIVE = "native"


class CpuTarget(Target):
    """Machine code by LLVM; kernels are compiled each once, on all processors, and kept."""

    name = "cpu"
    stages = STAGES
    forms = ("obj", "asm", "llvmir")

    def names(self) -> list[str]:
        return [self.name, *(f"{self.name}:{name}" for name in (_NATIVE, *KNOWN_CPUS, *ALIASES))]

    def supports(self, name: str) -> bool:
        """`cpu` and `cpu:native` are this machine; the others may leave out `cpu:`."""
        row = name.removeprefix(f"{self.name}:")
        return name == self.name or row == _NATIVE or known_cpu(row) is not None

    def machine(self, name: str) -> Machine:
        return known_cpu(name.removeprefix(f"{self.name}:")) or host_facts()

    def emit(self, module: ir.Module, form: str, opt_level: int = 2) -> bytes:
        from dlc.targets.cpu.emit import emit_assembly, emit_llvm_ir, emit_object

        if form == "obj":
            return emit_object(module, opt_level)
        text = emit_llvm_ir(module) if form == "llvmir" else emit_assembly(module, opt_level)
        return text.rstrip("\n").encode() + b"\n"

    def load(self, objects: Sequence[bytes], functions: Sequence[str]) -> tuple[list[int], object]:
        from dlc.targets.cpu.link import LinkedCode  # 35 ms, for what runs only

        code = LinkedCode(objects, functions)
        return [code.address(function) for function in functions], code

    def obstacle(self, name: str) -> str:
        missing = self.machine(name).missing_in(host_facts())
        return f"it lacks {', '.join(missing)}" if missing else ""

    def processor(self, module: ir.Operation, name: str) -> Machine:
        return facts_of(module) if name == self.name else self.machine(name)

    def engine_features(self, facts: Machine) -> tuple[str, ...]:
        from dlc.targets.cpu.needed_features import needed_features

        return needed_features(facts, load_library())

    def link(self, objects: Sequence[bytes], functions: Sequence[str]) -> EngineCode:
        from dlc.targets.cpu.static_link import link_image

        return EngineCode(link_image(objects, functions, load_library().provides))

    def require_runnable(self, module: ir.Module, name: str) -> None:
        is_default = name == self.name
        facts = facts_of(module.operation) if is_default else self.machine(name)
        missing = facts.missing_in(host_facts())
        if missing:
            shown = f"'{facts.processor or facts.arch}', which the module names" if is_default else name
            raise TargetError(f"this machine cannot run code for {shown}: it lacks {', '.join(missing)}; write it with dlc compile")

    def prepare(self) -> bool:
        from dlc.targets.cpu.build import prepare_workers

        return prepare_workers()

    def build(
        self, module: ir.Module, since: str, options: CodeOptions, store: ObjectStore, progress: Progress | None = None
    ) -> tuple[ModelCode, BuildReport]:
        from dlc.targets.cpu.build import build

        _require_own_architecture(facts_of(module.operation))
        return build(module, since, options, store, progress)

    def cache_key(self) -> str | None:
        return host_key()


def _require_own_architecture(facts: Machine) -> None:
    """Kernels are compiled each once by MLIR's LLVM, which ends the process at another architecture than its own."""
    own = host_facts().arch
    if facts.arch != own:
        remedy = "write an object, --emit=obj, or native code, as --emit=static-lib"
        raise TargetError(
            f"kernels for {facts.processor or facts.arch} cannot be compiled apart on {own}, by LLVM for {own}; {remedy}"
        )

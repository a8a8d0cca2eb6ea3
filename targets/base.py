"""What a target is: a kind of machine, the levels that a module goes through on the way to it, and what becomes of it there.

docs/design/0005-targets.md says how one is written and found.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from dlc._mlir import ir
from dlc.errors import TargetError
from dlc.lowering.deadline import Progress, reporting
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipelines import PIPELINES, NamedPipeline, path
from dlc.runtime.session import Session
from dlc.targets.build_report import BuildReport
from dlc.targets.code_options import CodeOptions
from dlc.targets.device_kernels import DeviceReport
from dlc.targets.engine_code import EngineCode
from dlc.targets.machine import GpuMachine, Machine, set_target
from dlc.targets.model_code import ModelCode
from dlc.targets.object_store import ObjectStore
from dlc.targets.signature import signature_of


class Target(ABC):
    """A kind of machine that models are compiled for. One object serves all compilations and threads, and keeps nothing of them.

    `name` is its own name and what the names of its machines begin with: `gpu`, `gpu:sm_90`.
    """

    name: str
    stages: tuple[str, ...]
    """The levels that a module goes through, from `dl` on; the pipeline `<level>-to-<next>` leads from each to the next."""
    pipelines: Mapping[str, NamedPipeline] = PIPELINES
    """The pipelines by name: dlc's, and the target's own."""
    forms: tuple[str, ...] = ()
    """What `emit` writes of a module at the last level; the first one is what `dlc compile` writes by itself, and what runs."""

    has_report: bool = False
    """Whether `report` tells of its kernels."""

    has_device: bool = False
    """Whether its code is for this machine's GPU, too: an engine that `dlc run` keeps is found again with the same GPU only."""

    session: type[Session] = Session
    """What calls loaded code of it."""

    def names(self) -> list[str]:
        """All names of its machines, for listings and hints."""
        return [self.name]

    def supports(self, name: str) -> bool:
        """Whether `name` is one of its machines, in any spelling. No two targets support one name."""
        return name in self.names()

    def machine(self, name: str) -> Machine | GpuMachine:
        """The machine called `name`, which `supports` is true of. Asked for before a pass runs. This one's by default."""
        return Machine()

    def state(self, module: ir.Operation, name: str) -> None:
        """Write on `module` which machine its code is for, where passes look for it (`dlc.targets.machine`)."""
        facts = self.machine(name)
        if isinstance(facts, Machine):
            set_target(module, facts)

    def passes(self, start: str, end: str) -> Pipeline:
        """The passes from one stage up to another: levels, or the named stages between these (`dlc.lowering.pipelines`).

        `PassError` where one is not on the way, or `end` comes before `start`.
        """
        return Pipeline.between(start, end, self.stages, self.pipelines)

    def has_stage(self, stage: str) -> bool:
        """Whether a module goes through `stage`, a level or a named stage between two."""
        return stage in self.stages or any(found.name == stage for found in path(self.stages, self.pipelines))

    @abstractmethod
    def emit(self, module: ir.Module, form: str, opt_level: int = 2) -> bytes:
        """`module`, which is at the last level and may be consumed, as one of `forms`. `TargetError` where that cannot be."""

    @abstractmethod
    def load(self, objects: Sequence[bytes], functions: Sequence[str]) -> tuple[list[int], object]:
        """Make code of the first form callable in this process: addresses of `functions`, and what keeps them.

        Each is `void f(void **)`, the form of an entry that takes one table (`dlc.runtime.session.Session`). `TargetError` where
        nothing can run here.
        """

    def obstacle(self, name: str) -> str:
        """What keeps this machine from running code for its machine `name`; empty where nothing does."""
        return ""

    def processor(self, module: ir.Operation, name: str) -> Machine:
        """The processor that code of `module` for `name` runs on in an engine file, or beside; asked before any pass.

        `TargetError` where engines hold no such code.
        """
        raise TargetError(f"target '{self.name}' makes no engine files; name a CPU, as cpu:haswell")

    def processor_beside(self, name: str) -> str:
        """The CPU, by name, that the host's part of an engine's code for the device `name` is for; empty for this machine's."""
        return ""

    def engine_features(self, facts: Machine) -> tuple[str, ...]:
        """What a machine with the processor `facts` must have to run code in an engine file. Only where there is a `processor`.

        `TargetError` where engines hold no such code.
        """
        raise NotImplementedError

    def link(self, objects: Sequence[bytes], functions: Sequence[str]) -> EngineCode:
        """Code of the first form as an engine file holds it. Only where there is a `processor`."""
        raise NotImplementedError

    def require_runnable(self, module: ir.Module, name: str) -> None:
        """Raise `TargetError` with a remedy where this machine cannot run code of `module` for `name`; asked before any pass."""
        return

    def prepare(self) -> bool:
        """Begin what takes time and may go on while graph passes run. A compilation may follow or not.

        Returns whether other processes will generate its code, so that this one has time.
        """
        return False

    def build(
        self, module: ir.Module, since: str, options: CodeOptions, store: ObjectStore, progress: Progress | None = None
    ) -> tuple[ModelCode, BuildReport]:
        """Lower `module`, which is at stage `since` and is consumed, to the last level, and emit its first form.

        `TargetError` for options that the target has no use of. A target that compiles kernels apart, or keeps them in `store`,
        has a method of its own.
        """
        if options.schedules is not None or options.measure or options.profile:
            remedy = "leave them out, or name a CPU"
            raise TargetError(f"target '{self.name}' takes no schedules, no measuring and no profile; {remedy}")
        with module.context, ir.Location.unknown():
            self.passes(since, self.stages[-1]).run(module, verify_each=False, instruments=reporting(progress))
        signature = signature_of(module)
        content = self.emit(module, self.forms[0], options.opt_level)
        return ModelCode(signature, (content,), target=self.name), BuildReport(1, 1)

    def report(self, module: ir.Module) -> DeviceReport:
        """What the kernels that become of `module`, which is at stage `units` and is consumed, will ask of the machine.

        For `dlc explain`, of targets that say so by `has_report`; the kernels of others have schedules to tell of.
        """
        raise TargetError(f"target '{self.name}' tells nothing of its kernels; name a CPU, as cpu:haswell")

    def cache_key(self) -> str | None:
        """What code depends on besides module, passes, options and dlc's sources; None keeps models out of the cache."""
        return None

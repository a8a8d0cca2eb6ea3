"""Targets are found by folder and by registration, and a pipeline is cut at named stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

import dlc
from dlc._mlir import ir
from dlc.lowering.pipelines import later, positions
from dlc.model_cache import model_key
from dlc.targets import registry
from dlc.targets.gpu.known_gpus import known_gpu
from dlc.targets.machine import GPU, TARGET, GpuMachine, Machine, facts_of, gpu_facts_of, target_facts
from dlc.targets.registry import find_target, targets

TEXT = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


class Toy(dlc.Target):
    name = "toy"
    stages = ("dl", "linalg")
    forms = ("text",)

    def emit(self, module: ir.Module, form: str, opt_level: int = 2) -> bytes:
        return str(module).encode()

    def load(self, objects: Sequence[bytes], functions: Sequence[str]) -> tuple[list[int], object]:
        raise dlc.TargetError(f"a toy runs nothing of {len(objects[0])} bytes")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Toy]:
    monkeypatch.setattr(registry, "_PLUGINS", {})
    found = Toy()
    dlc.register_target(found)
    yield found


def test_targets_of_folders() -> None:
    assert [target.name for target in targets()][:2] == ["cpu", "gpu"]
    assert find_target("cpu") is find_target("cpu:haswell") is find_target("haswell")
    assert isinstance(find_target("gpu:sm_90").machine("gpu:sm_90"), GpuMachine)
    for target in targets():
        assert all(target.supports(name) and find_target(name) is target for name in target.names())
        assert all(target.has_stage(stage) for stage in target.stages)


def test_an_unknown_name_lists_the_targets(toy: Toy) -> None:
    with pytest.raises(dlc.TargetError, match=r"unknown target 'abacus' \(targets: cpu, .*gpu:sm_100, toy\)"):
        find_target("abacus")
    with pytest.raises(dlc.TargetError, match=r"did you mean 'gpu:sm_90'\? \(targets: gpu, gpu:sm_70"):
        find_target("gpu:sm_91")
    with pytest.raises(dlc.TargetError, match="'gpu:sm_90' is no CPU"):
        target_facts("gpu:sm_90")


def test_a_registered_target_compiles(toy: Toy) -> None:
    assert find_target("toy") is toy
    assert '"dl.relu"' not in str(dlc.lower(TEXT, target="toy"))
    with pytest.raises(dlc.TargetError, match="a toy runs nothing"):
        dlc.compile(TEXT, target="toy")
    with pytest.raises(dlc.TargetError, match="takes no schedules, no measuring and no profile"):
        dlc.compile(TEXT, target="toy", measure=True)
    with pytest.raises(dlc.TargetError, match="kernels get no schedules for target 'toy'"):
        dlc.schedules_of(TEXT, target="toy")
    assert model_key(dlc.parse_module(TEXT, "toy"), "", "toy") is None, "its code stays out of the cache"


def test_what_can_be_registered(toy: Toy) -> None:
    class Taken(Toy):
        name = "cpu"

    class Formless(Toy):
        name, forms = "plain", ()

    for wrong, message in ((Taken(), "belongs to a target of dlc"), (Formless(), "forms to emit"), (Toy, "is no target")):
        with pytest.raises(dlc.TargetError, match=message):
            dlc.register_target(wrong)  # type: ignore[arg-type]


def test_a_module_states_its_machine() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse("module {}").operation
        find_target("gpu:sm_75").state(module, "gpu:sm_75")
        assert TARGET not in module.attributes
        assert gpu_facts_of(module) == known_gpu("sm_75") != GpuMachine()
        find_target("haswell").state(module, "haswell")
        assert GPU in module.attributes
        assert facts_of(module) == target_facts("cpu:haswell") != Machine()


def test_gpus_refuse_to_run_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CUDA_LIBRARY", "libnothing.so")
    with pytest.raises(dlc.TargetError, match=r"cannot run on 'gpu:sm_90' here: there is no driver.*--emit=ptx.*--target cpu"):
        dlc.compile(TEXT, target="gpu:sm_90")
    with pytest.raises(dlc.TargetError, match="there is no driver"):
        find_target("gpu").load((b"",), ("f",))


def test_stages_cut_pipelines() -> None:
    cpu = find_target("cpu")
    whole = cpu.passes("dl", "llvm").names()
    for stage in positions(cpu.stages):
        assert [*cpu.passes("dl", stage).names(), *cpu.passes(stage, "llvm").names()] == whole
    stages = ("winograd", "fuse", "bind", "plan-memory", "tile", "parallelize")
    assert [cpu.passes(stage, "llvm").names()[0] for stage in stages] == [
        *("dl-version-convolutions", "dl-fuse-kernels", "dl-bind-params", "linalg-plan-memory", "affine-tile-registers"),
        "affine-outline-parallel",
    ]
    assert cpu.passes("dl", "units").names()[-1] == "linalg-insert-deallocs"
    assert (later("affine", "units"), later("dl", "units"), later("linalg", "bufferize")) == ("affine", "units", "linalg")

"""The machine that compiles leaves no trace in PTX: kernels are the same beside processors of other features and speeds."""

from __future__ import annotations

import pytest

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.targets.gpu.target import GpuTarget
from dlc.targets.machine import facts_of, lookup, set_target, target_facts

_PROCESSORS = ("cpu:x86-64-v2", "cpu:znver4", "cpu:sapphirerapids", "cpu:neoverse-n1")
"""Without and with AVX-512, with sums as fast as multiply-adds and faster ones."""

_MODELS = {
    "exponentials": """func.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
      %0 = "dl.exp"(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32>
      %1 = "dl.sigmoid"(%0) : (tensor<4x64xf32>) -> tensor<4x64xf32>
      return %1 : tensor<4x64xf32> }""",
    "sums that wait": """func.func @main(%x: tensor<1x32xf32>, %w: tensor<32x11xf32>) -> tensor<1x11xf32> {
      %0 = "dl.matmul"(%x, %w) : (tensor<1x32xf32>, tensor<32x11xf32>) -> tensor<1x11xf32>
      return %0 : tensor<1x11xf32> }""",
}


def _ptx(text: str) -> bytes:
    target = GpuTarget()
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        target.state(module.operation, "gpu:sm_90")
        Pipeline.parse("dl-to-linalg,linalg-to-affine,affine-to-gpu,gpu-to-nvvm").run(module)
        return target.emit(module, "ptx")


@pytest.mark.parametrize("model", list(_MODELS))
def test_the_machine_that_compiles(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = set()
    for name in _PROCESSORS:
        facts = target_facts(name)
        monkeypatch.setattr(lookup, "host_facts", lambda facts=facts: facts)
        texts.add(_ptx(_MODELS[model]))
    assert len(texts) == 1


@pytest.mark.parametrize("model", list(_MODELS))
def test_the_processor_that_a_module_names(model: str) -> None:
    """Instructions of kernels are the GPU's, whatever is said of the host's part."""
    texts = set()
    for name in _PROCESSORS:
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(_MODELS[model])
            set_target(module.operation, target_facts(name))
            assert facts_of(module.operation) == target_facts(name)
            texts.add(_ptx(str(module)))
    assert len(texts) == 1


def test_sums_are_multiply_adds() -> None:
    assert b"fma.rn.f32" in (text := _ptx(_MODELS["sums that wait"]))
    assert b"mul.rn.f32" not in text

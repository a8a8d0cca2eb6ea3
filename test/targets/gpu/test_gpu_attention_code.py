"""Long attention is one kernel whose registers suffice, by NVIDIA's assembler, and whose shared memory has no bad conflict."""

from __future__ import annotations

import pytest

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.targets.gpu.kernel_report import kernels_of
from dlc.targets.gpu.ptxas import assemble, find_ptxas
from dlc.targets.gpu.target import GpuTarget
from dlc.targets.machine import gpu_facts_of

_TEXT = """func.func @main(%q: {kind}, %k: {kind}, %v: {kind}) -> {kind} {{
  %0 = "dl.attention"(%q, %k, %v) {{is_causal = {causal}}} : ({kind}, {kind}, {kind}) -> {kind}
  return %0 : {kind}
}}"""

_PRODUCTS = {"sm_80": "m16n8k16", "sm_90": "m64n128k16"}


@pytest.mark.sweep(every=10)
@pytest.mark.skipif(find_ptxas() is None, reason="NVIDIA's ptxas is not installed (pip install 'dlc[ptxas]')")
@pytest.mark.parametrize("causal", ["false", "true"])
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
@pytest.mark.parametrize("kind", ["16x4096x64xf16", "16x4096x128xbf16", "16x1001x96xf16", "16x4096x64xf32"])
def test_long_attention(kind: str, chip: str, causal: str) -> None:
    target = GpuTarget()
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_TEXT.format(kind=f"tensor<1x{kind}>", causal=causal))
        target.state(module.operation, f"gpu:{chip}")
        Pipeline.parse("dl-to-linalg,linalg-to-affine,affine-to-gpu").run(module)
        (kernel,) = kernels_of(module, gpu_facts_of(module.operation))
        element = kind.rpartition("x")[2]
        assert kernel.tensor_cores == ("" if element == "f32" else f"{_PRODUCTS[chip]}.{element}")
        assert kernel.bank_ways <= 2 and not kernel.uncoalesced
        assert str(module).count("memref.alloc") == 1  # the result
        Pipeline.parse("gpu-to-nvvm").run(module)
        (usage,) = assemble(target.emit(module, "ptx")).usage.values()
    assert not usage.spills

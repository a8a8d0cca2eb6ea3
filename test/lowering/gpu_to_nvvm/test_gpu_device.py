"""PolyBench's kernels on a GPU compute what NumPy says; skipped where there is none."""

from __future__ import annotations

import pytest
from cuda_driver import Device, missing, ptx_of
from gpu_interpreter import program

from bench.polybench.suite import suite
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_REASON = missing()


@pytest.mark.cuda
@pytest.mark.skipif(bool(_REASON), reason=_REASON)
@pytest.mark.parametrize("size", ["MINI", "MEDIUM"])
@pytest.mark.parametrize("name", sorted(suite()))
def test_kernel_on_a_gpu(name: str, size: str) -> None:
    kernel = suite()[name]
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(kernel.text(size, "f64"))
        Pipeline.parse("affine-to-gpu").run(module)
        run = program(module)
        Pipeline.parse("gpu-to-ptx").run(module)
        run.names["_launch"] = Device(ptx_of(module)).launch
    have, want = (kernel.checked_arguments(size, "f64") for _ in range(2))
    kernel.expect(want, size)
    run.run(kernel.symbol, *have)
    assert kernel.error(have, want) < 1e-9


def test_ptx_is_read_from_binaries() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(suite()["gemm"].text("MINI", "f64"))
        Pipeline.parse("affine-to-gpu,gpu-to-ptx").run(module)
        found = ptx_of(module)
    assert found
    for name, text in found.items():
        assert name.startswith("kernel_gemm_kernel")
        assert b".visible .entry kernel_gemm_kernel(" in text

"""PolyBench's kernels as kernels of a GPU, run thread by thread, compute what NumPy says."""

from __future__ import annotations

import pytest
from gpu_interpreter import program

from bench.polybench.suite import suite
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_QUICK = ("atax", "cholesky", "dl-softmax", "doitgen", "durbin", "gemm", "jacobi-2d", "lu", "seidel-2d", "symm", "trisolv", "trmm")
_SLOW = sorted({*suite()} - {*_QUICK})


@pytest.mark.parametrize("name", [*_QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in _SLOW)])
def test_kernel_computes_the_same(name: str) -> None:
    kernel = suite()[name]
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(kernel.text("MINI", "f64"))
        Pipeline.parse("affine-to-gpu").run(module)
        run = program(module)
    have, want = (kernel.checked_arguments("MINI", "f64") for _ in range(2))
    kernel.expect(want, "MINI")
    run.run(kernel.symbol, *have)
    assert run.launches
    assert kernel.error(have, want) < 1e-9


_PRODUCTS = ("2mm", "3mm", "correlation", "covariance", "gemm", "symm", "syr2k", "syrk")


@pytest.mark.slow
@pytest.mark.parametrize("name", _PRODUCTS)
def test_tiles_of_products_compute_the_same(name: str) -> None:
    """On a GPU of one multiprocessor small matrices are cut into tiles, too."""
    kernel = suite()[name]
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(kernel.text("SMALL", "f64"))
        module.operation.attributes["dlc.gpu"] = ir.Attribute.parse("{multiprocessors = 1}")
        Pipeline.parse("affine-to-gpu").run(module)
        assert "threads in (%c16, %c16," in str(module)
        run = program(module)
    have, want = (kernel.checked_arguments("SMALL", "f64") for _ in range(2))
    kernel.expect(want, "SMALL")
    run.run(kernel.symbol, *have)
    assert kernel.error(have, want) < 1e-9

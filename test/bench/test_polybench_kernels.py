"""The kernels of PolyBench and nests of deep learning: their loops, compiled by dlc and as C, do what NumPy says."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

from bench.polybench.compiled import AS_THEY_ARE, DEFAULT_PIPELINE, NativeFunction, compile_kernel
from bench.polybench.measuring import TOLERANCE
from bench.polybench.native import COMPILERS, compile_c
from bench.polybench.sizes import CLASSES, SIZES
from bench.polybench.suite import DTYPES, Kernel, copied, suite
from dlc._mlir import ir
from dlc.dialects import make_context

KERNELS = pytest.mark.parametrize("kernel", suite().values(), ids=lambda kernel: kernel.name)
POLYBENCH = 30


def check(kernel: Kernel, dtype: str, code: NativeFunction) -> None:
    initial = kernel.checked_arguments("MINI", dtype)
    expected, found = copied(initial), copied(initial)
    kernel.expect(expected, "MINI")
    code.bind(found)()
    assert kernel.error(found, expected) <= TOLERANCE[dtype]
    assert kernel.error(initial, expected) > 1e-3, "a kernel that did nothing would pass"


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("dtype", DTYPES)
@KERNELS
def test_compiled_as_it_is(kernel: Kernel, dtype: str) -> None:
    check(kernel, dtype, compile_kernel(kernel, "MINI", dtype, AS_THEY_ARE))


@pytest.mark.slow
@KERNELS
def test_optimized(kernel: Kernel) -> None:
    check(kernel, "f64", compile_kernel(kernel, "MINI", "f64", DEFAULT_PIPELINE))


@pytest.mark.sweep(every=3)
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("dtype", DTYPES)
@KERNELS
def test_its_c_is_the_same(kernel: Kernel, dtype: str) -> None:
    quick = replace(COMPILERS["gcc"], extra=("-O1",))
    check(kernel, dtype, compile_c(kernel, "MINI", dtype, quick))


@pytest.mark.parametrize("size", CLASSES)
def test_parses_in_every_class_of_sizes(size: str) -> None:
    with make_context() as context, ir.Location.unknown():
        for kernel in suite().values():
            for dtype in DTYPES:
                module = ir.Module.parse(kernel.text(size, dtype), context)
                assert module.operation.verify()
                assert module.body.operations[0].sym_name.value == kernel.symbol


def test_all_of_polybench_is_there() -> None:
    assert sum(not name.startswith("dl-") for name in suite()) == POLYBENCH
    assert SIZES["gemm"]["LARGE"] == {"NI": 1000, "NJ": 1100, "NK": 1200}
    assert SIZES["atax"]["EXTRALARGE"] == {"M": 1800, "N": 2200}


@KERNELS
def test_initial_data_fit_the_function(kernel: Kernel) -> None:
    for dtype in DTYPES:
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(kernel.text("SMALL", dtype))
            kinds = module.body.operations[0].type.inputs
        assert len(kernel.argument_names()) == len(kinds)
        for arguments in (kernel.arguments("SMALL", dtype), kernel.checked_arguments("SMALL", dtype)):
            shown = [_type_of(value) for value in arguments]
            assert shown == [str(kind) for kind in kinds]


def _type_of(value: np.ndarray | np.generic) -> str:
    kind = {"f": "f", "i": "i"}[value.dtype.kind]
    element = f"{kind}{8 * value.dtype.itemsize}"
    shape = "".join(f"{size}x" for size in value.shape)
    return f"memref<{shape}{element}>" if isinstance(value, np.ndarray) else element

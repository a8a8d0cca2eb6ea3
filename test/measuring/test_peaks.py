"""What a machine can do at most: loops that measure it keep their sums in registers, and a GPU's figures."""

from __future__ import annotations

import pytest

from dlc.measuring.gpu_peaks import flops_of
from dlc.measuring.peaks import PRODUCT_SUMS
from dlc.targets.gpu.known_gpus import KNOWN_GPUS
from dlc.targets.machine import target_facts


@pytest.mark.parametrize("target", ["cpu:haswell", "cpu:skylake-avx512", "cpu:znver4"])
def test_products_leave_a_register_for_the_factor(target: str) -> None:
    assert target_facts(target).vector_registers > PRODUCT_SUMS


def test_a_gpu_multiplies_as_its_maker_says() -> None:
    """An H100 SXM: 67 TFLOPS at its highest clock, 989.4 of bf16 and 1979 of bytes, dense (NVIDIA H100 datasheet)."""
    found = flops_of(KNOWN_GPUS["sm_90"])
    assert set(found) == {"f32", "f16", "bf16", "tf32", "i8"}
    assert found["bf16"] == found["f16"] == pytest.approx(989.4e12, rel=0.01)
    assert found["i8"] == pytest.approx(1979e12, rel=0.01) and found["tf32"] == found["bf16"] / 2
    assert found["f32"] == pytest.approx(67e12, rel=0.1)

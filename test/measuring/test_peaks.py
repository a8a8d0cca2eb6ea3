"""The loops that measure a machine keep their sums in registers."""

from __future__ import annotations

import pytest

from dlc.measuring.peaks import PRODUCT_SUMS
from dlc.targets.machine import target_facts


@pytest.mark.parametrize("target", ["cpu:haswell", "cpu:skylake-avx512", "cpu:znver4"])
def test_products_leave_a_register_for_the_factor(target: str) -> None:
    assert target_facts(target).vector_registers > PRODUCT_SUMS

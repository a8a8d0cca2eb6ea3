"""Every rule of `dl-canonicalize` has a lit case of its name, fires there, and leaves the results as they are."""

from __future__ import annotations

import numpy as np
import pytest
from rule_cases import RuleCase, cases

from dlc.dialects.dl.interpreter import interpret
from dlc.lowering.dl.matching import functions
from dlc.lowering.dl.rewriting import apply_rules
from dlc.lowering.dl.simplify.canonicalize import RULES

_CASES = cases("canonicalize_*.mlir")
_NAMES = [name.replace("-", "_") for rules in RULES for name in rules.names()]
_HUGE = {"merge_pads_beyond_64_bits", "merge_tiles_beyond_64_bits"}
"""Cases whose results no memory holds."""

_ROUNDED = {"square_to_mul", "root_of_power"}
"""Rules whose functions NumPy computes by way of a general power."""


def test_every_rule_has_a_case() -> None:
    assert sorted(set(_NAMES) - {case.name for case in _CASES}) == []
    assert len(_NAMES) == len(set(_NAMES))


@pytest.mark.parametrize("case", [case for case in _CASES if case.name in _NAMES], ids=lambda case: case.name)
def test_rule_fires(case: RuleCase) -> None:
    module = case.module()
    with module.context:
        counts = apply_rules(next(functions(module.operation)), *RULES)
    assert counts[case.name.replace("_", "-")] > 0
    assert module.operation.verify()


@pytest.mark.parametrize("special", [False, True], ids=["numbers", "special"])
@pytest.mark.parametrize("case", [case for case in _CASES if case.name not in _HUGE], ids=lambda case: case.name)
def test_results_stay(case: RuleCase, special: bool) -> None:
    module, inputs = case.module(), case.inputs(special)
    before = interpret(module, inputs, {})
    with module.context:
        apply_rules(next(functions(module.operation)), *RULES)
    after = interpret(module, inputs, {})
    for have, want in zip(after, before, strict=True):
        assert have.dtype == want.dtype
        assert have.shape == want.shape
        rounding = 1e-6 if case.name in _ROUNDED else 0
        assert np.allclose(have.astype(np.float64), want.astype(np.float64), rtol=rounding, atol=0, equal_nan=True)
        numbers = ~np.isnan(want.astype(np.float64))
        assert (np.signbit(have.astype(np.float64)) == np.signbit(want.astype(np.float64)))[numbers].all()

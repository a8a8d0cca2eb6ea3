"""Random functions whose values cross statements compute the same through memory, and the polyhedral model then gives them back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, assume, given, reject, settings
from hypothesis import strategies as st
from random_affine_functions import SIZE, nests
from symbolic_interpreter import TooLong, run, visible

from dlc._mlir import ir
from dlc.lowering.affine.memory.demote_values import DemoteValues
from dlc.lowering.affine.polyhedral.extract import extract

_IN_CHECK = 40
_IN_CHECK_ALL = 1000
_MOST_EVENTS = 2000
_CARRYING = ("affine.for", "affine.if")


def _check(text: str, hoist: bool) -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        function = module.body.operations[0].operation
        try:
            before = run(function, {0: SIZE}, _MOST_EVENTS)
        except TooLong:
            reject()
        assume(before.trace)
        crossing = [array for array in extract(function).arrays if not array.is_memory]
        carried = sum(array.value.owner.operation.name in _CARRYING for array in crossing)
        DemoteValues(hoist=hoist).run(function)
        assert module.operation.verify(), text
        arrays = extract(function).arrays
        assert all(array.is_memory for array in arrays), text
        kept = sum(array.is_local for array in arrays)
        assert carried <= kept <= len(crossing), text  # a value that only starts a loop shares the loop's memory
        assert visible(run(function, {0: SIZE})) == visible(before), text


def _property(examples: int) -> None:
    @settings(max_examples=examples, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None)
    @given(nests(crossing=40), st.booleans())
    def check(text: str, hoist: bool) -> None:
        _check(text, hoist)

    check()


def test_functions() -> None:
    _property(_IN_CHECK)


@pytest.mark.slow
def test_many_functions() -> None:
    _property(_IN_CHECK_ALL)

"""Which models' calls may run as one."""

from __future__ import annotations

import numpy as np
import pytest

from dlc.errors import InvalidInputError
from dlc.runtime.signature import TensorSpec
from dlc.serving.batching import reason_against_batching
from dlc.serving.interface import ModelInterface


def rows_alone(inputs: list[np.ndarray]) -> list[np.ndarray]:
    return [inputs[0] * 2]


@pytest.mark.parametrize(
    ("shapes", "run", "reason"),
    [
        ([("N", 3), ("N", 3)], rows_alone, None),
        ([("N", "M"), (None, None)], rows_alone, None),
        ([("N", "M"), ("N",), (None, None)], rows_alone, None),
        ([(1, 3), (1, 3)], rows_alone, "the first dims of x0: f32[1, 3] and x0: f32[1, 3] are not one symbol"),
        ([(None, 3), (None, 3)], rows_alone, "the first dims of x0: f32[?, 3] and x0: f32[?, 3] are not one symbol"),
        ([("N", 3), ("M", 3), ("N", 3)], rows_alone, "the first dims of x0: f32[N, 3] and x1: f32[M, 3] are not one symbol"),
        ([("N", "N"), ("N", 3)], rows_alone, "x0: f32[N, N] has the symbol twice"),
        ([("N", 3), ()], rows_alone, "y: f32[] has no rows of requests"),
        ([("N", 3), (None,)], lambda inputs: [inputs[0].sum(0)], "the shape of y: f32[?] depends on other rows"),
        ([("N", 4), (None,)], lambda inputs: [inputs[0].sum(0)], "y: f32[?] has no rows of requests"),
        ([("N", 3), (None, None)], lambda inputs: [inputs[0] @ inputs[0].T], "the shape of y: f32[?, ?] depends on other rows"),
        ([("N", 3), ("N", 3)], lambda inputs: [inputs[0] - inputs[0].max(0)], "the values of y: f32[N, 3] depend on other rows"),
        ([()], rows_alone, "it has no inputs"),
    ],
)
def test_which_models_can_be_batched(shapes: list[tuple], run, reason: str | None) -> None:
    """The last shape is that of the output."""
    inputs = [TensorSpec(f"x{number}", shape, "f32") for number, shape in enumerate(shapes[:-1])]
    interface = ModelInterface.of("m", inputs, [TensorSpec("y", shapes[-1], "f32")])
    assert reason_against_batching(interface, run) == reason


def test_a_model_that_fails_on_random_inputs_is_not_batched() -> None:
    def failing(inputs: list[np.ndarray]) -> list[np.ndarray]:
        raise InvalidInputError("dim M is 8, not 9")

    interface = ModelInterface.of("m", [TensorSpec("x", ("N", "M"), "f32")], [TensorSpec("y", ("N", "M"), "f32")])
    assert reason_against_batching(interface, failing) == "it fails on random inputs: dim M is 8, not 9"

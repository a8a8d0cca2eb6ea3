"""The schedules that the search chooses for kernels of models are proved, or it is said what could not be decided."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from model_sizes import NETWORKS

import dlc

_UNDECIDED: Mapping[str, tuple[str, ...]] = {
    "mlp": (),
    "bert": ("gather", "attention", "layer_norm"),
    "resnet18": ("max_pool",),
    "mobilenet_v2": ("conv_clip",),
}
"""By network, the ops whose kernels are not decided: subscripts are data, a maximum begins with -inf, or isl has too much to do."""


@pytest.mark.parametrize("network", [name if name == "mlp" else pytest.param(name, marks=pytest.mark.slow) for name in _UNDECIDED])
def test_schedules_of_a_network_are_proved(network: str) -> None:
    verdicts = dlc.verify_schedules(NETWORKS[network](batch=1, dynamic_batch=False))
    left = [verdict for verdict in verdicts if verdict.outcome != "proved"]
    assert all(any(op in verdict.kernel for op in _UNDECIDED[network]) for verdict in left), "\n".join(map(str, left))
    assert all(verdict.reason for verdict in left)
    assert len(left) < len(verdicts)

"""The table of dynamic sizes: its summary, its rows, and one point that is measured."""

from __future__ import annotations

from functools import partial

import pytest

from bench.dynamic import DYNAMIC, HOT, NETWORKS, STATIC, Network, Point, measure, read, summary
from bench.networks import mlp
from dlc.measuring.contenders import Effort


def test_the_options() -> None:
    settings, count = read(["--count=3", "--vs=", "mlp"])
    assert (count, settings.engines, [network.name for network in settings.chosen(NETWORKS)]) == (3, (), ["mlp"])
    with pytest.raises(SystemExit):
        read(["--count=21"])


def test_networks_have_twenty_sizes() -> None:
    assert all(len(set(network.sizes)) == 20 for network in NETWORKS)


def test_the_summary_names_the_worst() -> None:
    points = [
        Point("a", 1, {}, {DYNAMIC: 1.0, HOT: 1.0, "onnxruntime": 2.0}, 0.0, {}),
        Point("b", 2, {}, {DYNAMIC: 1.21, HOT: 1.0, "onnxruntime": 0.5}, 0.0, {}),
    ]
    assert summary(points, ["onnxruntime", "openvino"]) == [
        "dynamic / static: geometric mean 1.100, worst 1.210 (b, 2), 2 points",
        "hot / static: geometric mean 1.000, worst 1.000 (a, 1), 2 points",
        "onnxruntime / dynamic: geometric mean 1.000, worst 0.500 (b, 2), 2 points",
    ]


@pytest.mark.slow
def test_a_point() -> None:
    settings, _ = read(["--vs=onnxruntime"])
    settings = settings.__class__(**{**vars(settings), "effort": Effort(rounds=3, slot=0.001, seconds=0.1)})
    found = measure(Network("mlp", partial(mlp.build, widths=(8, 16, 4), dynamic_batch=True)), 3, settings)
    assert found.seconds.keys() == {STATIC, DYNAMIC, HOT, "onnxruntime"}
    assert found.ratios.keys() == {DYNAMIC, HOT, "onnxruntime"}
    assert found.error < 1e-4 and not found.failures

"""`dlc targets`: every name that `--target` takes, and whether its code runs here."""

from __future__ import annotations

import json

import pytest

from dlc.errors import TargetError
from dlc.targets.registry import find_target, targets

_RELU = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_every_name_is_listed_and_can_be_found(dlc_command) -> None:
    done = dlc_command("targets", "--json")
    assert (done.code, done.err) == (0, "")
    rows = json.loads(done.out)
    assert [row["name"] for row in rows] == [name for target in targets() for name in target.names()]
    for row in rows:
        assert find_target(row["name"]).supports(row["name"])
        assert row["machine"] and row["emits"]


def test_this_machine_runs_its_own_code_and_no_gpu_code(dlc_command, monkeypatch) -> None:
    monkeypatch.setenv("DLC_CUDA_LIBRARY", "libnothing.so")
    lines = {line.split()[0]: line for line in dlc_command("targets").out.splitlines()[1:]}
    assert lines["cpu:native"].rstrip().endswith("yes")
    assert lines["gpu:sm_90"].rstrip().endswith("libnothing.so cannot be loaded")


def test_an_obstacle_is_why_a_model_is_refused(dlc_command, tmp_path) -> None:
    model = tmp_path / "relu.mlir"
    model.write_text(_RELU)
    for row in json.loads(dlc_command("targets", "--json").out):
        if not row["obstacle"].startswith("it lacks"):
            continue
        done = dlc_command("run", model, "--target", row["name"])
        assert done.code == 1
        assert row["obstacle"] in done.err


def test_an_unknown_target_lists_the_names() -> None:
    with pytest.raises(TargetError, match=r"unknown target 'gpu:sm_91'.*gpu:sm_90"):
        find_target("gpu:sm_91")

"""The table of GPU code: what it counts, and what fails a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from bench import gpu_code
from bench.cases import Case
from dlc.targets.device_kernels import DeviceKernel, DeviceReport

PLAIN = DeviceKernel("k", "f", (1, 1, 1), (32, 1, 1), 3, 0, 0, 1.0, 2, registers=40, spill_bytes=0)
WIDE = replace(PLAIN, name="wide", uncoalesced=2, used_share=0.125, tensor_cores="m16n8k16.f16", registers=90)


def report(*kernels: DeviceKernel) -> DeviceReport:
    return DeviceReport("sm_90", kernels, {"g": "it has no loops"}, 1e12, 1e12)


def product() -> onnx.ModelProto:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    ends = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [4, 8]), ("y", [4, 16]))]
    weight = numpy_helper.from_array(np.ones((8, 16), np.float32), "w")
    return helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], [weight]), ir_version=10)


def test_a_row_counts_kernels() -> None:
    assert gpu_code.row_of("net", report(PLAIN, WIDE), 2.4) == "| net | 2 | 1 | 0 | 90 | 2 | 1 | 12% | 1 | 2 |"
    assert "| ? |" in gpu_code.row_of("net", report(replace(PLAIN, registers=None)), 1)
    assert list(gpu_code.uncoalesced_in(report(PLAIN, WIDE))) == [
        "wide of f: 2 of 3 accesses uncoalesced, 12% of what is moved is used"
    ]


def test_spills_and_bank_conflicts_fail_a_row(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(gpu_code, "CASES", (Case("product", product),))
    assert gpu_code.main(["--target", "gpu:sm_80"]) == 0
    assert "| product | 1 |" in capsys.readouterr().out
    for wrong in (replace(PLAIN, spill_bytes=8), replace(PLAIN, bank_ways=4)):
        monkeypatch.setattr(gpu_code.dlc, "explain", lambda *_, wrong=wrong, **__: type("Found", (), {"device": report(wrong)}))
        assert gpu_code.main([]) == 1
        assert "BadCodeError: spills, or bank conflicts of more than 2 ways, in k" in capsys.readouterr().out


def test_unknown_networks_and_other_targets_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_code, "CASES", (Case("product", product),))
    assert gpu_code.main(["--target", "cpu:x86-64-v3"]) == 1
    assert "has no report on kernels" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        gpu_code.main(["abacus"])

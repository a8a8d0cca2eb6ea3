"""A target from outside of dlc's sources compiles models, and they give what the others give."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from reference_session import reference_session

import dlc
from bench.networks import bert, mlp, mobilenet_v2
from dlc.targets import registry

_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "scalar_c_target.py"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_PLUGINS", {})
    spec = importlib.util.spec_from_file_location("scalar_c_target", _EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    dlc.register_target(module.ScalarC())
    yield


def agrees(model: object) -> None:
    compiled = dlc.compile(model, target="c")  # type: ignore[arg-type]
    inputs = dlc.random_inputs(compiled.inputs)
    for have, want in zip(compiled(inputs), dlc.compile(model)(inputs), strict=True):  # type: ignore[arg-type]
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)


def test_small_models() -> None:
    agrees(mlp.build(widths=(16, 40, 8)))
    agrees(bert.build(layers=1, hidden=32, heads=2, vocab=50, seq=8))
    agrees(mobilenet_v2.build(image=32, stages=mobilenet_v2.STAGES[:2], features=64, classes=10))


def test_against_onnxruntime() -> None:
    model = mobilenet_v2.build(image=32, stages=mobilenet_v2.STAGES[:3], features=64, classes=10)
    compiled = dlc.compile(model, target="c")
    inputs = dlc.random_inputs(compiled.inputs)
    (want,) = reference_session(model).run(None, inputs)
    np.testing.assert_allclose(compiled(inputs)[0], want, rtol=1e-3, atol=1e-4)


@pytest.mark.slow
def test_mobilenet_v2() -> None:
    agrees(mobilenet_v2.build())


def test_what_it_has_no_form_for_is_one_error() -> None:
    with pytest.raises(dlc.TargetError, match=r"target 'c' has no form of .*f16"):
        dlc.compile(
            'func.func @main(%x: tensor<4xf16>) -> tensor<4xf16> {\n  %0 = "dl.relu"(%x) : (tensor<4xf16>) -> tensor<4xf16>\n'
            "  return %0 : tensor<4xf16>\n}",
            target="c",
        )

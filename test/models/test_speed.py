"""ResNet-50 compiles in a minute and runs within ten times onnxruntime's time, on one thread."""

from __future__ import annotations

import pytest

from bench.models import MODELS, measure


@pytest.mark.slow
def test_resnet50() -> None:
    timing = measure("resnet50", MODELS["resnet50"](), rounds=5, seconds=20)
    assert timing.correct, timing
    assert timing.compile_seconds < 60, timing
    assert timing.ratio < 10, timing

"""The onnx package's tests of nodes on the GPU of this machine; skipped where there is none (`make check-gpu`)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from cuda_driver import missing
from test_gpu_conformance import _LOOPS, _NAMES, _check, cases

from bench.conformance.suite import Case

_REASON = missing()
pytestmark = [pytest.mark.cuda, pytest.mark.skipif(bool(_REASON), reason=_REASON)]
_EVERY = 3
__all__ = ["cases"]


@pytest.mark.parametrize("name", [*_LOOPS, *_NAMES[::_EVERY]])
def test_a_node(cases: Mapping[str, Case], name: str) -> None:
    _check(cases.get(name))

"""The onnx package's tests of nodes on a GPU: a fake one, whose kernels run thread by thread (`fake_cuda.py`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from fake_cuda import FakeGpu, fake_gpu

from bench.conformance.__main__ import PASSED
from bench.conformance.outcomes import run_case
from bench.conformance.suite import Case, load_cases

_EVERY_NAME = 4
_NAMES = [name for name in PASSED.read_text(encoding="utf-8").split() if re.match("test_(?!operator_)[a-z]", name)][::_EVERY_NAME]
"""Of single nodes and simple models; those of PyTorch's layers have other names."""
_LOOPS = (
    *("test_loop11", "test_loop13_seq", "test_loop16_seq_none", "test_scan9_sum", "test_if_seq"),
    *(
        "test_hammingwindow",
        "test_center_crop_pad_crop_and_pad",
        "test_affine_grid_3d_expanded",
        "test_range_float_type_positive_delta",
    ),
    *("test_nonmaxsuppression_two_classes", "test_constant", "test_eyelike_with_dtype"),
)
"""With control flow, or sizes that data decide."""
_SHORT = 2.0**-9
"""Two units in the last place of f16: functions on a GPU round otherwise than NumPy's."""


@pytest.fixture(scope="module")
def gpu() -> Iterator[FakeGpu]:
    with fake_gpu() as found:
        yield found


@pytest.fixture(scope="module")
def cases() -> Mapping[str, Case]:
    return {case.name: case for case in load_cases(("node", "simple"))}


def _check(case: Case | None) -> None:
    if case is None:
        pytest.skip("a whole network")
    outcome = run_case(replace(case, rtol=max(case.rtol, _SHORT)), "dlc", "gpu")
    assert outcome.status == "passed", outcome.cause


@pytest.mark.parametrize("name", _LOOPS)
def test_control_flow_and_sizes(gpu: FakeGpu, cases: Mapping[str, Case], name: str) -> None:
    _check(cases[name])


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("name", _NAMES)
def test_nodes(gpu: FakeGpu, cases: Mapping[str, Case], name: str) -> None:
    _check(cases.get(name))

"""Models that break a rule of ONNX end in one error that says which, where and what to do."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

import dlc

sys.path.insert(0, str(Path(__file__).parent))
from malformed.build import HERE, MODELS, content_of


@pytest.mark.parametrize("name", MODELS)
def test_is_refused(name: str) -> None:
    file = HERE / f"{name}.onnx"
    with pytest.raises(dlc.DLCError, match=MODELS[name].pattern) as caught:
        dlc.compile(file, cache=False)
    assert str(caught.value).startswith(f"{file}: error: ")
    assert "internal error" not in str(caught.value)
    assert "are not of the kinds that the op takes" not in str(caught.value)


def test_files_are_what_the_script_builds() -> None:
    files = {file.stem: file.read_bytes() for file in HERE.glob("*.onnx")}
    assert files == {name: content_of(name) for name in MODELS}
    assert len(files) >= 100


def test_lenient_names_what_it_lets_pass() -> None:
    with pytest.warns(dlc.LenientWarning, match=r"makes 'y' as tensor<4xf32> but the model declares tensor<5xf32>"):
        model = dlc.compile(HERE / "output_of_another_size.onnx", lenient=True)
    assert model.outputs[0].shape == (4,)


def test_lenient_lets_bodies_declare_other_inputs() -> None:
    """What the body is given counts: it negates sums from 1 on."""
    file = HERE / "slice_declared_larger.onnx"
    with pytest.warns(dlc.LenientWarning, match=r"its body is given 'b' as tensor<f32> but declares tensor<3xf32>"):
        model = dlc.compile(file, lenient=True)
    assert np.array_equal(model(np.arange(4, dtype=np.float32))[0], [[-1], [-2], [-4], [-7]])


def test_lenient_does_not_let_pass_what_has_no_meaning() -> None:
    with pytest.raises(dlc.ParseError, match="has 3 inputs; the op has 1"):
        dlc.compile(HERE / "too_many_inputs.onnx", lenient=True)


def test_every_problem_is_said_at_once() -> None:
    model = onnx.load(HERE / "too_many_inputs.onnx")
    model.graph.output.append(onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, None))
    with pytest.raises(dlc.ParseError, match=r"2 problems:\n  nothing defines .*'z'.*\n  node 'n' \(Relu\): has 3 inputs"):
        dlc.compile(model)

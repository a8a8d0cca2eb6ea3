"""The commands on models that run partly on the host."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A model that looks words up and cuts what comes out into a sequence."""
    table = onnx.numpy_helper.from_array(np.ones((3, 4), np.float32), "table")
    two = onnx.numpy_helper.from_array(np.array(2, np.int64), "two")
    labels = {"keys_strings": ["a", "b"], "values_int64s": [0, 1], "default_int64": 2}
    nodes = [
        helper.make_node("LabelEncoder", ["words"], ["ids"], domain="ai.onnx.ml", **labels),
        helper.make_node("Gather", ["table", "ids"], ["rows"]),
        helper.make_node("SplitToSequence", ["rows", "two"], ["parts"], axis=1),
        helper.make_node("SequenceAt", ["parts", "which"], ["part"]),
        helper.make_node("Relu", ["part"], ["y"]),
    ]
    info = helper.make_tensor_value_info
    inputs = [info("words", TensorProto.STRING, ["N"]), info("which", TensorProto.INT64, [])]
    outputs = [info("y", TensorProto.FLOAT, ["N", "K"]), helper.make_tensor_sequence_value_info("parts", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "words", inputs, outputs, [table, two])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    file = tmp_path / "words.onnx"
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), file)
    return file


def test_run(dlc_command, words: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    np.save(tmp_path / "which.npy", np.array(1, np.int64))
    which = f"which={tmp_path / 'which.npy'}"
    done = dlc_command(
        "run", words, "--dim", "N=5", "--input", which, "--check", "onnxruntime", "--output", f"y={tmp_path / 'y.npy'}"
    )
    assert done.code == 0
    assert "2 values" in done.out
    assert np.load(tmp_path / "y.npy").shape == (5, 2)


def test_a_sequence_is_not_written(dlc_command, words: Path, tmp_path: Path) -> None:
    done = dlc_command("run", words, "--output", f"parts={tmp_path / 'parts.npy'}")
    assert done.code == 1
    assert "--output parts: it is a list; only tensors are written" in done.err


def test_explain(dlc_command, words: Path) -> None:
    told = dlc_command("explain", words).out
    assert "strings are not compiled" in told
    assert "3 ops on the host, 2 segments compiled, 2 of them at its calls" in told
    assert '"segments_at_call": 2' in dlc_command("explain", words, "--json").out
    assert "runs partly on the host" in dlc_command("explain", words, "--emit=dot").err


def test_code_alone_is_refused(dlc_command, words: Path) -> None:
    done = dlc_command("compile", words)
    assert done.code == 1
    assert "`compile` and `dlc run` leave what needs it to the host" in done.err


def test_the_reference_is_refused(dlc_command, words: Path) -> None:
    assert "runs partly on the host; use --check=onnxruntime" in dlc_command("run", words, "--check", "reference").err


def test_coverage(dlc_command, words: Path) -> None:
    done = dlc_command("coverage", words)
    assert done.code == 0
    assert "3 host: runs on the host" in done.out
    assert "compiles at its first call" in done.out

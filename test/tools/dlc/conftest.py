"""What the tests of the `dlc` command share: models, and a way to run the command in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from dlc.tools.dlc import main


@dataclass(frozen=True)
class Done:
    """What a command has left: exit status, standard output and standard error."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def dlc_command(monkeypatch: pytest.MonkeyPatch) -> Command:
    """`dlc_command("run", path, ...)` runs the command in this process."""

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["dlc", *map(str, arguments)])
        code: object = 0
        with redirect_stdout(_stream()) as out, redirect_stderr(_stream()) as err:
            try:
                main()
            except SystemExit as error:
                code = error.code
        return Done(code if isinstance(code, int) else 0, _text(out), _text(err))

    return run


def _stream() -> io.TextIOWrapper:
    """A stream in memory that takes text and, at its `buffer`, bytes."""
    return io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    return cast("io.BytesIO", stream.buffer).getvalue().decode("utf-8")


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """`y = relu(x @ w + b)` for any batch, with weights too large to stand in the IR."""
    generator = np.random.default_rng(0)
    weights = {"w": generator.standard_normal((16, 32)).astype(np.float32), "b": generator.standard_normal(32).astype(np.float32)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"], name="product"),
        helper.make_node("Add", ["product", "b"], ["sum"], name="sum"),
        helper.make_node("Relu", ["sum"], ["y"], name="positive"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 16])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 32])
    graph = helper.make_graph(nodes, "network", [x], [y], [numpy_helper.from_array(array, key) for key, array in weights.items()])
    file = tmp_path / "network.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), file)
    return file

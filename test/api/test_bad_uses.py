"""Files, names and tables that no call of the API can mean give one typed error, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph

_RELU = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
_GOOD = np.ones((2, 4), np.float32)


@pytest.fixture(scope="module")
def model() -> dlc.CompiledModel:
    with Graph() as graph:
        x, y = graph.input("x", ("n", 4)), graph.input("y", ("n", 4))
        graph.output("z", dl.add(x, y))
    return dlc.compile(graph.module)


def _half_a_character() -> str:
    """The first half of a pair of UTF-16, which no file name and no UTF-8 holds."""
    return chr(0xD800)


# name: what is done with a model, and what the error must match
USES: dict[str, tuple[Callable[[dlc.CompiledModel], object], str]] = {
    "saved in a folder": (lambda model: model.save("."), "'.' is a folder; name a file"),
    "saved where no folder is": (lambda model: model.save("no/such/m.dlce"), "there is no folder 'no/such'; make it first"),
    "saved under a name with NUL": (lambda model: model.save("a\0b"), "cannot be the name of a file"),
    "saved under half a character": (lambda model: model.save(_half_a_character()), "cannot be the name of a file"),
    "saved under a number": (lambda model: model.save(3), "a file is named by a text or path, not 3"),  # type: ignore[arg-type]
    "targets in one text": (lambda model: model.save("m", targets="cpu"), "targets takes a list of names, not 'cpu'"),
    "records in one text": (lambda model: model.save("m", keep="ir"), "keep takes a list of names, not 'ir'"),
    "place of weights as a text": (lambda model: model.save("m", separate_weights="no"), "separate_weights must be True or False"),  # type: ignore[arg-type]
    "key that is a number": (lambda model: model.save("m", sign_key=3), "a key is named by its file, not 3"),  # type: ignore[arg-type]
    "weights in a list": (lambda model: model.with_params([1]), r"params is \[1\]; give a dictionary by name"),  # type: ignore[arg-type]
    "weights by number": (lambda model: model.with_params({3: _GOOD}), "params has the key 3; give a dictionary"),  # type: ignore[dict-item]
    "text to a number": (lambda model: model.print_ir(file=3), "written to an open file, not 3"),  # type: ignore[arg-type]
    "outputs that are a number": (lambda model: model.run([_GOOD, _GOOD], 3), "outputs are a list of arrays, .* not int"),  # type: ignore[arg-type]
    "requests that are a number": (lambda model: model.run_many(3), "run_many takes a list of requests, not int"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("kind", USES)
def test_use(kind: str, model: dlc.CompiledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    use, pattern = USES[kind]
    with pytest.raises(dlc.InvalidInputError, match=pattern):
        use(model)
    assert not list(tmp_path.iterdir())


# name: what is read or written without a model, the kind of error, and what it must match
FILES: dict[str, tuple[Callable[[], object], type[dlc.DLCError], str]] = {
    "text with half a character": (lambda: dlc.compile(f"{_half_a_character()}{{"), dlc.ParseError, "give Unicode text"),
    "file with half a character": (lambda: dlc.compile(_half_a_character()), dlc.ParseError, "no such file"),
    "name that is too long": (lambda: dlc.compile("x" * 5000), dlc.ParseError, "File name too long"),
    "shapes by number": (lambda: dlc.compile(_RELU, shapes={3: 2}), dlc.InvalidInputError, "shapes has the key 3"),  # type: ignore[dict-item]
    "ONNX model that is a number": (lambda: dlc.import_onnx(3), dlc.InvalidInputError, "not 3"),  # type: ignore[arg-type]
    "weights from a number": (lambda: dlc.load_params(3), dlc.InvalidInputError, "a file is named by"),  # type: ignore[arg-type]
    "weights from nowhere": (lambda: dlc.load_params("no.safetensors"), dlc.ParseError, "are not there"),
    "weights to a folder": (lambda: dlc.save_params(".", {}), dlc.InvalidInputError, "'.' is a folder; name a file"),
    "weights that are a list": (lambda: dlc.save_params("w", [1]), dlc.InvalidInputError, r"params is \[1\]"),  # type: ignore[arg-type]
    "weights under numbers": (lambda: dlc.save_params("w", {3: _GOOD}), dlc.InvalidInputError, "has the key 3"),  # type: ignore[dict-item]
    "engine that is a number": (lambda: dlc.load(3), dlc.InvalidInputError, "or bytes of an engine, not int"),  # type: ignore[arg-type]
    "engine with half a character": (lambda: dlc.load(_half_a_character()), dlc.RuntimeLoadError, "is no path of a file"),
    "engine in every other byte": (
        lambda: dlc.load(memoryview(bytes(64))[::2]),
        dlc.InvalidInputError,
        "do not lie one behind the other",
    ),
    "weights of an engine that are a number": (lambda: dlc.load("m", weights=3), dlc.InvalidInputError, "not int"),  # type: ignore[arg-type]
    "check of an engine that is a text": (lambda: dlc.load("m", verify="no"), dlc.InvalidInputError, "verify must be True"),  # type: ignore[arg-type]
    "schedules to a folder": (lambda: dlc.kernels(_RELU).save("."), dlc.InvalidInputError, "is a folder; name a file"),
    "kernel by number": (lambda: dlc.kernels(_RELU)[3], dlc.InvalidInputError, "a kernel is named by a text, not 3"),  # type: ignore[index]
    "kernels by number": (lambda: dlc.kernels(_RELU).find(3), dlc.InvalidInputError, "a text, not 3"),  # type: ignore[arg-type]
    "ops of a number": (lambda: dlc.count_ops(3), dlc.InvalidInputError, "in an MLIR module, not in 3"),  # type: ignore[arg-type]
    "module of nothing": (lambda: dlc.parse_module(None, "m"), dlc.InvalidInputError, "not None, 'm'"),  # type: ignore[arg-type]
    "schedules to nowhere": (lambda: dlc.kernels(_RELU).save("no/such"), dlc.InvalidInputError, "there is no folder 'no'"),
}


@pytest.mark.parametrize("kind", FILES)
def test_file(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, error, pattern = FILES[kind]
    with pytest.raises(error, match=pattern):
        call()
    assert not list(tmp_path.iterdir())


RANDOM: dict[str, tuple[dict[str, Any], type[dlc.DLCError], str]] = {
    "signature that is a number": ({"specs": 3}, dlc.InvalidInputError, r"inputs of a model \(model.inputs\), not for 3"),
    "negative seed": ({"seed": -1}, dlc.InvalidInputError, "seed .* from 0 on, not -1"),
    "seed that is a text": ({"seed": "a"}, dlc.InvalidInputError, "seed .* from 0 on, not 'a'"),
    "sizes in a list": ({"sizes": [1]}, dlc.InvalidInputError, r"sizes is \[1\]; give a dictionary"),
    "negative size": ({"sizes": {"n": -1}}, dlc.InvalidInputError, "dim 'n' must be an integer from 0 on, not -1"),
    "size that is no integer": ({"sizes": {"n": 2.5}}, dlc.InvalidInputError, "dim 'n' .* not 2.5"),
    "more elements than addresses": ({"sizes": {"n": 1 << 62}}, dlc.OutOfMemoryError, "give smaller sizes"),
}


@pytest.mark.parametrize("kind", RANDOM)
def test_random_inputs(kind: str, model: dlc.CompiledModel) -> None:
    changed, error, pattern = RANDOM[kind]
    with pytest.raises(error, match=pattern):
        dlc.random_inputs(**{"specs": model.inputs, **changed})

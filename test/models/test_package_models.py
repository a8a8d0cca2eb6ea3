"""The models that the onnx package ships with inputs and outputs: small torch exports, operator exports, simple graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import numpy_helper

import dlc
from dlc.tools.commands.checks import difference

_DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
_KINDS = ("pytorch-converted", "pytorch-operator", "simple")
_MODELS = sorted(file for kind in _KINDS for file in (_DATA / kind).glob("*/model.onnx"))
_TOLERANCE = 1e-4


def values(folder: Path, kind: str, entries: Sequence[onnx.ValueInfoProto]) -> list[Any]:
    """The `input` or `output` values of a data set, in order: arrays, or lists of them."""
    files = sorted(folder.glob(f"{kind}_*.pb"), key=lambda file: int(file.stem.rpartition("_")[2]))
    return [_value(file, entry) for file, entry in zip(files, entries, strict=False)]


def _value(file: Path, entry: onnx.ValueInfoProto) -> Any:
    if entry.type.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(file.read_bytes()))
    return numpy_helper.to_array(onnx.load_tensor(str(file)))


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("file", _MODELS, ids=[file.parent.name for file in _MODELS])
def test_model(file: Path) -> None:
    compiled, graph = dlc.compile(file), onnx.load(file).graph
    for folder in sorted(file.parent.glob("test_data_set_*")):
        found = compiled(*values(folder, "input", graph.input))
        for spec, have, want in zip(compiled.outputs, found, values(folder, "output", graph.output), strict=True):
            result = difference(have, want)
            assert result.within(_TOLERANCE), f"{spec.name}: {result}"

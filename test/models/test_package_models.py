"""The models that the onnx package ships with inputs and outputs: small torch exports, operator exports, simple graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import dlc
from dlc.tools.commands.checks import difference

_DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
_KINDS = ("pytorch-converted", "pytorch-operator", "simple")
_MODELS = sorted(file for kind in _KINDS for file in (_DATA / kind).glob("*/model.onnx"))
_UNSUPPORTED = ("test_gradient_of_", "test_sequence_model", "test_strnorm_model")
"""Training, sequences and strings are not tensors' work."""

_TOLERANCE = 1e-4


def arrays(folder: Path, kind: str) -> list[np.ndarray]:
    """The `input` or `output` arrays of a data set, in order."""
    files = sorted(folder.glob(f"{kind}_*.pb"), key=lambda file: int(file.stem.rpartition("_")[2]))
    return [numpy_helper.to_array(onnx.load_tensor(str(file))) for file in files]


@pytest.mark.parametrize("file", _MODELS, ids=[file.parent.name for file in _MODELS])
def test_model(file: Path) -> None:
    if file.parent.name.startswith(_UNSUPPORTED):
        with pytest.raises(dlc.UnsupportedError):
            dlc.compile(file)
        return
    compiled = dlc.compile(file)
    for folder in sorted(file.parent.glob("test_data_set_*")):
        found = compiled(*arrays(folder, "input"))
        for spec, have, want in zip(compiled.outputs, found, arrays(folder, "output"), strict=True):
            result = difference(have, want)
            assert result.within(_TOLERANCE), f"{spec.name}: {result}"

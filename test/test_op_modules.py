"""The modules of functions by op, as their texts tell them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dlc.frontends.onnx import importers as onnx_importers
from dlc.lowering.dl_to_linalg.building import lowerings as dl_lowerings
from dlc.op_modules import OpModules

_IMPORT_ONE = """
import sys
from dlc.frontends.onnx.importers import find_importer
assert find_importer(("", "Gemm")).__module__ == "dlc.frontends.onnx.linear"
assert find_importer(("", "NoSuchOp")) is None
print(*sorted(name for name in sys.modules if name.startswith("dlc.frontends.onnx.")))
"""


def _modules(folder: Path, **texts: str) -> OpModules:
    files = {f"a.{stem}": folder / f"{stem}.py" for stem in texts}
    for stem, text in texts.items():
        files[f"a.{stem}"].write_text(text, encoding="utf-8")
    return OpModules("handles", files)


def test_names_in_decorators(tmp_path: Path) -> None:
    found = _modules(
        tmp_path,
        one='@handles("Add", "Sub")\ndef f(): ...\n',
        two='@handles(\n    "Mul",\n    domain="x.y",\n)\ndef f(): ...\n\n\n@handles("Add", domain="ml")\ndef g(): ...\n',
        helper='"""As in @handles("Div")."""\nTEXT = "Add"\n',
    )
    assert found.of_op("Add") == ("a.one", "a.two")
    assert found.of_op("Mul") == ("a.two",)
    assert found.of_op("Div") == found.of_op("Max") == ()


def test_names_from_tables_may_be_any(tmp_path: Path) -> None:
    found = _modules(tmp_path, table="@handles(*_SAME)\ndef f(): ...\n", one='@handles("Add")\ndef f(): ...\n')
    assert found.of_op("Add") == ("a.table", "a.one")
    assert found.of_op("Max") == ("a.table",)


def test_every_importer_is_found_by_its_op() -> None:
    lost = [key for key, made in onnx_importers.importers().items() if onnx_importers.find_importer(key) is not made]
    texts = onnx_importers._families()
    unnamed = [key for key, made in onnx_importers.importers().items() if made.__module__ not in texts.of_op(key[1])]
    assert (lost, unnamed) == ([], [])


@pytest.mark.parametrize("name", dl_lowerings.lowerings())
def test_every_lowering_is_found_by_its_op(name: str) -> None:
    made = dl_lowerings.lowerings()[name]
    assert dl_lowerings.find_lowering(name) is made
    assert made.__module__ in dl_lowerings._families().of_op(name)


def test_an_op_brings_its_family_alone() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORT_ONE], capture_output=True, text=True, check=True)
    brought = done.stdout.split()
    assert "dlc.frontends.onnx.linear" in brought
    assert not {"dlc.frontends.onnx.recurrent", "dlc.frontends.onnx.attention", "dlc.frontends.onnx.ml.trees"} & set(brought)

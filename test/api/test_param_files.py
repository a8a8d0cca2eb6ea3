"""Weights in safetensors files: every element type, mapped rather than read, and files that are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dlc
from dlc.dialects.dl.types import ALL_DTYPES
from dlc.dtypes import NUMPY_DTYPES


def test_arrays_come_back(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    shapes = [(3, 5), (), (0, 4), (7,)]
    arrays = {
        f"{dtype}{index}": np.asarray(random.integers(0, 2, shape)).astype(kind)
        for dtype, kind in NUMPY_DTYPES.items()
        if dtype in ALL_DTYPES
        for index, shape in enumerate(shapes)
    }
    dlc.save_params(tmp_path / "weights.safetensors", arrays)
    found = dlc.load_params(tmp_path / "weights.safetensors")
    assert set(found) == set(arrays)
    for key, array in arrays.items():
        assert found[key].dtype == array.dtype
        np.testing.assert_array_equal(found[key], array)


def test_an_empty_table(tmp_path: Path) -> None:
    dlc.save_params(tmp_path / "weights.safetensors", {})
    assert dict(dlc.load_params(tmp_path / "weights.safetensors")) == {}


def test_arrays_are_maps_of_the_file_and_writing_leaves_it(tmp_path: Path) -> None:
    file = tmp_path / "weights.safetensors"
    dlc.save_params(file, {"a": np.ones((4, 4), np.float32), "b": np.zeros(3, np.float32)})
    before = file.read_bytes()
    first = dlc.load_params(file)
    assert type(first["a"]) is np.ndarray
    assert not first["a"].flags.owndata
    first["a"][:] = 2
    assert file.read_bytes() == before
    file.unlink()
    np.testing.assert_array_equal(first["b"], np.zeros(3, np.float32))


@pytest.mark.parametrize("dtype", ["f8E4M3FN", "f8E5M2"])
def test_floats_of_a_byte_come_back(dtype: str, tmp_path: Path) -> None:
    codes = np.arange(256, dtype=np.uint8)
    dlc.save_params(tmp_path / "weights.safetensors", {"a": codes.view(NUMPY_DTYPES[dtype])})
    found = dlc.load_params(tmp_path / "weights.safetensors")["a"]
    assert found.dtype == NUMPY_DTYPES[dtype]
    np.testing.assert_array_equal(found.view(np.uint8), codes)


def test_integers_of_four_bits_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(dlc.InvalidInputError, match="cannot write the weights"):
        dlc.save_params(tmp_path / "weights.safetensors", {"a": np.zeros(3, NUMPY_DTYPES["i4"])})


@pytest.mark.parametrize("content", [b"", b"\x00" * 4, b"\xff" * 64, b"\x10" + b"\x00" * 7 + b"{}"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "weights.safetensors").write_bytes(content)
    with pytest.raises(dlc.ParseError, match="not a safetensors file"):
        dlc.load_params(tmp_path / "weights.safetensors")


def test_element_types_that_dl_has_not_are_refused(tmp_path: Path) -> None:
    dlc.save_params(tmp_path / "weights.safetensors", {"a": np.zeros(3, np.complex64)})
    with pytest.raises(dlc.ParseError, match="'a' has element type C64, which dl has not"):
        dlc.load_params(tmp_path / "weights.safetensors")

"""Every pass is a class under `dlc.lowering`, and a pipeline takes its instances."""

from __future__ import annotations

from pathlib import Path

import pytest

import dlc
import dlc.lowering
from dlc.lowering import registry
from dlc.lowering.registry import passes


@pytest.mark.parametrize("name", sorted(passes()))
def test_class_is_found(name: str) -> None:
    found = getattr(dlc.lowering, passes()[name].class_name)
    assert found.name() == name
    assert str(dlc.Pipeline([found()])) in (f"builtin.module({name})", f"builtin.module(func.func({name}))")


def test_unknown_class() -> None:
    with pytest.raises(AttributeError, match="no pass class 'NoSuchPass'"):
        _ = dlc.lowering.NoSuchPass


def test_a_pass_is_found_without_reading_the_files_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    read_text = Path.read_text

    def note(file: Path, *arguments: str, **keywords: str) -> str:
        read.append(file.name)
        return read_text(file, *arguments, **keywords)

    registry._entry_of.cache_clear()
    monkeypatch.setattr(Path, "read_text", note)
    assert registry.find_pass("affine-fuse-nests").__name__ == "FuseNests"
    assert registry.find_pass("affine-fuse-nests-at-night") is None
    assert read == ["fuse_nests.py"]


def test_every_pass_is_found_by_its_name() -> None:
    assert [name for name, entry in registry.passes().items() if registry.find_pass(name) is not entry.load()] == []

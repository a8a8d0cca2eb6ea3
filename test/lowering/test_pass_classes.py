"""Every pass is a class under `dlc.lowering`, and a pipeline takes its instances."""

from __future__ import annotations

import pytest

import dlc
import dlc.lowering
from dlc.lowering.registry import passes


@pytest.mark.parametrize("name", sorted(passes()))
def test_class_is_found(name: str) -> None:
    found = getattr(dlc.lowering, passes()[name].class_name)
    assert found.name() == name
    assert str(dlc.Pipeline([found()])) in (f"builtin.module({name})", f"builtin.module(func.func({name}))")


def test_unknown_class() -> None:
    with pytest.raises(AttributeError, match="no pass class 'NoSuchPass'"):
        _ = dlc.lowering.NoSuchPass

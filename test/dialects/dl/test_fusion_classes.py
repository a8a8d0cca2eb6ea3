"""Every op says how it depends on its operands."""

from __future__ import annotations

import pytest

from dlc.dialects.dl import ops
from dlc.dialects.dl.base import FUSION_CLASSES, DLOp


@pytest.mark.parametrize("name", sorted(ops()))
def test_op_has_a_fusion_class(name: str) -> None:
    op = ops()[name]
    stated = [base for base in op.__mro__ if base is not DLOp and "fusion_class" in vars(base)]
    assert stated, f"dl.{name} needs a fusion_class ({', '.join(FUSION_CLASSES)}), or a base class with one"
    assert op.fusion_class in FUSION_CLASSES


@pytest.mark.parametrize("name", sorted(ops()))
def test_elementwise_op_is_injective(name: str) -> None:
    op = ops()[name]
    assert not op.is_elementwise or op.fusion_class in ("injective", "broadcast")

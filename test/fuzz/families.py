"""All families of cases."""

from __future__ import annotations

from pathlib import Path

from fuzz.call_family import CallFamily
from fuzz.cases import Family
from fuzz.command_family import CommandFamily
from fuzz.mlir_family import MlirFamily
from fuzz.onnx_family import OnnxFamily

NAMES = ("onnx", "mlir", "command", "call")


def families(small: bool = False) -> list[Family]:
    """One of each; `small` leaves out the part of the corpus that takes seconds to build."""
    return [OnnxFamily(small), MlirFamily(), CommandFamily(), CallFamily()]


def family_of(file: Path) -> Family:
    """The family whose case a file holds, by the suffix."""
    return next(family for family in families(small=True) if file.name.endswith(family.suffix))

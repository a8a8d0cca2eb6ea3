"""All families of cases."""

from __future__ import annotations

from pathlib import Path

from fuzz.cases import Family
from fuzz.mlir_family import MlirFamily
from fuzz.onnx_family import OnnxFamily

FAMILIES: tuple[Family, ...] = (OnnxFamily(), MlirFamily())


def family_of(file: Path) -> Family:
    """The family whose case a file holds, by the suffix."""
    return next(family for family in FAMILIES if file.name.endswith(family.suffix))

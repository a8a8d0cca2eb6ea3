"""Upstream's tiling and fusion of the PolyBench kernels: right results are accepted and proved again, illegal tilings refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.polybench.suite import suite
from dlc._mlir import ir
from dlc.errors import PassError
from dlc.lowering.pipeline import Pipeline
from dlc.tools.check_proof import main

_PASSES = "affine-loop-tile{tile-size=8},affine-loop-fusion"
_ILLEGAL = {"floyd-warshall", "seidel-2d"}
"""Upstream tiles them although a dependence runs against an inner loop."""


def _check(folder: Path, name: str) -> None:
    proof = folder / "proof"
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(suite()[name].text("MINI", "f64"))
        (folder / "before.mlir").write_text(str(module))
        options = f"pass='{_PASSES}' proof={proof} assume-no-alias assume-non-negative"
        Pipeline.parse(f"affine-check-legality{{{options}}}").run(module)
        (folder / "after.mlir").write_text(str(module))
    assert main([str(folder / "before.mlir"), str(folder / "after.mlir"), f"{proof}.json"]) == 0


@pytest.mark.parametrize("name", ["gemm", "trisolv", "jacobi-1d"])
def test_kernels(tmp_path: Path, name: str) -> None:
    _check(tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(suite()) - _ILLEGAL))
def test_all_kernels(tmp_path: Path, name: str) -> None:
    _check(tmp_path, name)


@pytest.mark.parametrize("name", sorted(_ILLEGAL))
def test_illegal_tilings(tmp_path: Path, name: str) -> None:
    with pytest.raises(PassError, match="affine-loop-fusion would"):
        _check(tmp_path, name)

"""Skewed loops of stencils, what their tiles touch, and where tiles across time pay."""

from __future__ import annotations

from bench.polybench.suite import suite
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.affine.dependences.analysis import DependenceAnalysis
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.search.scheduler import ScheduleUnit, parts_of
from dlc.lowering.affine.search.skewing import skewed_loops
from dlc.lowering.affine.search.tile_footprints import footprints
from dlc.lowering.affine.search.time_tiles import choose_time_tiles
from dlc.targets.machine import Machine

_FACTS = Machine().override(l1_bytes=48 * 1024, l2_bytes=2 * 1024**2)


def _part(name: str, size: str) -> tuple[ScheduleUnit, ir.Module]:
    """The only part of a kernel, and the module that holds its ops."""
    module = ir.Module.parse(suite()[name].text(size, "f64"))
    scop = extract(module.body.operations[0].operation)
    (part,) = parts_of(scop, DependenceAnalysis(scop).ordering, "min")
    return part, module


def _sizes(name: str, size: str) -> tuple[int, ...] | None:
    with make_context(), ir.Location.unknown():
        part, _module = _part(name, size)
        skewed = skewed_loops(part)
        assert skewed is not None
        return choose_time_tiles(part, skewed, _FACTS)


def test_loops_are_skewed_by_little() -> None:
    with make_context(), ir.Location.unknown():
        part, _module = _part("jacobi-2d", "MINI")
        skewed = skewed_loops(part)
        assert skewed is not None
        assert skewed.rows["S0"] == skewed.rows["S1"] == ((1, 0, 0), (2, 1, 0), (2, 0, 1))
        assert (skewed.shifts["S0"], skewed.shifts["S1"]) == ((0, 0, 0), (0, 1, 1))


def test_products_are_not_skewed() -> None:
    with make_context(), ir.Location.unknown():
        part, _module = _part("gemm", "MINI")
        assert skewed_loops(part) is None


def test_footprint_is_that_of_a_tile() -> None:
    """4 time steps move 8 rows by 2 a step: 8 + 2 * 3 rows and 2 more for neighbours; rows stay whole."""
    with make_context(), ir.Location.unknown():
        part, _module = _part("jacobi-2d", "LARGE")
        skewed = skewed_loops(part)
        assert skewed is not None
        touched = footprints(part.statements, skewed, (0, 1))
        assert touched is not None
        shapes = [touched.shape(array, (4, 8, 0, 500, 1298, 1298)) for array in touched.dims]
        assert shapes == [[16.0, 1300.0], [16.0, 1300.0]]


def test_arrays_that_fit_into_the_cache_are_not_tiled() -> None:
    assert _sizes("jacobi-2d", "MEDIUM") is None
    assert _sizes("jacobi-1d", "EXTRALARGE") is None


def test_tiles_fit_and_rows_stay_whole() -> None:
    sizes = _sizes("jacobi-2d", "LARGE")
    assert sizes is not None
    assert sizes[2] == 0
    assert (sizes[1] + 2 * sizes[0] + 2) * 1300 * 8 * 2 <= 2 * 1024**2

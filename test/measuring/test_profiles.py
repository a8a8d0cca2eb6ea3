"""Profiles of models: rows are the kernels that are called, and add up."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dlc
from bench.networks import bert, mlp
from dlc.measuring.contenders import Effort
from dlc.measuring.peaks import MemoryLevel, Peaks, measure_peaks
from dlc.measuring.profiles import CALL, ENTRY, costs_of, measure_profile
from dlc.runtime.library import load_library
from dlc.sources import read_source

EFFORT = Effort(rounds=3, slot=0.001, seconds=0.0)
WIDTHS = (16, 48, 48, 48, 10)


def both(model: object, **options: object) -> tuple[dlc.CompiledModel, dlc.CompiledModel]:
    """The model with a profile, and without."""
    return dlc.compile(model, num_threads=1, profile=True, **options), dlc.compile(model, num_threads=1, **options)


def test_a_twin_with_a_profile() -> None:
    """It is the same model, on the same weights; other weights stay apart."""
    plain = dlc.compile(mlp.build(widths=(16, 40, 8)), num_threads=1)
    profiled = plain.with_profile()
    assert (plain.profiled, len(profiled.profiled)) == ((), 2)
    x = np.ones((1, 16), np.float32)
    np.testing.assert_array_equal(plain(x)[0], profiled(x)[0])
    key = next(name for name in dlc.import_onnx(mlp.build(widths=(16, 40, 8))).params if name.endswith("bias"))
    other = profiled.with_params({key: np.full(40, 7, np.float32)})
    assert not np.array_equal(other(x)[0], plain(x)[0])
    np.testing.assert_array_equal(plain(x)[0], profiled(x)[0])


def test_kernels_are_shared_with_code_without_a_profile() -> None:
    model = mlp.build(widths=(16, 40, 8), seed=3)
    plain = dlc.compile(model, num_threads=1)
    profiled = dlc.compile(model, num_threads=1, profile=True)
    assert plain.profiled == ()
    assert len(profiled.profiled) == plain.build_report.kernels == profiled.build_report.kernels
    assert profiled.build_report.whole or profiled.build_report.compiled <= 1, "only the entry is another"
    x = {"x": np.ones((1, 16), np.float32)}
    np.testing.assert_array_equal(plain(x)[0], profiled(x)[0])


def test_a_call_charges_each_call_of_a_kernel() -> None:
    profiled, plain = both(mlp.build(widths=WIDTHS))
    x = np.ones((1, 16), np.float32)
    library = load_library()
    library.profile_reset()
    plain(x)
    assert library.profile_rows() == []
    for _ in range(3):
        profiled(x)
    entry, *kernels = library.profile_rows()
    assert len(kernels) == len(profiled.profiled)
    assert sum(calls for calls, _ in kernels) == 3 * (len(WIDTHS) - 1)
    assert entry[0] == 3 * len(WIDTHS), "before each kernel, and at the end"
    assert all(nanoseconds > 0 for _, nanoseconds in kernels)


def test_the_cache_keeps_profiles_apart(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        profiled, plain = both(mlp.build(widths=(16, 24, 8), seed=5))
        assert profiled.profiled
        assert not plain.profiled


def test_rows_add_up() -> None:
    model = mlp.build(widths=WIDTHS)
    plain = dlc.compile(model, num_threads=1)
    found = measure_profile(plain, {"x": np.ones((1, 16), np.float32)}, costs_of(read_source(model)), EFFORT)
    *kernels, entry, call = found.rows
    assert {row.name for row in kernels} == set(plain.with_profile().profiled)
    assert (entry.name, call.name) == (ENTRY, CALL)
    assert sum(row.share for row in found.rows) == pytest.approx(1.0)
    assert sum(row.seconds for row in found.rows) == pytest.approx(found.sum)
    assert [row.seconds for row in kernels] == sorted((row.seconds for row in kernels), reverse=True)
    products = sum(2 * a * b for a, b in itertools.pairwise(WIDTHS))
    assert sum(row.flops or 0 for row in kernels) == products + 2 * 3 * 48 + 10, "bias everywhere, ReLU but at the end"
    assert all(row.of_peak and row.of_peak > 0 for row in kernels)
    assert found.to_json()["rows"][0] == vars(found.rows[0])


def test_costs_of_dynamic_dims_come_from_the_inputs() -> None:
    model = bert.build(layers=1, hidden=32, heads=2, vocab=50, seq=8, dynamic_batch=True)
    static = bert.build(batch=3, layers=1, hidden=32, heads=2, vocab=50, seq=8)
    plain = dlc.compile(model, num_threads=1)
    inputs = dlc.random_inputs(plain.inputs, sizes={"batch": 3})
    found = measure_profile(plain, inputs, costs_of(read_source(model)), EFFORT)
    expected = {name: cost.flops.at() for name, cost in costs_of(read_source(static)).items()}
    kernels = found.rows[:-2]
    assert all(row.flops is not None for row in kernels)
    assert sum(row.flops or 0 for row in kernels) == sum(expected[row.name] * row.calls for row in kernels)


def test_rooflines() -> None:
    peaks = Peaks(1, 100.0, (MemoryLevel("L1", 10, 50.0), MemoryLevel("memory", 1000, 5.0)))
    assert peaks.level_of(10).name == "L1"
    assert peaks.level_of(11).name == peaks.level_of(5000).name == "memory"
    assert peaks.least_seconds(200.0, 10.0) == 2.0
    assert peaks.least_seconds(200.0, 100.0) == 20.0


def test_measured_peaks() -> None:
    peaks = measure_peaks(1)
    assert peaks.flops > 0
    assert [level.name for level in peaks.levels] == ["L1", "L2", "L3", "memory"]
    assert all(level.rate > 0 and level.size > 0 for level in peaks.levels)

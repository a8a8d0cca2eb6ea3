"""Schedules given by file or found by measuring: they reach the code, and what is wrong with them is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dlc
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.schedule.schedule_text import read_lines
from dlc.targets.schedules import ScheduleTable, read_schedules

_MODEL = """
func.func @main(%x: tensor<20x48xf32> {dl.name = "x"}) -> (tensor<20x32xf32> {dl.name = "y"}) {
  %w = "dl.param"() {key = "w", shape = array<i64: 48, 32>, dtype = f32} : () -> tensor<48x32xf32>
  %y = "dl.matmul"(%x, %w) : (tensor<20x48xf32>, tensor<48x32xf32>) -> tensor<20x32xf32>
  return %y : tensor<20x32xf32>
}
"""
_TILE = {"code_generator": "tile", "lane_loop": 1, "lanes": 8, "vectors": 2, "unroll_and_jam": [[0, 5]], "unroll": 3}


def _compile(schedule: Any = None, measure: bool = False) -> tuple[dlc.CompiledModel, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(shape, np.float32) for shape in ((20, 48), (48, 32)))
    compiled = dlc.compile(_MODEL, params={"w": w}, schedule=schedule, measure=measure, num_threads=1)
    return compiled, x, x @ w


def test_a_table_is_read_as_it_was_written() -> None:
    table = ScheduleTable({"kernel_0": {0: Tile(lane_loop=1, unroll_and_jam=((0, 4),), order=(1, 0)), 3: Tile("generic")}})
    assert ScheduleTable.of_json(json.loads(json.dumps(table.to_json()))) == table


def test_a_table_of_an_older_version_is_read() -> None:
    old = {"kernel_0": {"0": {"emitter": "rows", "lanes": 8}, "steps": ["tile_registers(loop='i', emitter='rows')"]}}
    table = ScheduleTable.of_json(old)
    assert table.kernels == {"kernel_0": {0: Tile("rows", lanes=8)}}
    assert [step.given["code_generator"] for step in read_lines(table.steps["kernel_0"]).steps] == ["rows"]


@pytest.mark.parametrize("pattern", ["kernel_0_matmul", "*_matmul"])
def test_a_schedule_changes_the_code_not_the_result(pattern: str, tmp_path: Path) -> None:
    file = tmp_path / "schedules.json"
    file.write_text(json.dumps({pattern: {"0": _TILE}}), encoding="utf-8")
    given, x, expected = _compile(file)
    np.testing.assert_allclose(given(x)[0], expected, rtol=1e-5, atol=1e-5)
    assert dlc.schedules_of(_MODEL, schedule=file).to_json()["kernel_0_matmul"]["0"] == _TILE
    assert dlc.schedules_of(_MODEL).to_json()["kernel_0_matmul"]["0"] != _TILE


def test_measured_schedules_give_the_same_result() -> None:
    measured, x, expected = _compile(measure=True)
    np.testing.assert_allclose(measured(x)[0], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"kernel_0_matmull": {}}, "no kernel is called 'kernel_0_matmull'; did you mean 'kernel_0_matmul'"),
        ({"kernel_0_matmul": {"9": _TILE}}, "has an entry for nest '9' but the function has nests 0 to 0"),
        ({"kernel_0_matmul": {"0": {"lane_loop": 7, "lanes": 8}}}, "'lane_loop' is 7 but the nest has loops 0 to 2"),
        ({"kernel_0_matmul": {"0": _TILE | {"lanes": 6}}}, "'lanes' is 6 but must be a power of two"),
    ],
)
def test_what_does_not_fit_a_model_is_refused(content: Any, message: str) -> None:
    with pytest.raises(dlc.DLCError, match=message):
        _compile(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "schedules are an object with one entry for each kernel"),
        ({"k": []}, "schedules of 'k' are an object with one entry for each nest"),
        ({"k": {"first": {}}}, "schedules of 'k': nests go by number, not 'first'"),
        ({"k": {"0": 3}}, "schedule of nest 0 of 'k': a schedule is an object, not 3"),
        ({"k": {"0": {"lane": 3}}}, "a schedule has no 'lane'; did you mean 'lanes'"),
        ({"k": {"0": {"lanes": "16"}}}, "'lanes' of a schedule cannot be \"16\""),
        ({"k": {"0": {"unroll_and_jam": [1, 7]}}}, "'unroll_and_jam' of a schedule cannot be"),
        ({"k": {"0": {"code_generator": "tiles"}}}, "no code generator is called 'tiles'"),
    ],
)
def test_what_is_no_table_is_refused(content: Any, message: str, tmp_path: Path) -> None:
    file = tmp_path / "schedules.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(dlc.InvalidInputError, match=message) as caught:
        read_schedules(file)
    assert str(caught.value).startswith(f"{file}: error: ")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(dlc.InvalidInputError, match=r"none\.json: error: cannot read the schedules: No such file"):
        read_schedules(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    with pytest.raises(dlc.InvalidInputError, match=r"bad\.json: error: the schedules are no JSON"):
        read_schedules(tmp_path / "bad.json")

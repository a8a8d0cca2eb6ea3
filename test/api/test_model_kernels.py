"""`dlc.kernels`: the kernels of a model by name, node and op, and one schedule for each that `compile` obeys."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu_interpreter import program

import dlc
from bench.networks import bert
from dlc._mlir import ir
from dlc.kernel_schedule import KernelSchedule
from dlc.lowering.affine.ir.op_names import name_ops
from dlc.model_kernels import Kernel
from dlc.verification import Verdict, verdict_of

_MODEL = """
func.func @main(%x: tensor<24x48xf32> {dl.name = "x"}) -> (tensor<24x32xf32> {dl.name = "y"}) {
  %w = "dl.param"() {key = "w", shape = array<i64: 48, 32>, dtype = f32} : () -> tensor<48x32xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 32>, dtype = f32} : () -> tensor<32xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<24x48xf32>, tensor<48x32xf32>) -> tensor<24x32xf32> loc("MatMul_0")
  %1 = "dl.add"(%0, %b) : (tensor<24x32xf32>, tensor<32xf32>) -> tensor<24x32xf32> loc("Add_0")
  %y = "dl.relu"(%1) : (tensor<24x32xf32>) -> tensor<24x32xf32> loc("Relu_0")
  return %y : tensor<24x32xf32>
}
"""
_NAME = "kernel_0_matmul_add_relu"
_I, _J, _K = "S0:0", "S0:1", "S1:2"


def _arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x, w, b = (random.standard_normal(shape, np.float32) for shape in ((24, 48), (48, 32), (32,)))
    return x, w, b, np.maximum(x @ w + b, 0)


def _check(schedule: object, **options: bool) -> dlc.CompiledModel:
    x, w, b, expected = _arrays()
    compiled = dlc.compile(_MODEL, params={"w": w, "b": b}, schedule=schedule, num_threads=1, **options)
    np.testing.assert_allclose(compiled(x)[0], expected, rtol=1e-5, atol=1e-5)
    return compiled


@pytest.mark.parametrize("name", [_NAME, "*_matmul_*", "MatMul_0", "Relu_0", "relu"])
def test_a_kernel_goes_by_its_name_a_node_or_an_op(name: str) -> None:
    kernel = dlc.kernels(_MODEL)[name]
    assert (kernel.name, kernel.nodes, kernel.ops) == (_NAME, ("MatMul_0", "Add_0", "Relu_0"), ("matmul", "add", "relu"))
    assert kernel.schedule.loops() == [_I, _J, _K]
    assert kernel.function.name == "func.func"


def test_an_unknown_kernel_is_refused_with_what_is_there() -> None:
    with pytest.raises(dlc.InvalidInputError, match="no kernel, node or op is called 'MatMul_1'; did you mean 'MatMul_0'"):
        dlc.kernels(_MODEL)["MatMul_1"]


def _unfuse(schedule: KernelSchedule) -> None:
    schedule.distribute(_J, before=["S2"])


def _unfuse_all(schedule: KernelSchedule) -> None:
    inner = schedule.distribute(_J, before=["S2"])
    outer = schedule.distribute(_I, before=["S2"])
    schedule.search(outer[0])
    schedule.tile_registers(outer[1], inner[1], lanes=8)


def _fuse_again(schedule: KernelSchedule) -> None:
    schedule.fuse(*schedule.distribute(_J, before=["S2"]))


def _tile(schedule: KernelSchedule) -> None:
    schedule.tile([_I, _J], [5, 16])


def _register_tile(schedule: KernelSchedule) -> None:
    schedule.tile_registers(_I, lanes=8, vectors=2, unroll_and_jam=[_I], factors=[3])


def _vectorize(schedule: KernelSchedule) -> None:
    schedule.vectorize(_J, 8)
    schedule.split(_I, 8)


_EDITS: list[Callable[[KernelSchedule], None]] = [_unfuse, _unfuse_all, _fuse_again, _tile, _register_tile, _vectorize]


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("edit", _EDITS)
def test_an_edited_schedule_gives_the_same_result(edit: Callable[[KernelSchedule], None], tmp_path: Path) -> None:
    """In the process that edits, and from a file."""
    kernels, file = dlc.kernels(_MODEL), tmp_path / "schedules.json"
    edit(kernels[_NAME].schedule)
    _check(kernels)
    kernels.save(file)
    assert json.loads(file.read_text())[_NAME]["steps"] == list(kernels[_NAME].steps)
    _check(file)
    assert dlc.kernels(_MODEL, schedule=file)[_NAME].schedule.loops() == kernels[_NAME].schedule.loops()


@pytest.mark.parametrize("edit", _EDITS)
def test_an_edited_schedule_is_proved(edit: Callable[[KernelSchedule], None]) -> None:
    kernel = dlc.kernels(_MODEL)[_NAME]
    edit(kernel.schedule)
    assert verdict_of(kernel) == Verdict(_NAME, "proved")


def test_the_text_of_a_schedule_is_an_entry_of_a_table() -> None:
    kernel = dlc.kernels(_MODEL)[_NAME]
    _unfuse(kernel.schedule)
    for text in (kernel.schedule.to_python(), kernel.schedule.to_transform()):
        _check({_NAME: {"steps": text}})
        assert dlc.schedules_of(_MODEL, schedule={_NAME: {"steps": text}}).to_json()[_NAME]["steps"] == list(kernel.steps)


def test_loops_that_steps_change_are_not_searched() -> None:
    kernel = dlc.kernels(_MODEL)[_NAME]
    assert kernel.nests[0].code_generator == "tile"
    _tile(kernel.schedule)
    assert dict(kernel.nests) == {}
    assert "vector<" not in str(kernel.scheduled())


def test_a_register_tile_is_the_searched_one_but_for_what_is_given() -> None:
    kernel = dlc.kernels(_MODEL)[_NAME]
    searched = kernel.nests[0]
    kernel.schedule.tile_registers(_I, vectors=1)
    assert kernel.nests[0] == dlc.kernels(_MODEL)[_NAME].choose(0, vectors=1)
    assert kernel.nests[0].lanes == searched.lanes


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda s: s.parallelize(_K), r"would run S1\[i0=0, i1=0, i2=1\].* at the same time as S1\[i0=0, i1=0, i2=0\]"),
        (lambda s: s.reverse(_K), r"would run S1\[i0=0, i1=0, i2=1\].* before S1\[i0=0, i1=0, i2=0\]"),
        (lambda s: s.bind(_K, "block.x"), "at the same time as"),
        (lambda s: s.tile_registers(_I, vectors=1000), "copies of the body are more than 256"),
        (lambda s: s.tile_registers(_I, lanes=6), "'lanes' is 6 but must be a power of two"),
        (lambda s: s.tile_registers(_K), "is no nest for register tiles"),
        (lambda s: s.split("q", 2), "no loop is called 'q'; use one of S0:0, S0:1, S1:2"),
        (lambda s: s.apply(), "applied when its model is compiled"),
    ],
)
def test_an_edit_that_is_not_legal_is_refused_and_leaves_the_schedule(
    edit: Callable[[KernelSchedule], object], message: str
) -> None:
    kernels = dlc.kernels(_MODEL)
    schedule = kernels[_NAME].schedule
    with pytest.raises(dlc.ScheduleError, match=message):
        edit(schedule)
    assert schedule.loops() == [_I, _J, _K]
    assert kernels.table().to_json() == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"conv_7": {"steps": ["split('S0:0', 4)"]}}, f"no kernel is called 'conv_7'; the model has {_NAME}"),
        (
            {_NAME: {"steps": ["split('S9:0', 4)"]}},
            r"step 0 of its schedule, split\('S9:0', 4\): no loop is called 'S9:0'; use one of",
        ),
        ({_NAME: {"steps": ["parallelize('S1:2')"]}}, "would run S1"),
        ({_NAME: {"steps": ["splitt('S0:0', 4)"]}}, "a schedule has no step 'splitt'"),
        ({_NAME: {"steps": [3]}}, "steps of 'kernel_0_matmul_add_relu' are a list of calls or a text"),
        ({_NAME: {"steps": ["import os", "os.system('x')"]}}, "a schedule has no step 'system'"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(content: object, message: str) -> None:
    with pytest.raises(dlc.DLCError, match=message):
        _check(content)


def test_nests_are_chosen_by_number() -> None:
    kernels = dlc.kernels(_MODEL)
    kernels[_NAME].choose(0, vectors=1, unroll=2)
    assert kernels.table().to_json()[_NAME]["0"]["unroll"] == 2
    _check(kernels)
    for nest in (3, [], True):
        with pytest.raises(dlc.ScheduleError, match="has no nest"):
            kernels[_NAME].choose(nest)  # type: ignore[arg-type]
    with pytest.raises(dlc.ScheduleError, match="a schedule has no 'vector'; did you mean 'vectors'"):
        kernels[_NAME].choose(0, vector=1)


WRONG_STEPS: dict[str, tuple[Callable[[Any], object], str]] = {
    "nest that is not there": (lambda schedule: schedule.tile_registers("nosuch"), "no loop is called 'nosuch'; use one of S0"),
    "nest that is a number": (lambda schedule: schedule.tile_registers(3), "a loop is named by a text, not 3"),
    "one size": (lambda schedule: schedule.tile(["S0:0"], 3), "sizes must be a list, not 3; give sizes in brackets"),
    "loops that are none": (lambda schedule: schedule.interchange(None), "loops must be a list, not None"),
    "one place": (lambda schedule: schedule.distribute("S0:0", before=3), "before must be a list, not 3"),
    "statement that is a number": (lambda schedule: schedule.compute_at(3, "S0:0"), "statements must be a list, not 3"),
    "plan that is a number": (lambda schedule: schedule.follow(3), "steps are followed as `read_steps` gives them, not as 3"),
    "text that is none": (lambda schedule: schedule.replay(3, _GATHER), "steps of a schedule are a text, not 3"),
}


@pytest.mark.parametrize("kind", WRONG_STEPS)
def test_steps_that_mean_nothing(kind: str) -> None:
    step, pattern = WRONG_STEPS[kind]
    with pytest.raises(dlc.ScheduleError, match=pattern):
        step(dlc.kernels(_MODEL)[_NAME].schedule)


@pytest.mark.parametrize("field", [{"lanes": "x"}, {"lanes": True}, {"vectors": 2.5}, {"unroll": 1 << 64}, {"order": ("a",)}])
def test_fields_of_a_nest_are_numbers(field: dict[str, Any]) -> None:
    kernel = dlc.kernels(_MODEL)[_NAME]
    (name,) = field
    with pytest.raises(dlc.ScheduleError, match=f"'{name}' of a schedule cannot be .*; give numbers"):
        kernel.choose(0, **field)


_GATHER = """
func.func @gather(%I: memref<8xindex>, %A: memref<100xf32>, %B: memref<8xf32> {llvm.noalias}) attributes {dl.kernel} {
  affine.for %i = 0 to 8 {
    %at = affine.load %I[%i] : memref<8xindex>
    %a = memref.load %A[%at] : memref<100xf32>
    affine.store %a, %B[%i] : memref<8xf32>
  } {dlc.parallel}
  return
}
func.func @none(%A: memref<100xf32>) attributes {dl.kernel} {
  return
}
"""


@pytest.mark.parametrize("name", ["gather", "none"])
def test_loops_that_steps_cannot_change_say_why(name: str) -> None:
    kernel = dlc.kernels(_GATHER)[name]
    with pytest.raises(
        dlc.ScheduleError, match=f"kernel '{name}' has no loops that steps can change: .*; change its nests by number"
    ):
        _ = kernel.schedule
    assert "has no loops that steps can change" in str(kernel)


def test_workers_know_the_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many kernels are compiled in other processes, from a cache that tells kernels with steps from those without."""
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path))
    model = bert.build(layers=1, seq=16, hidden=64, heads=2, vocab=31)
    kernels = dlc.kernels(model)
    kernels["layer0/mlp/up/MatMul"].schedule.distribute(_J, before=["S2"])
    plain, edited = dlc.compile(model), dlc.compile(model, schedule=kernels)
    assert (plain.build_report.compiled > 4, edited.build_report.compiled) == (True, 2)
    inputs = dlc.random_inputs(plain.inputs)
    for expected, result in zip(plain(inputs), edited(inputs), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def _bound(tiles: Sequence[int]) -> Kernel:
    kernel = dlc.kernels(_MODEL, "gpu:sm_90")[_NAME]
    loops = kernel.schedule.tile([_I, _J], tiles)
    for loop, unit in zip(loops, ("block.y", "block.x", "thread.y", "thread.x"), strict=True):
        kernel.schedule.bind(loop, unit)
    return kernel


def test_bound_loops_are_the_grid_of_a_kernel() -> None:
    """3 x 2 blocks of 8 x 16 threads, which compute what NumPy does; PTX says the same."""
    kernel, (x, w, b, expected) = _bound([8, 16]), _arrays()
    module, y = kernel.lowered("gpu"), np.zeros_like(expected)
    with module.context, ir.Location.unknown():
        run = program(module)
        run.run(_NAME, x, w, b, y)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
    assert [(tuple(grid), tuple(block)) for _, grid, block in run.launches] == [((2, 3, 1), (16, 8, 1))]
    assert b".maxntid 16, 8, 1" in kernel.emit("ptx")


def test_steps_reach_a_gpu_through_a_table(tmp_path: Path) -> None:
    file = tmp_path / "schedules.json"
    file.write_text(json.dumps({_NAME: {"steps": list(_bound([4, 32]).steps)}}))
    assert "threads in (%c32, %c4" in str(dlc.lower(_MODEL, "gpu", target="gpu:sm_90", schedule=file))
    with pytest.raises(dlc.InvalidInputError, match="nests get no schedules for target 'gpu'"):
        dlc.lower(_MODEL, "gpu", target="gpu:sm_90", schedule={_NAME: {"0": {"code_generator": "tile"}}})


def test_blocks_lie_around_threads() -> None:
    schedule = dlc.kernels(_MODEL, "gpu:sm_90")[_NAME].schedule
    schedule.bind(_I, "thread.x")
    with pytest.raises(dlc.ScheduleError, match="lies inside of a loop over threads"):
        schedule.bind(_J, "block.x")


def test_verified_schedules_are_told() -> None:
    assert _check(None, verify_schedules=True).verdicts == (Verdict(_NAME, "proved"),)
    assert _check(None).verdicts == ()
    with pytest.raises(dlc.InvalidInputError, match="schedules that are measured cannot be verified"):
        _check(None, verify_schedules=True, measure=True)


_CHAIN = """
func.func @chain(%A: memref<100xf32>) attributes {dl.kernel} {
  affine.for %i = 1 to 100 {
    %a = affine.load %A[%i - 1] : memref<100xf32>
    affine.store %a, %A[%i] : memref<100xf32>
  }
  return
}
"""


def test_a_schedule_that_breaks_a_dependence_is_refused_with_two_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a pass had made a loop parallel that is none."""

    def wrong(kernel: Kernel, named: bool = False) -> ir.Module:
        module = kernel.alone()
        function = module.body.operations[0].operation
        with module.context:
            name_ops(function)
            function.regions[0].blocks[0].operations[0].operation.attributes["dlc.parallel"] = ir.UnitAttr.get()
        return module

    assert [str(verdict) for verdict in dlc.verify_schedules(_CHAIN)] == ["chain: proved"]
    monkeypatch.setattr(Kernel, "scheduled", wrong)
    with pytest.raises(
        dlc.ScheduleError, match=r"the schedule of kernel 'chain' is illegal: .* S0\[i0=2\].* at the same time as S0\[i0=1\]"
    ):
        dlc.verify_schedules(_CHAIN)

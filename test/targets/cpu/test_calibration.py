"""Figures are measured by loops of one instruction; those that contradict each other are refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dlc.errors import TargetError
from dlc.targets.cpu.calibration import checks, instructions, memory
from dlc.targets.cpu.calibration import measure as measuring
from dlc.targets.cpu.calibration.loops import Code
from dlc.targets.cpu.calibration.measure import Measured
from dlc.targets.cpu.calibration.row import CalibratedRow
from dlc.targets.cpu.calibration.sampling import Figure
from dlc.targets.cpu.host import detect_host
from dlc.targets.machine import Instruction, target_facts


def test_every_figure_is_measured() -> None:
    machine, steps = detect_host(), []
    found = measuring.measure(machine, 0.001, steps.append)
    assert all(figure.value > 0 and figure.spread >= 0 for figure in found.figures.values())
    assert found.clock_ghz > 0
    levels = [f"{level}.{name}" for level in ("l1", "l2", "l3", "memory") for name in ("latency", "bytes_per_cycle")]
    expected = {"instructions.add_f32.latency", "instructions.add_f32.cycles", "instructions.masked_store.cycles", *levels}
    expected |= {"instructions.dot_bf16.cycles"} if machine.has_bf16_dot else set()
    expected |= {"fork_cycles", "memory.total_bytes_per_cycle"} if machine.cores > 1 else set()
    assert expected <= found.figures.keys()
    assert set(steps) >= expected
    CalibratedRow("", machine.cores, 1.0, {path: figure.value for path, figure in found.figures.items()}).applied_to(machine)


@pytest.mark.parametrize("name", ["x86-64", "haswell", "alderlake", "skylake-avx512"])
def test_loops_for_other_features(name: str) -> None:
    """Those of narrower vectors run here, too."""
    machine = target_facts(name)
    if machine.missing_in(detect_host()):
        pytest.skip(f"this machine cannot run code for {name}")
    loops, data = list(instructions.loops(machine).values()), instructions.buffer()
    code = Code([loop.text() for loop in loops], [loop.name for loop in loops])
    for loop in loops:
        code.run(loop.name)(data.ctypes.data, 3, instructions.mask())


def test_loops_compute_what_they_say() -> None:
    """Twelve sums a step of a chain, so that nothing is left out or put together."""
    loop = instructions.loops(detect_host())["instructions.add_f32.latency"]
    data = instructions.buffer()
    Code([loop.text()], [loop.name]).run(loop.name)(data.ctypes.data, 5, 0)
    assert data.view(np.float32)[loop.results // 4] == 0.75 * (1 + 5 * loop.count)


def test_chase_visits_every_line() -> None:
    data = memory.linked(4096, 64)
    place, seen = data.ctypes.data, set()
    for _ in range(64):
        seen.add(place)
        place = int(data[place - data.ctypes.data :][:8].view(np.int64)[0])
    assert len(seen) == 64
    assert place == data.ctypes.data


@pytest.mark.parametrize("size", [1, 100_000_000_000])
def test_places_are_powers_of_two(size: int) -> None:
    machine = detect_host().override(l1_bytes=size, l2_bytes=size, l3_bytes=size)
    for place in memory.places(machine):
        assert place.size & (place.size - 1) == 0
        assert place.size <= 1 << 40


def test_measurements_of_one_figure_agree_or_are_unsure() -> None:
    assert measuring._agreed([Figure(4.2, 0.0), Figure(4.0, 0.01)]) == Figure(4.0, pytest.approx(0.05))
    assert measuring._agreed([Figure(9.0, 0.0), Figure(4.0, 0.3)]).is_sure is False
    assert measuring._agreed([Figure(9.0, 0.0), Figure(4.0, 0.1), Figure(4.1, 0.0)]).is_sure


def test_ports_are_whole_numbers() -> None:
    for cycles, ports in ((1.0, 1.0), (0.52, 2.0), (0.26, 4.0), (0.7, None), (3.0, None)):
        found = measuring._ports({"instructions.fma_f32.cycles": Figure(cycles, 0.0)})
        assert (found["fma_ports"].value if found else None) == ports


def measured(**figures: float) -> Measured:
    return Measured({path.replace("__", "."): Figure(value, 0.0) for path, value in figures.items()}, 3.0)


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        (
            {"instructions__add_f32__latency": 1.0, "instructions__add_f32__cycles": 3.0},
            "add_f32.latency is 1.00 and instructions.add_f32.cycles 3.00",
        ),
        ({"l1__latency": 20.0, "l2__latency": 10.0}, "l2.latency is 10.00 and l1.latency 20.00, which contradict each other"),
        ({"l2__bytes_per_cycle": 2.0, "l3__bytes_per_cycle": 20.0}, "l2.bytes_per_cycle is 2.00 and l3.bytes_per_cycle 20.00"),
    ],
)
def test_contradictions_are_refused(figures: dict[str, float], message: str) -> None:
    with pytest.raises(TargetError, match=re.escape(message)):
        checks.require_sense(measured(**figures))


def test_sense_passes() -> None:
    checks.require_sense(
        measured(instructions__add_f32__latency=3.0, instructions__add_f32__cycles=0.5, l1__latency=5.0, l2__latency=14.0)
    )


def test_busy_machines_are_refused() -> None:
    shaky = {f"l{level}.latency": Figure(5.0 * level, 0.5) for level in (1, 2)}
    with pytest.raises(TargetError, match=r"samples of 2 of 3 figures differ; end what else is running"):
        checks.require_sense(Measured({**shaky, "fork_cycles": Figure(9.0, 0.0)}, 3.0))
    with pytest.raises(TargetError, match=r"the clock comes out as 30\.00 GHz"):
        checks.require_sense(Measured({}, 30.0))


def test_unsure_figures_are_left_out() -> None:
    shaky = Measured({"l1.latency": Figure(5.0, 0.5), "l2.latency": Figure(2.0, 0.0), "l3.latency": Figure(40.0, 0.0)}, 3.0)
    assert checks.unsure(shaky) == ["l1.latency"]
    checks.require_sense(shaky)
    others = measured(memory__bytes_per_cycle=8.0, memory__total_bytes_per_cycle=4.0, l3__latency=300.0, memory__latency=500.0)
    assert checks.unsure(others) == ["memory.total_bytes_per_cycle", "l3.latency"]
    assert checks.unsure(measured(fork_cycles=4000.0)) == []
    assert checks.unsure(measured(fork_cycles=40000.0)) == ["fork_cycles"]


def test_stated_timing_goes_over_the_default() -> None:
    assert Instruction(3.0).over(Instruction(4.0, 0.5)) == Instruction(3.0, 0.5)

"""What charging takes is taken off each row: the arithmetic on tables of times, and the runtime's part on a clock of the test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from dlc.analysis.kernel_costs import Amount, KernelCost
from dlc.measuring.charges import Charges
from dlc.measuring.peaks import MemoryLevel, Peaks
from dlc.measuring.profiles import CALL, ENTRY, THREADS, ProfileRound, summarize_rounds
from dlc.runtime.library import RuntimeLibrary, load_library

PEAKS = Peaks(1, 100.0, (MemoryLevel("L1", 1000, 50.0), MemoryLevel("memory", 10000, 5.0)))
TABLE = Charges(100.0, [(3.0, 20.0), (2.0, 40.0), (1.0, 30.0)], (0.0, 0.0), cost=1.0)
"""A call of 100 s: 20 s in the entry, 40 s and 30 s in two kernels, 10 s around it; a charge takes a second."""


def test_each_interval_has_one_charge() -> None:
    found = TABLE.without_cost()
    assert TABLE.count == 7
    assert found.rows == [(3.0, 17.0), (2.0, 38.0), (1.0, 29.0)]
    assert (found.seconds, found.around) == (93.0, 9.0)
    assert sum(spent for _, spent in found.rows) + found.around == found.seconds
    assert found.without_cost() == found


def test_a_model_without_a_profile_has_nothing_to_take_off() -> None:
    plain = Charges(5.0, cost=1.0)
    assert plain.without_cost() == plain
    assert plain.count == 0


@pytest.mark.parametrize("around", [0.5, 30.0])
def test_no_row_gets_less_than_nothing(around: float) -> None:
    """A cost that was measured too high is bounded by the shortest interval, or by what is around the call."""
    rows = [(4.0, 10.0), (1.0, 50.0)]
    found = Charges(60.0 + around, rows, cost=7.0).without_cost()
    taken = min(2.5, around)
    assert found.rows == [(4.0, 10.0 - 4 * taken), (1.0, 50.0 - taken)]
    assert found.around == pytest.approx(around - taken)


def test_rows_of_a_profile() -> None:
    """Two rounds, of which the faster one counts; shares are of the sum, and threads have a row."""
    shared = Charges(100.0, [(3.0, 20.0), (2.0, 40.0), (1.0, 25.0)], (2.0, 5.0), cost=1.0)
    slow = Charges(400.0, [(3.0, 80.0), (2.0, 160.0), (1.0, 100.0)], (2.0, 20.0), cost=1.0)
    rounds = [ProfileRound(Charges(90.0), shared, 1.0), ProfileRound(Charges(393.0), slow, 1.0)]
    costs = {"a": _cost(950, 10, 40), "b": _cost(240, 100, 20)}
    found = summarize_rounds(["a_view1", "b"], rounds, costs, {}, PEAKS)
    assert [(row.name, row.calls, row.seconds) for row in found.rows] == [
        ("a_view1", 2, 38.0),
        ("b", 1, 24.0),
        (ENTRY, 1, 17.0),
        (THREADS, 2, 5.0),
        (CALL, 1, 9.0),
    ]
    assert found.sum == 93.0
    assert [row.share for row in found.rows] == [pytest.approx(row.seconds / 93.0) for row in found.rows]
    assert sum(row.share for row in found.rows) == pytest.approx(1.0)
    assert found.bias == pytest.approx((93.0 / 90.0 + 1.0) / 2 - 1), "the median over rounds"
    assert (found.charges, found.charge_seconds) == (7, 1.0)
    first, second = found.kernels
    assert (first.flops, first.bytes, first.of_peak) == (1900, 100, 2 * 9.5 / 38.0), "a specialisation costs what its original does"
    assert second.of_peak == 2.4 / 24.0
    document = found.to_json()
    assert (document["sum"], document["charges"]) == (93.0, 7)
    assert document["bias"] == found.bias


def _cost(*amounts: int) -> KernelCost:
    return KernelCost(*map(Amount.product, amounts))


@pytest.fixture
def library() -> Iterator[RuntimeLibrary]:
    runtime = load_library()
    before = runtime.set_num_threads(2)
    yield runtime
    runtime.set_num_threads(before)
    runtime.profile_reset()


def test_charges_are_differences_of_readings(library: RuntimeLibrary) -> None:
    readings = iter([1000, 1010, 1110, 1130, 1430, 1431])
    with library.profile_clock(lambda: next(readings)):
        library.profile_reset()
        library._library.dlc_profile_start()
        for row in (0, 2, 0, 2, 0):
            library._library.dlc_profile_charge(row)
        assert library.profile_rows() == [(3, 31), (0, 0), (2, 400)]
        library.profile_reset()
        assert library.profile_rows() == []


def test_the_cost_of_a_charge(library: RuntimeLibrary) -> None:
    """Of a clock that goes on by 7 with each reading; the rows stay as they are."""
    readings = itertools.count(0, 7)
    with library.profile_clock(lambda: next(readings)):
        library.profile_reset()
        library._library.dlc_profile_start()
        library._library.dlc_profile_charge(0)
        assert library.profile_cost(50) == pytest.approx(7 * 101 / 100)
        assert library.profile_rows() == [(1, 7)]


def test_threads_are_in_no_row(library: RuntimeLibrary) -> None:
    """A clock that goes on by 1: readings before and after threads are told, and around the wait for them."""
    readings = itertools.count()
    with library.profile_clock(lambda: next(readings)):
        library.profile_reset()
        library._library.dlc_profile_start()
        library._library.dlc_profile_charge(0)
        library.parallel_for(lambda lo, hi: None, 64)
        library._library.dlc_profile_charge(1)
        assert library.profile_rows() == [(1, 1), (1, 3)]
        assert library.profile_threads() == (1, 2)


def test_the_clock_of_the_machine(library: RuntimeLibrary) -> None:
    library.profile_reset()
    library._library.dlc_profile_start()
    library._library.dlc_profile_charge(0)
    ((calls, nanoseconds),) = library.profile_rows()
    assert calls == 1
    assert nanoseconds >= 0
    assert library.profile_cost() > 0

"""Refuses figures that cannot be true together: then something else was running, and none of them says much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from dlc.errors import TargetError
from dlc.targets.cpu.calibration.measure import Measured
from dlc.targets.cpu.calibration.sampling import Figure

_CLOCKS_GHZ = (0.2, 10.0)
_TOLERANCE = 0.8
"""One figure is not below another one if it is so much of it."""
_MOST_OF_MEMORY = 0.4
"""A last cache whose latency is a larger part of that of memory did not hold what was read: others use it."""
_FORK = "fork_cycles"
_MOST_FORK_OF_CORE = 5000.0
"""Threads that take longer to meet, by their number, were not awake or had no core to run on."""
_MOST_UNSURE = 0.5
"""Share of unsure figures above which all are refused."""
_TOTAL, _ALONE = "memory.total_bytes_per_cycle", "memory.bytes_per_cycle"
_LEVELS = ("l1", "l2", "l3", "memory")
_REMEDY = "end what else is running and measure again"


def unsure(measured: Measured) -> list[str]:
    """The paths of figures that are left out of a row: their samples differ too much, or others used the last cache or cores."""
    left_out = [path for path, figure in measured.figures.items() if not figure.is_sure]
    if _TOTAL not in left_out and any(_descending(measured.figures, (_TOTAL, _ALONE))):
        left_out.append(_TOTAL)
    fork = measured.figures.get(_FORK)
    if fork and _FORK not in left_out and fork.value > _MOST_FORK_OF_CORE * measured.cores:
        left_out.append(_FORK)
    l3, memory = (measured.figures.get(f"{level}.latency") for level in _LEVELS[2:])
    if l3 and memory and "l3.latency" not in left_out and l3.value > _MOST_OF_MEMORY * memory.value:
        left_out.append("l3.latency")
    return left_out


def require_sense(measured: Measured) -> None:
    """Raise `TargetError` where figures contradict each other, or too many of them are unsure."""
    left_out = unsure(measured)
    if len(left_out) > _MOST_UNSURE * len(measured.figures):
        raise TargetError(
            f"this machine is too busy: samples of {len(left_out)} of {len(measured.figures)} figures differ; {_REMEDY}"
        )
    low, high = _CLOCKS_GHZ
    if not low <= measured.clock_ghz <= high:
        raise TargetError(f"the clock comes out as {measured.clock_ghz:.2f} GHz; {_REMEDY}")
    sure = {path: figure for path, figure in measured.figures.items() if path not in left_out}
    found = next(_contradictions(sure), None)
    if found is not None:
        raise TargetError(f"{found}, which contradict each other; {_REMEDY}")


def _contradictions(sure: Mapping[str, Figure]) -> Iterator[str]:
    for path in sure:
        if path.endswith(".cycles"):
            yield from _descending(sure, (path.replace(".cycles", ".latency"), path))
    yield from _descending(sure, [f"{level}.latency" for level in reversed(_LEVELS)])
    yield from _descending(sure, [f"{level}.bytes_per_cycle" for level in _LEVELS])


def _descending(sure: Mapping[str, Figure], paths: Sequence[str]) -> Iterator[str]:
    """Pairs of neighbours of which the first one is clearly below the second."""
    known = [path for path in paths if path in sure]
    for first, second in pairwise(known):
        if sure[first].value < _TOLERANCE * sure[second].value:
            yield f"{first} is {sure[first].value:.2f} and {second} {sure[second].value:.2f}"

"""About how many points a set of instances has."""

from __future__ import annotations

import functools

import islpy as isl
import numpy as np

from dlc.lowering.policy import policy

_Dim = isl.dim_type


def volume(domain: isl.Set) -> float:
    """The points of `domain`, by trying points spread evenly over the box around it; all of that where it has no known bounds.

    The same set gives the same number everywhere. At least 1.
    """
    return _volume(domain, policy().limits.volume_samples, policy().limits.unbounded_trips)


@functools.lru_cache(maxsize=256)  # schedules that are compared have domains in common
def _volume(domain: isl.Set, samples: int, unbounded: int) -> float:
    rank = domain.dim(_Dim.set)
    if rank == 0 or domain.is_empty():
        return 1.0
    lows, extents = np.empty(rank), np.empty(rank)
    for dim in range(rank):
        low, high = domain.dim_min_val(dim), domain.dim_max_val(dim)
        is_bounded = low.is_int() and high.is_int()
        lows[dim] = int(str(low)) if is_bounded else 0
        extents[dim] = int(str(high.sub(low))) + 1 if is_bounded else unbounded
    box = float(np.prod(extents))
    if domain.is_box() or unbounded in extents:
        return box
    points = lows + np.floor(_spread(rank, samples) * extents)
    inside = np.zeros(samples, bool)
    for part in domain.compute_divs().get_basic_sets():
        inside |= _holds(part, points)
    return max(1.0, box * max(float(inside.mean()), 0.5 / samples))


@functools.cache
def _spread(rank: int, samples: int) -> np.ndarray:
    """Points of the unit cube that fill it evenly (M. Roberts, 2018: multiples of powers of the root of x^(d+1) = x + 1)."""
    root = 2.0
    for _ in range(32):
        root = (1 + root) ** (1 / (rank + 1))
    steps = root ** -np.arange(1, rank + 1)
    return np.asarray((0.5 + np.outer(np.arange(1, samples + 1), steps)) % 1.0)


def _holds(part: isl.BasicSet, points: np.ndarray) -> np.ndarray:
    """Which of the points (one a row) lie in a basic set all of whose divs are known."""
    local = part.get_local_space()
    divs: list[np.ndarray] = []
    for at in range(part.dim(_Dim.div)):
        value = _value(local.get_div(at), points, divs)
        divs.append(np.floor(value / int(str(local.get_div(at).get_denominator_val()))))
    inside = np.ones(len(points), bool)
    for constraint in part.get_constraints():
        value = _value(constraint.get_aff(), points, divs)
        inside &= value == 0 if constraint.is_equality() else value >= 0
    return inside


def volume_of(domains: isl.UnionSet) -> float:
    """About how many instances there are: the sum of the `volume` of each set."""
    sets = domains.get_set_list()
    return sum(volume(sets.get_set(at)) for at in range(sets.n_set()))


def _value(aff: isl.Aff, points: np.ndarray, divs: list[np.ndarray]) -> np.ndarray:
    """The numerator of `aff` at each point."""
    scale = int(str(aff.get_denominator_val()))

    def factor(kind: isl.dim_type, at: int) -> float:
        return float(aff.get_coefficient_val(kind, at).mul(isl.Val(scale)).to_python())

    found = np.full(len(points), float(aff.get_constant_val().mul(isl.Val(scale)).to_python()))
    terms = [(factor(_Dim.in_, at), points[:, at]) for at in range(points.shape[1])]
    terms += [(factor(_Dim.div, at), value) for at, value in enumerate(divs)]
    for by, values in terms:
        if by:
            found += by * values
    return found

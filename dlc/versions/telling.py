"""Versions of a model in sentences: those that are declared, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dlc.analysis.dim_bounds import UNBOUNDED
from dlc.targets.build_report import VersionCounters
from dlc.versions.sizes import DimSizes


def tell_declared(sizes: Mapping[str, DimSizes], specialize: int | None, most: int) -> Iterator[str]:
    """What the sizes of dims come to, and the calls that `specialize` waits for."""
    for name, each in sizes.items():
        if each.bounds != UNBOUNDED:
            yield f"dim '{name}' is {each.bounds}: passes may count on it, and each call checks it once"
        if each.exact:
            listed = ", ".join(map(str, each.exact))
            yield f"dim '{name}' has versions of its own for {listed}; what is told here is that for all other sizes"
    if specialize is not None:
        yield f"sizes of {specialize} calls get a version of their own, compiled in the background; {most} of them are kept"


def tell_counters(counters: VersionCounters) -> Iterator[str]:
    """What became of calls and versions."""
    declared = f", {counters.declared} of {counters.versions} versions for listed sizes" if counters.versions else ""
    yield f"calls: {counters.general} of the version for all sizes{declared}"
    if counters.hot is None:
        return
    hot = counters.hot
    yield (
        f"hot sizes: {hot.hits} calls of {hot.kept} versions ({hot.built} built, {hot.evicted} evicted, at most {hot.limit} kept), "
        f"{counters.waiting} waiting, {counters.failed} failed"
    )
    if counters.failure:
        yield f"last failure: {counters.failure}"

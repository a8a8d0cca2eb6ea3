"""`dl-split-pools`: poolings over large windows as poolings along one axis after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.window import Window
from dlc.lowering.dl.matching import attributes_of, dl_ops, functions, type_of
from dlc.lowering.dl.patterns import built_like
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy

_POOLS = {"dl.max_pool": None, "dl.avg_pool": ("f32", "f64")}
"""Poolings, and of which types; means of f16 would be rounded to it once more."""


@dataclass(frozen=True)
class SplitPools(Pass):
    """Pool along the last spatial axis, then along the one before it, and so on, where that takes fewer taps.

    A window of 13x13 is 13 taps and 13 of their results, not 169, which also are more than a nest unrolls: 0.12 of the time for
    maxima of 512x13x13, 0.29 for means. The largest element is the same either way; means of f32 and f64 differ by a rounding.
    Strides make the results between the axes more than those at the end, so windows that hardly overlap stay.

    before: %0 = dl.max_pool(%x) {kernel = [13, 13], pads = [6, 6, 6, 6]}
    after:  %1 = dl.max_pool(%x) {kernel = [1, 13], pads = [0, 6, 0, 6]}
            %0 = dl.max_pool(%1) {kernel = [13, 1], pads = [6, 0, 6, 0]}
    """

    share: float = option(0.8, "most taps, of those of whole windows, that a split may take")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        if self.share < 0:
            raise PassFailure(op, f"share is {self.share}", "give 0 or more")
        for function in functions(op):
            for pool in dl_ops(function):
                if pool.name in _POOLS and _is_split_exactly(pool):
                    window = _window(pool)
                    axes = [axis for axis in reversed(range(window.rank)) if window.kernel[axis] != 1]
                    if len(axes) > 1 and _taps(window, axes) <= self.share * math.prod(_sizes(window)):
                        _split(pool, window, axes)


def _is_split_exactly(pool: ir.Operation) -> bool:
    """Whether results of a pooling may be rounded between its axes."""
    dtypes = _POOLS[pool.name]
    return dtypes is None or type_of(pool.results[0]).dtype in dtypes


def _window(pool: ir.Operation) -> Window:
    found = attributes_of(pool)
    return Window.of("", found["kernel"], found["strides"], found["pads"], found["dilations"], found["ceil_mode"])


def _sizes(window: Window) -> list[int]:
    return [size for size in window.kernel if isinstance(size, int)]


def _taps(window: Window, axes: Sequence[int]) -> float:
    """Taps, and what the poolings cost beside, for each result of a window that is split along `axes` in turn."""
    taps, sizes = 0.0, _sizes(window)
    for place, axis in enumerate(axes):
        later = math.prod(window.strides[other] for other in axes[place + 1 :])
        taps += later * (sizes[axis] + policy().graph.pool_pass_taps)
    return taps


def _split(pool: ir.Operation, window: Window, axes: Sequence[int]) -> None:
    """Let poolings along one axis of `axes` after the other stand for `pool`; the first one also steps along axes of one tap."""
    name, value = pool.name.removeprefix("dl."), pool.operands[0]
    kept = {key: value for key, value in attributes_of(pool).items() if key not in ("kernel", "strides", "pads", "dilations")}
    with pool.location, ir.InsertionPoint(pool):
        for place, axis in enumerate(axes):
            others = axes[place + 1 :] if place == 0 else [other for other in range(window.rank) if other != axis]
            attributes = kept | _without(window, others)
            is_last = place == len(axes) - 1
            value = built_like(pool.results[0], name, value, **attributes) if is_last else getattr(dl, name)(value, **attributes)
        pool.results[0].replace_all_uses_with(value)
    pool.erase()


def _without(window: Window, axes: Sequence[int]) -> dict[str, Any]:
    """The attributes of `window` with one tap along `axes`."""
    every = range(window.rank)
    pads = [[0 if axis in axes else side[axis] for axis in every] for side in (window.pads_begin, window.pads_end)]
    return {
        "kernel": [1 if axis in axes else size for axis, size in enumerate(_sizes(window))],
        "strides": [1 if axis in axes else window.strides[axis] for axis in every],
        "dilations": [1 if axis in axes else window.dilations[axis] for axis in every],
        "pads": [*pads[0], *pads[1]],
    }

"""Pictures of tables, drawn without a display: bars of ratios, rooflines of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure  # pyplot would look for a display

from dlc.measuring.comparison import Comparison
from dlc.measuring.profiles import Profile

_ROW = 0.22
"""Inches for a row of bars."""


def plot_ratios(results: Sequence[Comparison], others: Sequence[str], file: Path) -> None:
    """Bars of other engines' time over dlc's by model; the line is where both are equal."""
    height = 1.2 + _ROW * len(results) * max(1, len(others))
    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / max(1, len(others))
    for index, name in enumerate(others):
        found = [result.of(name) for result in results]
        lengths = [entry.ratio if entry and entry.ratio is not None else 0.0 for entry in found]
        places = [row + (index - (len(others) - 1) / 2) * width for row in range(len(results))]
        axes.barh(places, lengths, width, label=name)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_yticks(range(len(results)), [result.model for result in results])
    axes.invert_yaxis()
    axes.set_xlabel("time of the other engine / time of dlc (right of 1: dlc is faster)")
    if others:
        axes.legend()
    figure.savefig(file)


def plot_roofline(profiles: Sequence[Profile], file: Path) -> None:
    """Each kernel by operations per byte and operations per second, under the measured peaks; larger dots take more time."""
    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.subplots()
    rows = [row for profile in profiles for row in profile.rows if row.flops and row.bytes and row.seconds]
    if profiles:
        peaks = max((profile.peaks for profile in profiles), key=lambda peaks: peaks.flops)
        steps = [2.0 ** (power / 4) for power in range(-24, 41)]
        for level in peaks.levels:
            heights = [min(peaks.flops, step * level.rate) * 1e-9 for step in steps]
            axes.plot(steps, heights, linewidth=1, label=f"{level.name}, {level.rate * 1e-9:.0f} GB/s")
        axes.axhline(peaks.flops * 1e-9, color="black", linewidth=1, label=f"{peaks.flops * 1e-9:.0f} GFLOP/s")
    intensities = [(row.flops or 0) / (row.bytes or 1) for row in rows]
    rates = [(row.flops or 0) / row.seconds * 1e-9 for row in rows]
    axes.scatter(intensities, rates, s=[4 + 200 * row.share for row in rows], alpha=0.5, color="black")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlabel("operations per byte that a kernel reads or writes")
    axes.set_ylabel("GFLOP/s")
    axes.legend()
    figure.savefig(file)

"""Pictures of tables, drawn without a display."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure  # pyplot would look for a display

from dlc.measuring.comparison import Comparison

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

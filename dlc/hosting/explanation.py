"""What becomes of a model that runs partly on the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlc.explanation import Explanation
from dlc.hosting.graph import ControlFlow, HostCall
from dlc.hosting.hosted import read_host_graph
from dlc.hosting.segments import declared_types, model_of
from dlc.request import ReadOptions
from dlc.sources import Source, read_onnx


@dataclass(frozen=True)
class HostedExplanation:
    """The steps of the host with their reasons, the segments that are compiled at once, and how many are compiled `later`."""

    name: str
    steps: tuple[HostCall | ControlFlow, ...]
    segments: tuple[Explanation, ...]
    later: int

    def to_json(self) -> dict[str, Any]:
        """As plain data; see docs/explain.md."""
        steps = [{"node": step.label, "op": step.op, "reason": step.reason} for step in self.steps]
        segments = [segment.to_json() for segment in self.segments]
        return {"name": self.name, "host": steps, "segments": segments, "segments_at_call": self.later}


def explain_hosted(model: Path, reading: ReadOptions, explain: Callable[[Source], Explanation]) -> HostedExplanation | None:
    """What `explain` says of each segment, and what is left to the host; None where that is nothing."""
    name, graph = read_host_graph(model, reading)
    if graph is None:
        return None
    found, later = [], 0
    for segment in graph.segments():
        types = declared_types(segment)
        if types is None:
            later += 1
            continue
        found.append(explain(read_onnx(model_of(segment, types), lenient=True, name=segment.name)))
    return HostedExplanation(name, tuple(graph.host_steps()), tuple(found), later)

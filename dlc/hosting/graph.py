"""An ONNX graph as the host runs it: segments that are compiled, host ops, and control flow, in the order of their steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import onnx

from dlc.hosting.types import HostType
from dlc.runtime.host.registry import HostFunction, HostNode


@dataclass(frozen=True)
class GraphSegment:
    """Nodes that are compiled together, as a model of their own. Types of `inputs` that are not known are those of a call.

    `declared` is what the file says of the outputs.
    """

    model: onnx.ModelProto
    name: str
    inputs: Mapping[str, HostType]
    outputs: tuple[str, ...]
    declared: Mapping[str, HostType] = field(default_factory=dict)


@dataclass(frozen=True)
class HostCall:
    """A node that a host function computes, and why; a name "" is an input that is left out or an output that nobody wants."""

    label: str
    op: str
    reason: str
    function: HostFunction
    node: HostNode
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class ControlFlow:
    """If, Loop or Scan around bodies that the host runs."""

    label: str
    op: str
    reason: str
    attributes: Mapping[str, Any]
    bodies: Mapping[str, HostGraph]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


Step = GraphSegment | HostCall | ControlFlow


@dataclass(frozen=True)
class HostGraph:
    """Inputs and outputs by name, the arrays of constants, and the steps; `captured` are values that a body reads of around."""

    inputs: Mapping[str, HostType]
    outputs: Mapping[str, HostType]
    constants: Mapping[str, Any]
    steps: tuple[Step, ...]
    captured: tuple[str, ...] = ()

    def host_steps(self) -> Iterator[HostCall | ControlFlow]:
        """All steps that the host computes, those of bodies among them."""
        for step in self.steps:
            if isinstance(step, GraphSegment):
                continue
            yield step
            for body in step.bodies.values() if isinstance(step, ControlFlow) else ():
                yield from body.host_steps()

    def segments(self) -> Iterator[GraphSegment]:
        """All segments, those of bodies among them."""
        for step in self.steps:
            if isinstance(step, GraphSegment):
                yield step
            elif isinstance(step, ControlFlow):
                for body in step.bodies.values():
                    yield from body.segments()

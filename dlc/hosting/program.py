"""Runs a graph of the host step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dlc.errors import InvalidInputError, OutOfMemoryError
from dlc.hosting.graph import ControlFlow, GraphSegment, HostCall, HostGraph, Step
from dlc.hosting.types import HostSequence, HostTensor, HostType

RunSegment = Callable[[GraphSegment, Sequence[np.ndarray]], Sequence[np.ndarray]]
Check = Callable[[], None]
"""Raises where the call was cancelled."""
_FAULTS = (ValueError, TypeError, IndexError, KeyError, AttributeError, ZeroDivisionError, OverflowError)
"""What Python and NumPy raise for values that a host function does not take."""


class HostProgram:
    """A graph with a way to run its segments. Several threads may run it at once."""

    def __init__(self, graph: HostGraph, run_segment: RunSegment) -> None:
        self.graph = graph
        self._run_segment = run_segment

    def run(self, inputs: Mapping[str, Any], check: Check) -> list[Any]:
        """The outputs in order; `check` is called before each step. `InvalidInputError` names the node that refuses a value."""
        return self._run(self.graph, inputs, {}, check)

    def _run(self, graph: HostGraph, inputs: Mapping[str, Any], around: Mapping[str, Any], check: Check) -> list[Any]:
        values: dict[str, Any] = {**graph.constants, **inputs, "": None}  # "" is an input that is left out
        for name in graph.captured:
            values[name] = around[name]
        for step in graph.steps:
            check()
            for name, value in zip(step.outputs, self._outputs_of(step, values, check)):  # noqa: B905 (a keyword is slow)
                if name:
                    values[name] = value
        return [values[name] for name in graph.outputs]

    def _outputs_of(self, step: Step, values: Mapping[str, Any], check: Check) -> Sequence[Any]:
        inputs = [values[name] for name in step.inputs]
        if isinstance(step, GraphSegment):
            return self._run_segment(step, inputs)
        try:
            if isinstance(step, HostCall):
                found = step.function(step.node, *inputs)
                return found if isinstance(found, tuple) else (found,)
            return _FLOWS[step.op](self, step, inputs, values, check)
        except (InvalidInputError, OutOfMemoryError):
            raise
        except _FAULTS as error:
            raise InvalidInputError(f"node '{step.label}' ({step.op}): {error}") from error
        except MemoryError as error:
            raise OutOfMemoryError(f"out of memory: node '{step.label}': {error}; give smaller inputs or free memory") from error

    def _if(self, step: ControlFlow, inputs: Sequence[Any], around: Mapping[str, Any], check: Check) -> Sequence[Any]:
        """One of two bodies (ONNX If)."""
        branch = "then_branch" if _is_true(inputs[0]) else "else_branch"
        return self._run(step.bodies[branch], {}, around, check)

    def _loop(self, step: ControlFlow, inputs: Sequence[Any], around: Mapping[str, Any], check: Check) -> Sequence[Any]:
        """A body again and again, at most M times and while the condition holds (ONNX Loop)."""
        body = step.bodies["body"]
        most, condition, *carried = inputs
        names = list(body.inputs)
        if len(names) != len(carried) + 2:
            raise InvalidInputError(
                f"node '{step.label}' (Loop): {len(carried)} values are carried but its body takes {len(names) - 2}"
            )
        bound = None if most is None else int(np.asarray(most).reshape(()))
        scanned: list[list[np.ndarray]] = [[] for _ in list(body.outputs)[len(carried) + 1 :]]
        goes_on, trip = condition is None or _is_true(condition), 0
        while goes_on and (bound is None or trip < bound):
            check()
            given = dict(zip(names, [np.array(trip, np.int64), np.array(True), *carried], strict=True))
            again, *results = self._run(body, given, around, check)
            carried = results[: len(carried)]
            for parts, part in zip(scanned, results[len(carried) :], strict=True):
                parts.append(part)
            goes_on, trip = _is_true(again), trip + 1
        kinds = list(body.outputs.values())[len(carried) + 1 :]
        return [*carried, *(_stacked(parts, kind, 0, False) for parts, kind in zip(scanned, kinds, strict=True))]

    def _scan(self, step: ControlFlow, inputs: Sequence[Any], around: Mapping[str, Any], check: Check) -> Sequence[Any]:
        """A body for each slice of some inputs, side by side (ONNX Scan from opset 9 on)."""
        body, attributes = step.bodies["body"], step.attributes
        count = int(attributes["num_scan_inputs"])
        carried, scanned = list(inputs[: len(inputs) - count]), list(inputs[len(inputs) - count :])
        slices = [
            _slices(array, axis, reverse)
            for array, axis, reverse in zip(
                scanned,
                attributes.get("scan_input_axes") or [0] * count,
                attributes.get("scan_input_directions") or [0] * count,
                strict=True,
            )
        ]
        lengths = {len(each) for each in slices}
        if len(lengths) != 1:
            raise InvalidInputError(
                f"node '{step.label}' (Scan): its scan inputs have {sorted(lengths)} slices; give equal numbers"
            )
        outputs = len(body.outputs) - len(carried)
        found: list[list[np.ndarray]] = [[] for _ in range(outputs)]
        for parts in zip(*slices, strict=True):
            check()
            results = self._run(body, dict(zip(body.inputs, [*carried, *parts], strict=True)), around, check)
            carried = results[: len(carried)]
            for kept, part in zip(found, results[len(carried) :], strict=True):
                kept.append(part)
        kinds = list(body.outputs.values())[len(carried) :]
        axes = attributes.get("scan_output_axes") or [0] * outputs
        reverses = attributes.get("scan_output_directions") or [0] * outputs
        ways = zip(found, kinds, axes, reverses, strict=True)
        return [*carried, *(_stacked(parts, kind, axis, bool(reverse)) for parts, kind, axis, reverse in ways)]


_FLOWS = {"If": HostProgram._if, "Loop": HostProgram._loop, "Scan": HostProgram._scan}


def _is_true(value: Any) -> bool:
    array = np.asarray(value)
    if array.size != 1:
        raise ValueError(f"a condition has the shape {list(array.shape)}; give one element")
    return bool(array.reshape(())[()])


def _slices(array: np.ndarray, axis: int, reverse: int) -> list[np.ndarray]:
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(f"a scan input of rank {array.ndim} has no axis {axis}")
    found = [np.array(each, order="C") for each in np.moveaxis(array, axis, 0)]
    return found[::-1] if reverse else found


def _stacked(parts: Sequence[np.ndarray], kind: HostType, axis: int, reverse: bool) -> np.ndarray:
    """Slices along a new axis; without any, an array of none whose other sizes are those of `kind`, 0 where not known."""
    if parts:
        return np.ascontiguousarray(np.stack(parts[::-1] if reverse else parts, axis))
    if isinstance(kind, HostSequence) or not isinstance(kind, HostTensor):
        raise ValueError(f"a scan output is a {kind}; it must be a tensor")
    sizes = [dim if isinstance(dim, int) else 0 for dim in kind.shape or ()]
    place = axis % (len(sizes) + 1)
    return np.zeros([*sizes[:place], 0, *sizes[place:]], kind.numpy_dtype)

"""What dlc can do with each node of an ONNX model, found without compiling it.

found = dlc.coverage("model.onnx")
found.verdict                        # "compiles", "compiles at its first call" or "refused"
[node for node in found.nodes if node.is_refused]
found.to_json()                      # plain data, documented in docs/coverage.md
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from dlc.dialects import make_context
from dlc.errors import DLCError, InvalidInputError
from dlc.frontends.onnx.coverage import NodeCoverage, Survey, survey
from dlc.frontends.onnx.interface import interface_of
from dlc.frontends.onnx.loader import load_model
from dlc.frontends.onnx.values import trial_shape, trial_values
from dlc.hosting.coverage import survey_hosted
from dlc.option_values import DEFAULT_TARGET
from dlc.request import ReadOptions
from dlc.sources import InputValues, ShapeOverrides, Source
from dlc.specializing_model import CallFacts
from dlc.targets.registry import find_target

if TYPE_CHECKING:
    import onnx

Verdict = Literal["compiles", "compiles at its first call", "refused"]
_LEVEL = "linalg"
"""The level at which every op of dl has been taken apart; what comes after takes all that comes before."""
_NODES = re.compile(r"\[node ([^\]]*)\]")


@dataclass(frozen=True)
class Coverage:
    """All nodes of a model with their states, and `problems` that are no single node's. `opsets` are its versions by domain."""

    name: str
    opsets: Mapping[str, int] = field(default_factory=dict)
    nodes: tuple[NodeCoverage, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether `dlc.compile` takes the model; with values and shapes that fit, where it is specialised at its first call."""
        if self.problems or any(node.is_refused for node in self.nodes):
            return "refused"
        is_late = self.values or self.shapes or any(node.state == "unchecked" for node in self.nodes)
        return "compiles at its first call" if is_late else "compiles"

    @property
    def values(self) -> tuple[str, ...]:
        """The inputs that are read as values."""
        return tuple(dict.fromkeys(name for node in self.nodes for name in node.values))

    @property
    def shapes(self) -> tuple[str, ...]:
        """The inputs whose shapes code is specialised on."""
        return tuple(dict.fromkeys(name for node in self.nodes for name in node.shapes))

    def states(self) -> Counter[str]:
        """How many nodes are in each state."""
        return Counter(node.state for node in self.nodes)

    def counts(self) -> dict[str, Counter[str]]:
        """How many nodes of each op are in each state."""
        found: dict[str, Counter[str]] = {}
        for node in self.nodes:
            found.setdefault(node.op, Counter())[node.state] += 1
        return found

    def to_json(self) -> dict[str, Any]:
        """Plain data with the keys that docs/coverage.md documents."""
        return {
            "model": self.name,
            "verdict": self.verdict,
            "opsets": dict(self.opsets),
            "values": list(self.values),
            "shapes": list(self.shapes),
            "counts": {op: dict(counts) for op, counts in sorted(self.counts().items())},
            "problems": list(self.problems),
            "nodes": [{key: _plain(value) for key, value in asdict(node).items()} for node in self.nodes],
        }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def coverage(
    model: str | os.PathLike[str] | onnx.ModelProto,
    shapes: ShapeOverrides | None = None,
    values: InputValues | None = None,
    lenient: bool = False,
    target: str = DEFAULT_TARGET,
) -> Coverage:
    """Say of each node of an ONNX model what `dlc.compile` would do with it, with `shapes`, `values` and `lenient` of `compile`.

    What stands behind a node that must know values is looked at with values made up for it; give `values` to look at real ones.
    All that is wrong with the model is in the result: nothing of the model raises. `InvalidInputError` tells of other arguments.
    """
    found_target = find_target(target)
    try:
        proto, name = load_model(model)
    except DLCError as error:
        return Coverage(str(model), problems=(str(error),))

    def look(proto: onnx.ModelProto, called: str, reading: ReadOptions) -> Survey:
        reader = _Reader(proto, called, reading.shapes, reading.lenient, reading.values)
        found = reader.read({}, {})
        if any(node.state == "specialised" for node in found.nodes):
            found = reader.look_behind(found)
        is_lowered = found.module is not None and found_target.has_stage(_LEVEL)
        return _lowered(found, called, target) if is_lowered else found

    reading = ReadOptions(None, shapes, lenient, values)
    found = look(proto, name, reading)
    is_broken = any(node.state == "invalid" for node in found.nodes)
    if not is_broken and (found.problems or any(node.is_refused for node in found.nodes)):
        found = survey_hosted(proto, reading, look) or found
    opsets = {entry.domain or "ai.onnx": int(entry.version) for entry in proto.opset_import}
    return Coverage(name, opsets, found.nodes, found.problems)


@dataclass(frozen=True)
class _Reader:
    """A model and how it is read."""

    proto: onnx.ModelProto
    name: str
    shapes: ShapeOverrides | None
    lenient: bool
    values: InputValues | None

    def read(self, values: InputValues, shapes: ShapeOverrides) -> Survey:
        """What becomes of the nodes where more is known than was given."""
        all_shapes, all_values = {**(self.shapes or {}), **shapes}, {**(self.values or {}), **values}
        return survey(self.proto, self.name, make_context(), all_shapes or None, self.lenient, all_values or None)

    def look_behind(self, found: Survey) -> Survey:
        """`found`, with what trials tell of the nodes behind those that must know values; they may have to know others."""
        inputs = {
            name: kind for name, kind in interface_of(self.proto, self.shapes).inputs.items() if name not in (self.values or {})
        }
        names = list(dict.fromkeys(name for node in found.nodes for name in node.values))
        by_shape = dict.fromkeys(name for node in found.nodes for name in node.shapes if name not in names)
        sizes = {name: trial_shape(inputs[name]) for name in by_shape}
        changed = found
        for values in trial_values(names, inputs):
            changed = merged(
                changed, self.read(values, sizes), CallFacts(values, {name: tuple(size) for name, size in sizes.items()})
            )
        known = {*names, *by_shape}
        if all({*node.values, *node.shapes} <= known for node in changed.nodes):
            return changed
        return self.look_behind(changed)


def merged(found: Survey, trial: Survey, facts: CallFacts) -> Survey:
    """`found`, where nodes that are specialised or wait for such have what a trial with `facts` says of them."""
    others = dict(_by_place(trial.nodes))
    nodes = tuple(_merged(node, others.get(place), facts) for place, node in _by_place(found.nodes))
    return Survey(nodes, found.problems, found.module or trial.module, found.params or trial.params)


def _by_place(nodes: Iterable[NodeCoverage]) -> Iterator[tuple[tuple[str, str, int], NodeCoverage]]:
    """Nodes by name, op and their number among those of both, since names need not be unique."""
    seen: Counter[tuple[str, str]] = Counter()
    for node in nodes:
        yield (node.name, node.op, seen[node.name, node.op]), node
        seen[node.name, node.op] += 1


def _merged(node: NodeCoverage, other: NodeCoverage | None, facts: CallFacts) -> NodeCoverage:
    if other is None or node.state not in ("specialised", "unchecked"):
        return node
    if other.is_refused:
        reason = f"with {facts}: {other.reason}"
        return replace(node, reason=f"{node.reason}; {reason}" if node.state == "specialised" else reason)
    if node.state == "specialised":
        values, shapes = (*node.values, *other.values), (*node.shapes, *other.shapes)
        reason = "; ".join(filter(None, (node.reason, other.reason)))
        return replace(node, outputs=other.outputs, reason=reason, values=_once(values), shapes=_once(shapes))
    return node if other.state == "unchecked" else other


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _lowered(found: Survey, name: str, target: str) -> Survey:
    """`found`, with what the passes on the way to `linalg` refuse."""
    from dlc.compiler import lower

    assert found.module is not None
    try:
        lower(Source(found.module, found.params, name), _LEVEL, target=target)
    except InvalidInputError:  # arguments: the target
        raise
    except DLCError as error:
        refused = {node for text in _NODES.findall(str(error)) for node in text.split(", ")}
        nodes = tuple(
            replace(node, state="unsupported", reason=str(error)) if node.name in refused and node.state == "native" else node
            for node in found.nodes
        )
        problems = found.problems if any(node.is_refused for node in nodes) else (*found.problems, str(error))
        return replace(found, nodes=nodes, problems=problems)
    return found

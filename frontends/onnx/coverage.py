"""What becomes of each node of a model at import: an import that goes on after nodes that it cannot take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.types import tensor_type, type_of_array
from dlc.errors import DLCError, InvalidInputError, UnsupportedNode
from dlc.frontends.onnx.declared import DeclaredTypes
from dlc.frontends.onnx.importer import GraphImporter, ShapeOverrides
from dlc.frontends.onnx.importers import find_importer
from dlc.frontends.onnx.input_shapes import input_shapes
from dlc.frontends.onnx.loader import Expansion, PreparedModel, opset_of, prepare_model
from dlc.frontends.onnx.node import key_of, label_of, op_of
from dlc.frontends.onnx.validation.nodes import schema_of
from dlc.frontends.onnx.validation.problems import BrokenRules, Problem, Problems, place_of
from dlc.frontends.onnx.values import InputValues

State = Literal["native", "constant", "function", "specialised", "host", "unchecked", "unsupported", "invalid"]
STATES: Mapping[State, str] = {
    "native": "becomes code",
    "constant": "is computed when the model is compiled",
    "function": "stands for its body, whose nodes have lines of their own",
    "specialised": "becomes code at the first call, with values or shapes of inputs",
    "host": "runs on the host, between compiled code",
    "unchecked": "cannot be looked at before what it depends on is known",
    "unsupported": "cannot be compiled",
    "invalid": "breaks a rule of ONNX",
}
_MOST_SHOWN = 8


@dataclass(frozen=True)
class NodeCoverage:
    """One node: its name or first output, its op with domain, the opset that the op is of, types, attributes, state and why.

    `values` and `shapes` are the inputs of the model whose elements and sizes it must know.
    """

    name: str
    op: str
    opset: int | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[str, ...]
    state: State
    reason: str = ""
    values: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        return self.state in ("unsupported", "invalid")


@dataclass(frozen=True)
class Survey:
    """The nodes of a model, problems that no node has, and the module where it could be imported."""

    nodes: tuple[NodeCoverage, ...]
    problems: tuple[str, ...] = ()
    module: ir.Module | None = None
    params: Mapping[str, np.ndarray] = field(default_factory=dict)


def survey(
    model: onnx.ModelProto,
    name: str,
    context: ir.Context,
    shapes: ShapeOverrides | None = None,
    lenient: bool = False,
    values: InputValues | None = None,
) -> Survey:
    """Import a model as far as that goes; nothing of the model is an error here, but `InvalidInputError` tells of arguments."""
    try:
        shapes = input_shapes(model, shapes)
        prepared = prepare_model(model, name, shapes, lenient, values)
    except BrokenRules as error:
        return _survey_of_broken(model, error.problems)
    except InvalidInputError:  # `shapes` or `values`
        raise
    except DLCError as error:
        return Survey((), (str(error),))
    declared = DeclaredTypes.of(model.graph, Problems(name, lenient), has_sizes=not (shapes or values))
    dl.load(context)
    importer = _Surveyor(prepared.proto, prepared.weights, name, context, declared)
    return importer.survey(prepared)


@dataclass
class _Surveyor(GraphImporter):
    """An importer that notes what it can't import, and goes on."""

    rows: list[NodeCoverage] = field(default_factory=list)
    broken: list[Problem] = field(default_factory=list)
    is_whole: bool = False

    def survey(self, prepared: PreparedModel) -> Survey:
        """The rows of all nodes, those of functions before the nodes of their bodies."""
        problems: tuple[str, ...] = ()
        module = None
        try:
            module = self.run().module
        except BrokenRules as error:
            self.broken += error.problems
        except DLCError as error:
            problems = (str(error),)
        places = {problem.place: problem for problem in self.broken}
        rows = [_as_invalid(row, places.get(f"node '{row.name}' ({row.op})")) for row in self.rows]
        general = [str(each) for each in self.unsupported if each.op in ("input", "initializer")]
        functions = [_function_row(each, opset_of(self.model, key_of(each.call)[0])) for each in prepared.expansions]
        nodes = _in_order(functions, rows)
        return Survey(tuple(nodes), (*general, *problems), module if self.is_whole else None, self.pool.params)

    def _stop_if_unsupported(self) -> None:
        """Go on, without the inputs and weights that have no type."""
        self.unknown.update(each.name for each in self.unsupported if each.op in ("input", "initializer"))

    def _add_outputs(self, built: Graph) -> None:
        if not self.unsupported:
            super()._add_outputs(built)
            self.is_whole = True

    def _import_node(self, node: onnx.NodeProto, index: int) -> None:
        before, is_behind = len(self.unsupported), not self.unknown.isdisjoint(node.input)
        place = len(self.rows)
        super()._import_node(node, index)
        label = label_of(node, index)
        found = [each for each in self.unsupported[before:] if each.name == label]
        self.rows.insert(place, self._row(node, label, found[0] if found else None, is_behind))

    def _row(self, node: onnx.NodeProto, label: str, refused: UnsupportedNode | None, is_behind: bool) -> NodeCoverage:
        state, reason = self._state(node, refused, is_behind)
        values, shapes = (refused.values, refused.shapes) if refused is not None else ((), ())
        inputs, outputs = (tuple(self._type_text(name) for name in names) for names in (node.input, node.output))
        opset = _opset(node, opset_of(self.model, key_of(node)[0]))
        return NodeCoverage(label, op_of(node), opset, inputs, outputs, _attributes(node), state, reason, values, shapes)

    def _state(self, node: onnx.NodeProto, refused: UnsupportedNode | None, is_behind: bool) -> tuple[State, str]:
        if refused is not None:
            return ("specialised" if refused.values or refused.shapes else "unsupported"), refused.reason
        if is_behind:
            blocked = next(name for name in node.input if name in self.unknown)
            return "unchecked", f"it depends on '{blocked}', which has no type yet"
        if not self.unknown.isdisjoint(name for name in node.output if name):
            return "unsupported", "a node within it cannot be compiled"
        return ("constant" if all(name in self.arrays for name in node.output if name) else "native"), ""

    def _type_text(self, name: str) -> str:
        if not name:
            return "none"
        if name in self.arrays:
            array = self.arrays[name]
            shown = type_of_array(array) if self._dtype_problem(array.dtype) is None else array.dtype
            return f"constant {_plain(str(shown))}"
        kind = tensor_type(self.values[name].type) if name in self.values else None
        return "unknown" if kind is None else _plain(str(kind))


def _plain(shown: str) -> str:
    return shown.removeprefix("tensor<").removesuffix(">")


def _opset(node: onnx.NodeProto, version: int) -> int | None:
    """The version of the opset that the op of a node is of; None for an op that ONNX does not have."""
    schema = schema_of(node.op_type, version, key_of(node)[0])
    return None if schema is None else int(schema.since_version)


def _attributes(node: onnx.NodeProto) -> tuple[str, ...]:
    return tuple(f"{attribute.name} = {_show(attribute)}" for attribute in node.attribute)


def _show(attribute: onnx.AttributeProto) -> str:
    if attribute.HasField("g"):
        return f"graph of {len(attribute.g.node)} nodes"
    if attribute.HasField("t"):
        return f"tensor of {list(attribute.t.dims)}"
    if attribute.ref_attr_name:
        return f"attribute '{attribute.ref_attr_name}' of the function"
    value = onnx.helper.get_attribute_value(attribute) if attribute.type else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Sequence) and not isinstance(value, str):
        more = ", ..." if len(value) > _MOST_SHOWN else ""
        return f"[{', '.join(str(each) for each in value[:_MOST_SHOWN])}{more}]"
    return str(value)


def _function_row(expansion: Expansion, version: int) -> NodeCoverage:
    node = expansion.call
    body = ", ".join(dict.fromkeys(expansion.ops))
    unknown = tuple("" for _ in node.input), tuple("" for _ in node.output)
    reason = f"its body is of {body}" if body else "its body is empty"
    return NodeCoverage(label_of(node, 0), op_of(node), _opset(node, version), *unknown, _attributes(node), "function", reason)


def _in_order(functions: Sequence[NodeCoverage], rows: Sequence[NodeCoverage]) -> list[NodeCoverage]:
    """Functions right before the first node that bears their name, else at the beginning."""
    waiting, found = list(functions), []
    for row in rows:
        ready = [each for each in waiting if row.name.startswith(f"{each.name}.")]
        found += ready
        waiting = [each for each in waiting if each not in ready]
        found.append(row)
    return [*waiting, *found]


def _as_invalid(row: NodeCoverage, problem: Problem | None) -> NodeCoverage:
    if problem is None:
        return row
    why = f"{problem.what}; {problem.remedy}"
    return NodeCoverage(row.name, row.op, row.opset, row.inputs, row.outputs, row.attributes, "invalid", why)


def _survey_of_broken(model: onnx.ModelProto, problems: Sequence[Problem]) -> Survey:
    """The nodes as the file has them, where rules are broken that everything else counts on."""
    places: dict[str, list[Problem]] = {}
    for problem in problems:
        places.setdefault(problem.place, []).append(problem)
    nodes = []
    for index, node in enumerate(model.graph.node if _is_readable(model.graph) else ()):
        broken = places.pop(place_of(node), [])
        is_own = any((each.domain, each.name) == (node.domain, node.op_type) for each in model.functions)
        state, reason = _state_of_unread(node, broken, is_own, opset_of(model, key_of(node)[0]))
        unknown = tuple("unknown" for _ in node.input), tuple("unknown" for _ in node.output)
        opset = _opset(node, opset_of(model, key_of(node)[0]))
        nodes.append(NodeCoverage(label_of(node, index), op_of(node), opset, *unknown, _attributes(node), state, reason))
    return Survey(tuple(nodes), tuple(str(problem) for group in places.values() for problem in group))


def _is_readable(graph: onnx.GraphProto) -> bool:
    """Whether the names in nodes are text; others are bytes."""
    return all(
        isinstance(text, str) for node in graph.node for text in (node.name, node.op_type, node.domain, *node.input, *node.output)
    )


def _state_of_unread(node: onnx.NodeProto, broken: Sequence[Problem], is_own: bool, version: int) -> tuple[State, str]:
    if broken:
        return "invalid", "; ".join(f"{problem.what}; {problem.remedy}" for problem in broken)
    schema = schema_of(node.op_type, version, key_of(node)[0])
    is_function = is_own or (schema is not None and (schema.has_function or schema.has_context_dependent_function))
    if find_importer(key_of(node)) is None and not is_function:
        return "unsupported", "the op is not supported"
    return "unchecked", "the model breaks rules of ONNX"

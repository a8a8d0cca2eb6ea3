"""Sequences of tensors that are no more than a tensor, as lists in scripted PyTorch code are: replaced by ops on tensors.

A list that a loop appends to is what the loop keeps of its steps; one that is written out, or cut from a tensor at known places,
needs no list to be read. All other sequences stay, and are the host's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper, numpy_helper

from dlc.frontends.onnx.sequence_forms import Chunks, Form, ModelFacts, NoTensor, Parts, StackedForm

Note = Callable[[onnx.NodeProto, Sequence[onnx.NodeProto]], None]
"""Hears of a node and of what replaces it."""
_READERS = ("SequenceAt", "SequenceLength", "ConcatFromSequence")
_MAKERS = ("SequenceConstruct", "SplitToSequence", "Loop")


def replace_sequences(
    model: onnx.ModelProto, opset: int, shape_of: Mapping[str, Sequence[int | None]], note: Note
) -> onnx.ModelProto:
    """The model without sequences of its graph that tensors stand for; `shape_of` has the shapes that are known."""
    if not any(node.op_type in (*_READERS, "SequenceInsert") for node, _ in _all_nodes(model.graph)):
        return model
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    lists = _Lists(changed.graph, opset, shape_of)
    for maker in [node for node in changed.graph.node if node.op_type in _MAKERS]:
        lists.replace(maker)
    lists.write(note)
    return changed


def _all_nodes(graph: onnx.GraphProto) -> Iterator[tuple[onnx.NodeProto, onnx.GraphProto]]:
    """All nodes with their graphs, those of bodies among them."""
    for node in graph.node:
        yield node, graph
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _all_nodes(attribute.g)


Key = tuple[str, ...]


def _key(node: onnx.NodeProto) -> Key:
    """The outputs of a node, which no other node has."""
    return (node.op_type, *node.output)


@dataclass
class _Lists:
    """What takes the place of nodes, by their keys."""

    graph: onnx.GraphProto
    opset: int
    shape_of: Mapping[str, Sequence[int | None]]
    replaced: dict[Key, list[onnx.NodeProto]] = field(default_factory=dict)
    facts: ModelFacts = field(init=False)
    _readers: dict[str, list[onnx.NodeProto]] = field(default_factory=dict)
    _given: set[str] = field(default_factory=set)
    """Outputs of graphs."""
    _constants: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.facts = ModelFacts(self.opset, self.known, self.shape_of)
        graphs = [self.graph]
        for node, _ in _all_nodes(self.graph):
            graphs += [each.g for each in node.attribute if each.HasField("g")]
            for name in dict.fromkeys(node.input):
                self._readers.setdefault(name, []).append(node)
            if node.op_type == "Constant" and [each.name for each in node.attribute] == ["value"]:
                self._constants[node.output[0]] = node.attribute[0].t
        for graph in graphs:
            self._given.update(entry.name for entry in graph.output)
            self._constants.update((tensor.name, tensor) for tensor in graph.initializer)

    def replace(self, maker: onnx.NodeProto) -> None:
        """Replace the sequences that a node makes, with all that reads them, where that can be."""
        try:
            found = _append_loop(self, maker) if maker.op_type == "Loop" else self._by_readers(maker)
        except NoTensor:
            return
        self.replaced.update(found)

    def _by_readers(self, maker: onnx.NodeProto) -> dict[Key, list[onnx.NodeProto]]:
        """A sequence that is written out or cut from a tensor."""
        form: Form = (Parts if maker.op_type == "SequenceConstruct" else Chunks)(self.facts, maker)
        return {_key(maker): [], **self.read_as(maker.output[0], form)}

    def read_as(self, name: str, form: Form) -> dict[Key, list[onnx.NodeProto]]:
        """Nodes for all readers of the sequence `name`, which is read as `form` has it."""
        found: dict[Key, list[onnx.NodeProto]] = {}
        for node in self.users(name):
            if node.op_type == "Identity":
                found |= {_key(node): [], **self.read_as(node.output[0], form)}
            elif node.op_type == "SequenceAt":
                found[_key(node)] = form.at(node)
            elif node.op_type == "SequenceLength":
                found[_key(node)] = form.length(node)
            elif node.op_type == "ConcatFromSequence":
                found[_key(node)] = form.joined(node)
            else:
                raise NoTensor
        return found

    def users(self, name: str) -> list[onnx.NodeProto]:
        """The nodes that read a value, in bodies, too; raises where a graph gives it."""
        if name in self._given:
            raise NoTensor
        return self.readers(name)

    def readers(self, name: str) -> list[onnx.NodeProto]:
        return self._readers.get(name, [])

    def known(self, name: str) -> np.ndarray | None:
        """The value of a constant."""
        tensor = self._constants.get(name)
        return None if tensor is None else np.asarray(numpy_helper.to_array(tensor))

    def write(self, note: Note) -> None:
        """Put what takes the place of nodes there."""
        if not self.replaced:
            return
        _write(self.graph, self.replaced, note)
        read = {name for node, _ in _all_nodes(self.graph) for name in node.input}
        kept = [node for node in self.graph.node if node.op_type != "SequenceEmpty" or node.output[0] in read]
        del self.graph.node[:]
        self.graph.node.extend(kept)


def _write(graph: onnx.GraphProto, replaced: Mapping[Key, Sequence[onnx.NodeProto]], note: Note) -> None:
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        found = replaced.get(_key(node))
        if found is not None and node.op_type != "Loop":
            note(node, found)
        nodes += [node] if found is None else found
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    for node in kept:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _write(attribute.g, replaced, note)
    del graph.node[:]
    graph.node.extend(kept)


def _append_loop(lists: _Lists, loop: onnx.NodeProto) -> dict[Key, list[onnx.NodeProto]]:
    """A loop that appends to empty sequences: each becomes what is kept of all steps."""
    found: dict[Key, list[onnx.NodeProto]] = {}
    changed = onnx.NodeProto()
    changed.CopyFrom(loop)
    body = next((attribute.g for attribute in changed.attribute if attribute.name == "body"), onnx.GraphProto())
    empty = {node.output[0] for node in lists.graph.node if node.op_type == "SequenceEmpty"}
    places = [place for place in range(2, len(loop.input)) if loop.input[place] in empty]
    carried = min(len(loop.output) + 2, len(body.input), len(body.output) + 1)
    if not places or places[-1] >= carried or any(loop.output[place - 2] == "" for place in places):
        raise NoTensor
    for place in reversed(places):
        result = loop.output[place - 2]
        form = StackedForm(lists.facts, loop, f"{result}__stack")
        found |= lists.read_as(result, form)
        if not form.is_stacked:
            raise NoTensor
        _keep_steps(lists, body, place, f"{result}__step")
        del changed.input[place], changed.output[place - 2]
        changed.output.append(f"{result}__stack")
    return {_key(loop): [changed], **found}


def _appends(insert: onnx.NodeProto) -> bool:
    """Whether a SequenceInsert puts its tensor at the end."""
    return len(insert.input) > 1 and (len(insert.input) == 2 or not insert.input[2])


def _keep_steps(lists: _Lists, body: onnx.GraphProto, place: int, name: str) -> None:
    """Make the body give, as a value to keep, what it appended to its input number `place`."""
    users = lists.users(body.input[place].name)
    if len(users) != 1 or users[0].op_type != "SequenceInsert" or not _appends(users[0]):
        raise NoTensor
    last, gone = users[0].output[0], [_key(users[0])]
    while last != body.output[place - 1].name:
        reader = lists.readers(last)
        if len(reader) != 1 or reader[0].op_type != "Identity":
            raise NoTensor
        last, gone = reader[0].output[0], [*gone, _key(reader[0])]
    kept = [node for node in body.node if _key(node) not in gone]
    if len(kept) + len(gone) != len(body.node):
        raise NoTensor
    kept.append(helper.make_node("Identity", [users[0].input[1]], [name], name=f"{users[0].name or last}.Identity"))
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept]
    del body.node[:], body.input[place], body.output[place - 1]
    body.node.extend(copies)
    body.output.append(onnx.ValueInfoProto(name=name))

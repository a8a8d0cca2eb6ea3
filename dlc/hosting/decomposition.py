"""Ops on strings and complex numbers as ops that compiled code has, between small ones of the host.

A sampler takes the parts of complex numbers one by one, and the places of strings; a classifier numbers its labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx

from dlc.hosting.types import STRING, HostTensor, HostType
from dlc.runtime.host.parts import DOMAIN

_LABELS = {
    "LinearClassifier": "classlabels_ints",
    "SVMClassifier": "classlabels_ints",
    "TreeEnsembleClassifier": "classlabels_int64s",
}
"""Classifiers, with the attribute for labels that are integers."""
_PARTS = {"complex64": "f32", "complex128": "f64"}


@dataclass(frozen=True)
class Decomposition:
    """Nodes in place of one, and the types of the values between them."""

    nodes: tuple[onnx.NodeProto, ...]
    types: Mapping[str, HostType]


def decomposed(node: onnx.NodeProto, types: Mapping[str, HostType]) -> Decomposition | None:
    """What stands for a node that reads values of `types`; None where the node stays."""
    if node.domain == "ai.onnx.ml" and node.op_type in _LABELS:
        return _numbered(node, types)
    rule = _RULES.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    kind = types.get(node.input[0]) if rule is not None and node.input else None
    if rule is None or not isinstance(kind, HostTensor) or kind.dtype not in (STRING, *_PARTS):
        return None
    return rule(node, kind, types)


def _numbered(node: onnx.NodeProto, types: Mapping[str, HostType]) -> Decomposition | None:
    """A classifier that gives numbers of labels, and the texts that have these numbers."""
    texts = _attribute(node, "classlabels_strings")
    if texts is None or not texts.strings or not node.output[0]:
        return None
    numbers, labels = (_fresh(node, what, types) for what in ("number", "labels"))
    changed = _changed(node, "number", [*node.input], [numbers, *node.output[1:]])
    kept = [each for each in changed.attribute if each.name != texts.name]
    del changed.attribute[:]
    changed.attribute.extend([*kept, onnx.helper.make_attribute(_LABELS[node.op_type], range(len(texts.strings)))])
    table = onnx.helper.make_tensor(labels, onnx.TensorProto.STRING, [len(texts.strings)], list(texts.strings))
    label = _label(node)
    nodes = (
        changed,
        onnx.helper.make_node("Constant", [], [labels], f"{label}.labels", value=table),
        onnx.helper.make_node("Gather", [labels, numbers], [node.output[0]], label),
    )
    return Decomposition(
        nodes, {numbers: HostTensor("i64", _shape(node, types)), node.output[0]: HostTensor(STRING, _shape(node, types))}
    )


def _sampled(node: onnx.NodeProto, kind: HostTensor, types: Mapping[str, HostType]) -> Decomposition | None:
    """The parts of complex numbers on their own; strings by their places, if they are only moved."""
    if kind.dtype == STRING:
        return _by_places(node, kind, types) if _only_moves(node) else None
    part = _PARTS[str(kind.dtype)]
    nodes: list[onnx.NodeProto] = []
    known: dict[str, HostType] = {}
    made: list[str] = []
    for what, op in (("real", "Real"), ("imaginary", "Imaginary")):
        taken, given = _fresh(node, f"{what}_input", types), _fresh(node, what, types)
        nodes.append(onnx.helper.make_node(op, [node.input[0]], [taken], f"{_label(node)}.{what}", domain=DOMAIN))
        nodes.append(_changed(node, what, [taken, *node.input[1:]], [given]))
        known |= {taken: HostTensor(part, kind.shape), given: HostTensor(part, _shape(node, types))}
        made.append(given)
    whole = onnx.helper.make_node("Complex", made, [node.output[0]], _label(node), domain=DOMAIN)
    return Decomposition((*nodes, whole), known)


def _only_moves(node: onnx.NodeProto) -> bool:
    """Whether a sampler gives elements of its input, or nothing at all."""
    mode, fill = _attribute(node, "mode"), _attribute(node, "extrapolation_value")
    otherwise = b"linear" if node.op_type == "GridSample" else b"nearest"
    return (otherwise if mode is None else mode.s) == b"nearest" and (fill is None or fill.f == 0)


def _by_places(node: onnx.NodeProto, kind: HostTensor, types: Mapping[str, HostType]) -> Decomposition:
    """What becomes of the places of strings, and the strings there."""
    before, after = _fresh(node, "places_before", types), _fresh(node, "places", types)
    label = _label(node)
    nodes = (
        onnx.helper.make_node("Places", [node.input[0]], [before], f"{label}.places_before", domain=DOMAIN),
        _changed(node, "places", [before, *node.input[1:]], [after]),
        onnx.helper.make_node("Pick", [node.input[0], after], [node.output[0]], label, domain=DOMAIN),
    )
    return Decomposition(nodes, {before: HostTensor("i64", kind.shape), after: HostTensor("i64", _shape(node, types))})


def _shaped(node: onnx.NodeProto, kind: HostTensor, types: Mapping[str, HostType]) -> Decomposition | None:
    """Random numbers in the shape of any tensor; their element type must be given."""
    if _attribute(node, "dtype") is None:
        return None
    like = _fresh(node, "like", types)
    places = onnx.helper.make_node("Places", [node.input[0]], [like], f"{_label(node)}.like", domain=DOMAIN)
    changed = onnx.NodeProto()
    changed.CopyFrom(node)
    changed.input[0] = like
    return Decomposition((places, changed), {like: HostTensor("i64", kind.shape)})


_Rule = Callable[[onnx.NodeProto, HostTensor, Mapping[str, HostType]], Decomposition | None]
_RULES: Mapping[str, _Rule] = {
    "GridSample": _sampled,
    "Resize": _sampled,
    "Upsample": _sampled,
    "RandomNormalLike": _shaped,
    "RandomUniformLike": _shaped,
}
DECOMPOSED = frozenset({*(("", name) for name in _RULES), *(("ai.onnx.ml", name) for name in _LABELS)})
"""The ops that have another form for strings and complex numbers, by domain and name."""


def _changed(node: onnx.NodeProto, what: str, inputs: list[str], outputs: list[str]) -> onnx.NodeProto:
    """The node with other inputs and outputs."""
    found = onnx.NodeProto()
    found.CopyFrom(node)
    del found.input[:], found.output[:]
    found.input.extend(inputs)
    found.output.extend(outputs)
    found.name = f"{_label(node)}.{what}"
    return found


def _fresh(node: onnx.NodeProto, what: str, types: Mapping[str, HostType]) -> str:
    """A name for a new value."""
    name = f"{node.output[0]}.{what}"
    while name in types:
        name += "_"
    return name


def _label(node: onnx.NodeProto) -> str:
    return node.name or str(node.output[0])


def _shape(node: onnx.NodeProto, types: Mapping[str, HostType]) -> tuple[int | str | None, ...] | None:
    """That of the first output, as far as it is known."""
    kind = types.get(node.output[0])
    return kind.shape if isinstance(kind, HostTensor) else None


def _attribute(node: onnx.NodeProto, name: str) -> onnx.AttributeProto | None:
    return next((each for each in node.attribute if each.name == name), None)

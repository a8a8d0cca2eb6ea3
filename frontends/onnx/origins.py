"""What a value depends on that is not known at import: elements or dims of graph inputs, and nodes that only run time evaluates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import onnx

from dlc.dialects.dl.types import INTS, TensorType
from dlc.frontends.onnx.folding import can_fold
from dlc.frontends.onnx.nested_nodes import with_bodies
from dlc.frontends.onnx.validation.problems import place_of

MOST_VALUE_ELEMENTS = 64
"""Elements of an input that code is specialised on. Axes, pads and sizes have a few per axis; larger inputs are data, which would
be compiled for in every call."""

_DIMS_ALONE = ("Shape", "Size")
"""Ops that read the dims of their input and no element."""

Inputs = Mapping[str, TensorType]


@dataclass(frozen=True)
class Origin:
    """The graph inputs of which `elements` decide a value, those of which dynamic `dims` do, and what stands in the way.

    A `blocker` is the place of a node that only run time evaluates.
    """

    elements: tuple[str, ...] = ()
    dims: tuple[str, ...] = ()
    blocker: str = ""

    def suffices(self, inputs: Inputs) -> bool:
        """Whether the value is known where elements and dims are, and the elements are few."""
        return bool(self.elements or self.dims) and not self.blocker and not any(too_large(inputs[name]) for name in self.elements)

    def remedy(self, inputs: Inputs) -> str:
        """What a person can do about it."""
        if self.blocker:
            return f"{self.blocker} computes it at run time; make it a constant or an input of the model"
        large = next((name for name in self.elements if too_large(inputs[name])), None)
        if large is not None:
            bound = f"code is specialised on inputs of at most {MOST_VALUE_ELEMENTS} elements"
            return f"it depends on the elements of input '{large}', which is {inputs[large]}, and {bound}; make it a constant"
        if not self.elements and not self.dims:
            return "it cannot be computed at import; make it a constant of the model"
        ways = [("values", "value", self.elements)] * bool(self.elements) + [("dims", "shape", self.dims)] * bool(self.dims)
        causes = " and ".join(f"{what} of {_listed(names)}" for what, _, names in ways)
        options = " and ".join(f"`{option}s` (--{option} {names[0]}=...)" for _, option, names in ways)
        return f"it depends on {causes}; give them to `compile` or `import_onnx` with {options}"


def _listed(names: Iterable[str]) -> str:
    return "input " + ", ".join(f"'{name}'" for name in names)


def too_large(kind: TensorType) -> bool:
    """Whether an input has more elements than code is specialised on, or may have: lists alone are short of unknown length."""
    known = math.prod(dim for dim in kind.shape if isinstance(dim, int))
    return known > MOST_VALUE_ELEMENTS or (kind.rank > 1 and not kind.is_static)


def origin_of(
    name: str, nodes: Iterable[onnx.NodeProto], inputs: Inputs, known: Mapping[str, object], of_dims: bool = False
) -> Origin:
    """Where the elements of the value `name` come from, or its dims; `known` holds what is known at import of `nodes`.

    Dims come from the dims of operands, and from the elements of short lists of integers, which may be shapes.
    """
    producers = {output: node for node in with_bodies(nodes) for output in node.output if output}
    elements: dict[str, None] = {}
    dims: dict[str, None] = {}
    waiting, seen = [(name, of_dims)], set()
    while waiting:
        at = waiting.pop()
        value, is_shape = at
        if at in seen or not value or value in known:
            continue
        seen.add(at)
        producer = producers.get(value)
        if value in inputs:
            _note(value, inputs[value], is_shape, elements, dims)
        elif producer is not None and producer.op_type == "If":
            waiting += [(producer.input[0], False), *((given, is_shape) for given in _given_by_branches(producer, value))]
        elif producer is None or not (is_shape or can_fold(producer)):
            return Origin(tuple(elements), tuple(dims), place_of(producer) if producer else f"what gives '{value}'")
        else:
            reads_dims = is_shape or producer.op_type in _DIMS_ALONE
            waiting += [(operand, reads_dims) for operand in reversed(producer.input)]
    return Origin(tuple(elements), tuple(dims))


def _given_by_branches(node: onnx.NodeProto, name: str) -> Iterator[str]:
    """The values of the branches of an If that its output `name` is."""
    place = list(node.output).index(name)
    for attribute in node.attribute:
        if attribute.HasField("g") and place < len(attribute.g.output):
            yield attribute.g.output[place].name


def _note(name: str, kind: TensorType, is_shape: bool, elements: dict[str, None], dims: dict[str, None]) -> None:
    is_list = kind.dtype in INTS and kind.rank <= 1 and not too_large(kind)
    if not is_shape or is_list:
        elements[name] = None
    if is_shape and not kind.is_static:
        dims[name] = None

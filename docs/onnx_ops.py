"""The page of ONNX ops: every op of the standard that the onnx package knows, with its state, and those of onnxruntime's domain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx.defs
import onnx.helper

from dlc.dialects.dl.types import MOVABLE, dtype_of_numpy
from dlc.frontends.onnx.importers import Importer, importers
from dlc.hosting.decomposition import DECOMPOSED
from dlc.runtime.host.registry import HostFunction, host_ops

_STANDARD = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")
_SIZED_BY_DATA = {"Compress", "NonMaxSuppression", "NonZero", "Unique"}
"""Ops whose results are as large as elements say; nothing in their schemas tells."""
_REFUSED = {("ai.onnx.preview.training", "Gradient"): "derivatives of some ops alone (`frontends/onnx/gradient.py`)"}
"""Ops whose importer does nothing but say why they are not supported."""
_BODIES = {
    "CenterCropPad": ("Concat", "Constant", "Gather", "Pad", "Shape", "Slice"),
    "LinearAttention": ("Scan",),
    "SequenceMap": ("Loop", "SequenceAt", "SequenceEmpty", "SequenceInsert", "SequenceLength"),
}
"""What functions that depend on types have beside ops of tensors."""
_BRANCHING = ("If", "Loop", "Scan")
_HOST_TYPES = frozenset({"string", "complex64", "complex128", "sequences", "optionals", "maps"})
"""What the host computes with, in the words of `_shown`."""
_NO_CLEAR_REASON = "not written yet"


@dataclass(frozen=True)
class _Op:
    """An op with its schemas, the newest last; none for ops that the onnx package does not know."""

    domain: str
    name: str
    schemas: Sequence[onnx.defs.OpSchema]

    @property
    def newest(self) -> onnx.defs.OpSchema:
        return self.schemas[-1]

    @property
    def is_function(self) -> bool:
        """Whether the op is defined by other ops."""
        return bool(self.newest.has_function or self.newest.has_context_dependent_function)

    def versions(self) -> str:
        """The opsets that brought the op or changed it."""
        return ", ".join(str(schema.since_version) for schema in self.schemas)

    def kinds(self) -> set[str]:
        """The types of inputs and outputs in the newest version."""
        return {kind for parameter in (*self.newest.inputs, *self.newest.outputs) for kind in parameter.types}

    def missing_types(self) -> list[str]:
        """Types of the newest version that dlc has not; those of sequences, optionals and maps as one each."""
        missing = {_shown(kind) for kind in self.kinds() if not _is_known(kind)}
        return sorted(missing - _HOST_TYPES) if self._is_hosted() else sorted(missing)

    def _is_hosted(self) -> bool:
        """Whether the host computes the op, or all that it stands for, with values that compiled code does not take."""
        names = {(self.domain, self.name)} if self.name not in _BODIES else {("", name) for name in _BODIES[self.name]}
        return names <= {*host_ops(), *DECOMPOSED, *(("", name) for name in _BRANCHING)}


def onnx_page(note: str) -> Iterator[str]:
    """The page in pieces; `note` says who writes it."""
    ops = _ops()
    yield f"{note}# ONNX ops\n\nEvery op of the onnx package, up to opset {onnx.defs.onnx_opset_version()}. "
    yield "*supported* ops have an importer, in the file named; *function* ops are expanded to the ops that define them. "
    yield "*host* ops are functions of the host, between compiled code ([0010](../design/0010-host-ops.md)), "
    yield "as others on strings and complex numbers. "
    yield "Missing types are those of the newest version that dlc has not; those that it has for storage alone "
    yield "(float8, float6, float4, int4, int2) are taken by ops that move or convert elements.\n"
    for domain in _STANDARD:
        members = [op for op in ops if op.domain == domain]
        yield from _section(domain or "ai.onnx", members)
    others = sorted((key, made) for key, made in importers().items() if key not in {(op.domain, op.name) for op in ops})
    yield "\n## Ops that are not of the standard\n\n"
    yield "They are those that onnxruntime's optimiser and exporters of language models write.\n\n"
    yield "| op | domain | importer |\n|---|---|---|\n"
    for (domain, name), made in others:
        yield f"| {name} | {domain or 'ai.onnx'} | `{_file_of(made)}` |\n"


def _ops() -> list[_Op]:
    found: Mapping[tuple[str, str], list[onnx.defs.OpSchema]] = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in _STANDARD:
            found[schema.domain, schema.name].append(schema)
    return [_Op(*key, sorted(group, key=lambda each: each.since_version)) for key, group in sorted(found.items())]


def _section(domain: str, members: Sequence[_Op]) -> Iterator[str]:
    rows = [(op, *_state(op)) for op in members]
    counts = {state: sum(1 for _, found, _ in rows if found == state) for state in ("supported", "function", "host", "not yet")}
    shown = ", ".join(f"{count} {state}" for state, count in counts.items())
    yield f"\n## {domain}\n\n{len(members)} ops: {shown}.\n\n"
    yield "| op | opsets | state | importer, or why not | missing types |\n|---|---|---|---|---|\n"
    for op, state, why in rows:
        missing = ", ".join(op.missing_types()) if state != "not yet" else ""
        yield f"| {op.name} | {op.versions()} | {state} | {why} | {missing} |\n"


def _state(op: _Op) -> tuple[str, str]:
    """What dlc does with an op, and where, or why it does not."""
    key = (op.domain, op.name)
    made = importers().get(key)
    if made is not None and key not in _REFUSED:
        return "supported", f"`{_file_of(made)}`"
    if key in host_ops():
        return "host", f"`{_file_of(host_ops()[key].function)}`: {host_ops()[key].reason}"
    if op.is_function and not (lacking := _lacking(op)):
        return "function", ""
    if op.is_function:
        return "not yet", f"its function has {', '.join(lacking)}"
    return "not yet", _reason(op)


def _lacking(op: _Op) -> list[str]:
    """Ops of the body of a function that dlc has not."""
    if not op.newest.has_function:
        return [name for name in _BODIES.get(op.name, ()) if ("", name) not in {*importers(), *host_ops()}]
    known = {(each.domain, each.name): each for each in _ops()}
    lacking = set()
    for node in op.newest.function_body.node:
        key = (node.domain.removeprefix("ai.onnx") if node.domain == "ai.onnx" else node.domain, node.op_type)
        inner = known.get(key)
        if key not in {*importers(), *host_ops()} and (inner is None or not inner.is_function or _lacking(inner)):
            lacking.add(node.op_type)
    return sorted(lacking)


def _reason(op: _Op) -> str:
    """Why an op has no importer, as its schema tells it."""
    if (op.domain, op.name) in _REFUSED:
        return _REFUSED[op.domain, op.name]
    if any(attribute.type == onnx.defs.OpSchema.AttrType.GRAPH for attribute in op.newest.attributes.values()):
        return "control flow"
    kinds = op.kinds()
    for start, reason in (("optional(", "optionals"), ("seq(", "sequences"), ("map(", "maps")):
        if any(kind.startswith(start) for kind in kinds):
            return reason
    if op.name in _SIZED_BY_DATA:
        return "the result's size depends on data"
    if "tensor(string)" in kinds:
        return "texts"
    return _NO_CLEAR_REASON


def _is_known(kind: str) -> bool:
    """Whether dlc has the type `tensor(...)` of ONNX."""
    name = kind.removeprefix("tensor(").removesuffix(")").upper()
    code = getattr(onnx.TensorProto, name, None) if kind.startswith("tensor(") else None
    try:
        return code is not None and dtype_of_numpy(onnx.helper.tensor_dtype_to_np_dtype(code)) in MOVABLE
    except (KeyError, TypeError):
        return False


def _shown(kind: str) -> str:
    for start, shown in (("seq(", "sequences"), ("optional(", "optionals"), ("map(", "maps")):
        if kind.startswith(start):
            return shown
    return kind.removeprefix("tensor(").removesuffix(")")


def _file_of(made: Importer | HostFunction) -> str:
    return f"{made.__module__.removeprefix('dlc.').replace('.', '/')}.py"

"""The transposes that a module still has, each with the reason why it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.diagnostics import names_of
from dlc.dialects.dl import op_class
from dlc.dialects.dl.types import Dim, tensor_type

REASONS = {
    "graph input": "what the caller passes comes in another order of axes",
    "graph output": "what the caller gets has another order of axes",
    "mixes axes": "a reshape before or after it splits or merges axes that the transpose takes apart",
    "product": "a matrix product reads or gives its matrices in one order of axes",
    "one order": "an op before or after it takes its axes in one order",
    "as cheap anywhere": "the ops around it work in any order, and no place for it moves fewer bytes",
}
"""What the reasons mean, by their names; each transpose has the first that holds."""

_FOLLOWED = frozenset({"elementwise", "elementary", "activation", "compare"})
_PRODUCTS = frozenset({"dl.matmul", "dl.packed_matmul", "dl.widening_matmul", "dl.attention"})
_MOST_FOLLOWED = 64


@dataclass(frozen=True)
class TransposeLeft:
    """A transpose that moves elements: the names of its location (ONNX nodes), its order of axes, and a key of `REASONS`."""

    where: tuple[str, ...]
    order: tuple[int, ...]
    reason: str


def transposes_left(module: ir.Module) -> list[TransposeLeft]:
    """The transposes of what is computed at every call, in order; those of weights and of axes of size 1 cost nothing."""
    found = []
    for view in module.body.operations:
        function = view.operation
        if function.name != "func.func" or "dl.precompute" in function.attributes:
            continue
        weights: set[ir.Value] = set()
        for op in nested_ops(function):
            if op.name.startswith("dl.") and not op.regions and all(operand in weights for operand in op.operands):
                weights.update(op.results)
            elif op.name == "dl.transpose" and _moves(op):
                found.append(TransposeLeft(names_of(op.location), tuple(op.opview.perm), _reason(op)))
    return found


def _moves(op: ir.Operation) -> bool:
    """Whether axes of another size than 1 change their order."""
    shape = _shape(op.operands[0])
    kept = [axis for axis in op.opview.perm if shape[axis] != 1]
    return bool(kept != sorted(kept))


def _shape(value: ir.Value) -> Sequence[Dim]:
    kind = tensor_type(value.type)
    assert kind is not None
    return kind.shape


def _reason(op: ir.Operation) -> str:
    """The first reason that holds, by the ops that a transpose comes after and before, elementwise ones passed over."""
    sources, users = _ends(op, _sources), _ends(op, _users)
    if sources == {_ARGUMENT}:
        return "graph input"
    if users == {"func.return"}:
        return "graph output"
    names = (sources | users) - {_ARGUMENT, "func.return"}
    if "dl.reshape" in names:
        return "mixes axes"
    if names & _PRODUCTS:
        return "product"
    return "one order" if any(op_class(name) is not None for name in names) else "as cheap anywhere"


_ARGUMENT = "argument"
_Step = Callable[[ir.Operation], Iterator["ir.Operation | None"]]


def _ends(op: ir.Operation, step: _Step) -> set[str]:
    """Names of the first ops in one direction that are not elementwise; `_ARGUMENT` for an argument of a block."""
    found: set[str] = set()
    pending, seen = list(step(op)), 0
    while pending and seen < _MOST_FOLLOWED:
        near = pending.pop()
        seen += 1
        if near is None:
            found.add(_ARGUMENT)
        elif _is_followed(near):
            pending.extend(step(near))
        elif near.name not in ("dl.constant", "dl.param"):
            found.add(near.name)
    return found


def _is_followed(op: ir.Operation) -> bool:
    kind = op_class(op.name) if op.name.startswith("dl.") else None
    return kind is not None and kind.__module__.rpartition(".")[2] in _FOLLOWED


def _sources(op: ir.Operation) -> Iterator[ir.Operation | None]:
    for operand in op.operands:
        yield None if isinstance(operand.owner, ir.Block) else operand.owner.operation


def _users(op: ir.Operation) -> Iterator[ir.Operation]:
    for result in op.results:
        yield from (use.owner.operation for use in result.uses)

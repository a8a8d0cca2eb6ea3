"""What `convert-affine-to-llvm` takes: ops that upstream's patterns would get wrong, or end the process at, are refused first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod

from dlc._mlir import ir
from dlc.analysis.buffers import has_strides
from dlc.lowering.axes import axis_of
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.policy import policy

_REMEDIES = {
    "dl": "run convert-dl-to-linalg first",
    "tensor": "run linalg-bufferize-tensors first",
    "bufferization": "run linalg-insert-deallocs first",
    "linalg": "run convert-linalg-to-affine first",
}
_NO_DIVISOR = re.compile(r"\b(?:floordiv|ceildiv|mod) [-0]")


@dataclass(frozen=True)
class Present:
    """What a module holds: names of ops, and types of results and of arguments."""

    names: frozenset[str]
    types: frozenset[ir.Type]

    def has(self, *prefixes: str) -> bool:
        """Whether the name of an op begins with one of `prefixes`."""
        return any(name.startswith(prefixes) for name in self.names)


def require_lowerable(ops: Iterable[ir.Operation]) -> Present:
    """Raise `PassFailure` at the first op that is refused; else what there is."""
    names: set[str] = set()
    types: set[ir.Type] = set()
    attributes: set[ir.Attribute] = set()
    for op in ops:
        name = op.name
        if name not in names:
            names.add(name)
            _require_loops(op)
        if name.startswith("affine."):
            _require_divisors(op, attributes)
        elif name in _CHECKS:
            _CHECKS[name](op)
        arguments = [argument for region in op.regions for block in region.blocks for argument in block.arguments]
        for value in [*op.results, *arguments]:
            if (kind := value.type) not in types:
                types.add(kind)
                _require_strides(op, kind)
    return Present(frozenset(names), frozenset(types))


def _require_loops(op: ir.Operation) -> None:
    dialect = op.name.split(".")[0]
    if dialect not in _REMEDIES:
        return
    on_tensors = any(isinstance(value.type, ir.RankedTensorType) for value in [*op.operands, *op.results])
    remedy = _REMEDIES["tensor" if dialect == "linalg" and on_tensors else dialect]
    where = " on tensors" if on_tensors else ""
    raise PassFailure(op, f"needs affine, scf and memref, found '{op.name}'{where}", remedy)


def _require_strides(op: ir.Operation, kind: ir.Type) -> None:
    """Refuse memrefs whose elements no strides find: upstream's lowering leaves their loads and stores as they are."""
    if isinstance(kind, ir.MemRefType) and not has_strides(kind):
        raise PassFailure(op, f"the layout of {kind} has no strides", "run normalize-memrefs first")


def _require_divisors(op: ir.Operation, known: set[ir.Attribute]) -> None:
    """Refuse divisions by what is no positive number: upstream's lowering ends the process at them."""
    for _, attribute in op.attributes.items():
        if attribute in known:
            continue
        known.add(attribute)
        if isinstance(attribute, (ir.AffineMapAttr, ir.IntegerSetAttr)) and _NO_DIVISOR.search(str(attribute)):
            raise PassFailure(op, f"{attribute} divides by what is no positive number", "divide by a positive constant")


def _require_axis(op: ir.Operation) -> None:
    """Refuse sizes of axes that a memref has not: upstream's lowering reads beyond its sizes."""
    axis_of(op)


def _require_mask(op: ir.Operation) -> None:
    """Refuse constant masks of vast vectors: upstream's lowering makes a constant of each lane."""
    lanes = prod(ir.VectorType(op.results[0].type).shape)
    if lanes > policy().limits.mask_lanes:
        raise PassFailure(op, f"a constant mask of {lanes} lanes", f"use vectors of {policy().limits.mask_lanes} lanes at most")


_CHECKS: Mapping[str, Callable[[ir.Operation], None]] = {"memref.dim": _require_axis, "vector.constant_mask": _require_mask}

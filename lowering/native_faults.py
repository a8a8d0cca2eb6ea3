"""IR at which upstream's passes end the process: it is refused before they run."""

from __future__ import annotations

from collections.abc import Collection

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, defining_op, has_strides, nested_ops
from dlc.lowering.pass_base import PassFailure

_NORMALIZE = "normalize-memrefs"
_KNOWN_SYMBOLS = (*ALLOCATIONS, "memref.subview")
"""What gives the symbols of a layout that it makes, or keeps the layout."""


def check_native_faults(passes: Collection[str], op: ir.Operation) -> None:
    """`PassFailure` at an op inside `op` that one of upstream's `passes` would end the process at."""
    if _NORMALIZE in passes:
        for inner in nested_ops(op):
            _require_symbols(inner)


def _require_symbols(op: ir.Operation) -> None:
    """Places in a memref without its layout need the layout's symbols, which only an allocation has."""
    if not op.name.startswith("affine."):
        return
    for value in op.operands:
        maker = defining_op(value)
        if (maker is None or maker.name not in _KNOWN_SYMBOLS) and _loses_symbols(value.type):
            what = f"'{op.name}' needs the symbols in the layout of {value.type}, which only an allocation has"
            raise PassFailure(op, what, f"write constants for them, or leave out {_NORMALIZE}")


def _loses_symbols(kind: ir.Type) -> bool:
    """Whether the pass gives memrefs of type `kind` another layout, though theirs has symbols: those that it finds bounds for."""
    return isinstance(kind, ir.MemRefType) and kind.affine_map.n_symbols > 0 and (0 in kind.shape or not has_strides(kind))

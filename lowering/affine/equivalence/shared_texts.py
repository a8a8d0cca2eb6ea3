"""Index values in isl's notation, with names that mean the same in two functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.lowering.affine.equivalence.value_graph import SharedSymbols
from dlc.lowering.affine.ir.element_relations import LoopVariable
from dlc.lowering.affine.polyhedral.index_texts import IndexTexts
from dlc.lowering.affine.polyhedral.model import ExtractionError
from dlc.lowering.affine.polyhedral.outside import is_pure

_NUMERIC = re.compile(r"[-\d\s()+*]+")


@dataclass
class SharedTexts(IndexTexts):
    """Names parameters by what computes them from the function's arguments, so that equal values have equal names.

    A value that is no affine expression and the same in all iterations is a parameter, too, wherever it is computed.
    """

    shared: SharedSymbols | None = None

    def value(self, value: ir.Value, loops: Sequence[LoopVariable], user: ir.Operation) -> str:
        try:
            text = super().value(value, loops, user)
        except ExtractionError:
            key = key_of(value)
            if key is None:
                raise
            return self._shared.parameter(key)
        return _folded(text) if _NUMERIC.fullmatch(text) else text

    @property
    def _shared(self) -> SharedSymbols:
        assert self.shared is not None
        return self.shared

    def _parameter(self, value: ir.Value, user: ir.Operation) -> str:
        key = key_of(value)
        if key is None:
            raise ExtractionError(
                user,
                "an index is computed or read inside the loops and is not affine in their variables",
                "express it with affine.apply, hoist what does not change, or keep this nest out of the polyhedral passes",
            )
        op = defining_op(value)
        return self._shared.parameter(key, is_size=op is not None and op.name == "memref.dim")


def key_of(value: ir.Value) -> str | None:
    """What `value` is, as an expression over the function's arguments; None where a loop or memory has a part in it."""
    op = defining_op(value)
    if op is None:
        return f"arg{value.arg_number}" if value.owner.owner.operation.name == "func.func" else None
    if op.name == "memref.get_global":
        return str(op.attributes["name"])
    if not is_pure(op):
        return None
    operands = [key_of(operand) for operand in op.operands]
    if None in operands:
        return None
    attributes = ", ".join(sorted(f"{name} = {op.attributes[name]}" for name in op.attributes))
    number = next(at for at, result in enumerate(op.results) if result == value)
    return f"{op.name}#{number}{{{attributes}}}({', '.join(str(operand) for operand in operands)})"


def _folded(text: str) -> str:
    """The number that `text`, without variables, is."""
    return str(isl.Set(f"{{ [{text}] }}").sample_point().get_coordinate_val(isl.dim_type.set, 0))

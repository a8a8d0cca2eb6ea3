"""`dl-decompose-rotary-embedding`: rotary embedding as slices, products and a concatenation."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose
from dlc.lowering.dl.matching import dl_ops, functions, type_of
from dlc.lowering.pass_base import Pass, PassFailure


@dataclass(frozen=True)
class DecomposeRotaryEmbedding(Pass):
    """Write rotary embedding as slices, products and a concatenation.

    before:
        %y = "dl.rotary_embedding"(%x, %cos, %sin)
    after:
        %c = "dl.unsqueeze"(%cos) {axes = array<i64: 1>}
        %s = "dl.unsqueeze"(%sin) {axes = array<i64: 1>}
        %1 = "dl.slice"(%x) ...      // the first half
        %2 = "dl.slice"(%x) ...      // the second half
        %3 = ...                     // %1 * %c - %2 * %s
        %4 = ...                     // %2 * %c + %1 * %s
        %y = "dl.concat"(%3, %4) {axis = 3 : i64}
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            for found in dl_ops(function):
                if found.name == "dl.rotary_embedding" and type_of(found.operands[0]).shape[3] is None:
                    what = f"x is {type_of(found.operands[0])}: its number of features is dynamic"
                    raise PassFailure(found, what, "give an input with a static size")
        decompose(op, "rotary_embedding", _formula)


def _formula(x: ir.Value, cos: ir.Value, sin: ir.Value, *, interleaved: bool) -> ir.Value:
    size = type_of(x).shape[3]
    assert isinstance(size, int)
    half, step = (size, 2) if interleaved else (size // 2, 1)
    first = dl.slice(x, starts=[0], ends=[half], axes=[3], steps=[step])
    second = dl.slice(x, starts=[1 if interleaved else half], ends=[size], axes=[3], steps=[step])
    cos, sin = dl.unsqueeze(cos, axes=[1]), dl.unsqueeze(sin, axes=[1])
    low = dl.sub(dl.mul(first, cos), dl.mul(second, sin))
    high = dl.add(dl.mul(second, cos), dl.mul(first, sin))
    found: ir.Value
    if interleaved:
        pairs = dl.concat(dl.unsqueeze(low, axes=[4]), dl.unsqueeze(high, axes=[4]), axis=4)
        found = dl.reshape(pairs, shape=[-1, -1, -1, size], copied=[0, 1, 2, -1])
    else:
        found = dl.concat(low, high, axis=3)
    return found

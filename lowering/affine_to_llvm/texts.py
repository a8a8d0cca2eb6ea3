"""Constant texts that compiled code hands to the runtime."""

from __future__ import annotations

from dlc._mlir import ir


def create_text(symbol: str, text: str) -> None:
    """A private constant of the llvm dialect with a text and the 0 that ends it, at the current place."""
    content = text.replace("\0", "") + "\0"
    attributes = {
        "sym_name": ir.StringAttr.get(symbol),
        "global_type": ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{len(content.encode())} x i8>")),
        "linkage": ir.Attribute.parse("#llvm.linkage<internal>"),
        "constant": ir.UnitAttr.get(),
        "value": ir.StringAttr.get(content),
        "addr_space": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 0),
    }
    ir.Operation.create("llvm.mlir.global", attributes=attributes, regions=1)

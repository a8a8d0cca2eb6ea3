"""Reading integer sets."""

from __future__ import annotations

from dlc._mlir import ir


def constraints_of(condition: ir.Attribute) -> tuple[ir.AffineMap, list[str]]:
    """The left sides of an integer set's constraints as one map, and their relations to zero.

    The bindings build integer sets but do not read them from attributes, so the text is taken apart.
    """
    inputs, constraints = str(condition).removeprefix("affine_set<").removesuffix(">").split(" : ", 1)
    sides = [side.rsplit(" ", 2) for side in constraints[1:-1].split(", ")]
    text = f"affine_map<{inputs} -> ({', '.join(side[0] for side in sides)})>"
    return ir.AffineMapAttr(ir.Attribute.parse(text, context=condition.context)).value, [
        "=" if side[1] == "==" else ">=" for side in sides
    ]

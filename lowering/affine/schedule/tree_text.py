"""Loop trees as text."""

from __future__ import annotations

from collections.abc import Iterator

from dlc.lowering.affine.dependences.witness import place_text
from dlc.lowering.affine.schedule.loop_tree import (
    Leaf,
    LoopNode,
    Path,
    Scratch,
    SequenceNode,
    Tree,
    children,
    label,
    statement_names,
    walk,
)
from dlc.lowering.affine.schedule.program import Program

_KEYWORDS = {
    "loop": "for",
    "unordered": "parallel for",
    "parallel": "parallel for",
    "lanes": "vector lanes",
    "unroll": "copies of",
    "unroll_by_isl": "copies of",
}


def loop_names(tree: Tree) -> list[str]:
    """What the loops are called, in the order in which they begin; lanes and copies, which are no loops, left out."""
    loops = [(path, node) for path, node in walk(tree) if isinstance(node, LoopNode)]
    shown = [label(tree, path) for path, node in loops if _KEYWORDS[node.kind].endswith("for")]
    return list(dict.fromkeys(shown))


def tree_text(program: Program) -> str:
    """The loops and statements, one a line, those inside indented."""
    return "\n".join(_lines(program, program.tree, (), 0))


def _lines(program: Program, node: Tree, path: Path, depth: int) -> Iterator[str]:
    indent = "  " * (depth + 1)
    if isinstance(node, Leaf):
        yield from (indent + _statement_line(program, name) for name in statement_names(node))
        return
    if isinstance(node, LoopNode):
        yield f"{indent}{_KEYWORDS[node.kind]} {node.name or label(program.tree, path)}"
    if isinstance(node, Scratch):
        yield f"{indent}buffer {node.array}"
    inner = depth if isinstance(node, SequenceNode) else depth + 1
    for place, child in enumerate(children(node)):
        yield from _lines(program, child, (*path, place), inner)


def _statement_line(program: Program, name: str) -> str:
    statement = program.scop.by_name[name]
    writes = ", ".join(dict.fromkeys(access.array.name for access in statement.writes)) or "nothing"
    reads = ", ".join(dict.fromkeys(access.array.name for access in statement.reads)) or "nothing"
    place = place_text(statement.location)
    return f"{name}: writes {writes}, reads {reads}" + (f" ({place})" if place else "")

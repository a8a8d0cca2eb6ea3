"""Interchange: the loops of a nest in another order."""

from __future__ import annotations

from collections.abc import Sequence

from dlc.lowering.polyhedral.loop_tree import Loop, Path, Tree, around, at, put
from dlc.lowering.polyhedral.primitives.common import Result, loop_at
from dlc.lowering.polyhedral.program import PrimitiveError, Program


def interchange(program: Program, loops: Sequence[str]) -> Result:
    """Put the loops of a perfect nest into the order in which they are named; loops between them stay where they are.

    interchange k, j:  for i { for j { for k { S } } }  ->  for i { for k { for j { S } } }
    """
    if len(set(loops)) != len(loops) or len(loops) < 2:
        raise PrimitiveError(f"{', '.join(loops) or 'nothing'} is no order of loops", "name two loops or more, each once")
    wanted = [program.find(name) for name in loops]
    if len(set(wanted)) != len(wanted):
        raise PrimitiveError(f"{', '.join(loops)} name a loop twice", "name each loop once")
    outermost, innermost = min(wanted, key=len), max(wanted, key=len)
    span = [innermost[:length] for length in range(len(outermost), len(innermost) + 1)]
    _check_nest(program, loops, wanted, span)
    places = iter(wanted)
    order = [next(places) if path in wanted else path for path in span]
    tree: Tree = loop_at(program, innermost).body
    for path in reversed(order):
        loop = loop_at(program, path)
        tree = around(loop.values, tree, loop.name or program.fresh_name(program.base_name(path)), loop.kind)
    names = tuple(loop_at(program, path).name or program.base_name(path) for path in wanted)
    return program.changed(put(program.tree, outermost, tree)), names


def _check_nest(program: Program, loops: Sequence[str], wanted: Sequence[Path], span: Sequence[Path]) -> None:
    if any(path not in span for path in wanted):
        raise PrimitiveError(f"loops {', '.join(loops)} do not lie in each other", "name loops of one nest")
    if any(not isinstance(at(program.tree, path), Loop) for path in span):
        raise PrimitiveError(f"between loops {', '.join(loops)} lies other work", "distribute the loops around it first")

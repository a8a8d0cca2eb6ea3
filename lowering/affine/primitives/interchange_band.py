"""Interchange: the loops of a nest in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.loop_tree import LoopNode, Path, Tree, around, at, put
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


@primitive
def interchange(
    program: Program,
    loops: Annotated[tuple[str, ...], "the loops in their new order, from the outside in"] = (),
) -> Result:
    """Put the loops of a nest into another order.

    before: affine.for %i { affine.for %j { affine.for %k { .. } } }
    after (loops=k,j): affine.for %i { affine.for %k { affine.for %j { .. } } }

    Loops that are not named stay where they are. Bounds that depend on other loops are turned around, too.
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
    if any(not isinstance(at(program.tree, path), LoopNode) for path in span):
        raise PrimitiveError(f"between loops {', '.join(loops)} lies other work", "distribute the loops around it first")

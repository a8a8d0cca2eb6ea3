"""`dlc coverage`: what dlc can do with each node of a model, before anything is compiled."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Column, Table

import dlc
from dlc.coverage_report import Coverage
from dlc.frontends.onnx.coverage import STATES, NodeCoverage
from dlc.tools.commands.options import (
    MODEL,
    STDOUT,
    all_shapes,
    lenient_option,
    output_option,
    parse_values,
    shape_option,
    sizes_option,
    target_option,
    value_option,
)
from dlc.tools.commands.outputs import write_bytes
from dlc.tools.commands.terminal import output_console, steps

_PLAIN = ("native", "constant")
"""States of nodes that need no word."""


@click.command("coverage")
@MODEL
@click.option("--json", "as_json", is_flag=True, help="Write JSON (documented in docs/coverage.md) instead of tables.")
@click.option("--nodes", is_flag=True, help="Show every node, not only those that need a word.")
@output_option("File for what --json writes, standard output by default.")
@shape_option
@sizes_option
@value_option
@lenient_option
@target_option
def command(
    model: Path,
    as_json: bool,
    nodes: bool,
    output: Path,
    shapes: tuple[str, ...],
    sizes: tuple[str, ...],
    values: tuple[str, ...],
    lenient: bool,
    target: str,
) -> None:
    """Say of each node of an ONNX MODEL what compiling it would do, and what to do where it is refused.

    Nothing is compiled. Exits with status 1 where dlc compile would refuse the model.
    """
    if output != STDOUT and not as_json:
        raise click.UsageError("-o goes with --json; tables go to standard output")
    with steps(f"coverage of {model}"):
        found = dlc.coverage(model, all_shapes(shapes, sizes), parse_values(values), lenient, target)
    if found.problems and not found.nodes and not as_json:
        raise dlc.DLCError("\n".join(found.problems))
    if as_json:
        write_bytes(json.dumps(found.to_json(), indent=2).encode() + b"\n", output)
    else:
        _show(output_console(), found, nodes)
    if found.verdict == "refused":
        refused = sum(node.is_refused for node in found.nodes)
        raise dlc.DLCError(f"{model}: error: refused for {refused} nodes and {len(found.problems)} other reasons, as listed")


def _show(console: Console, found: Coverage, is_full: bool) -> None:
    listed = [node for node in found.nodes if is_full or node.state not in _PLAIN]
    if found.nodes:
        console.print(_ops(found))
        console.print()
    if listed:
        console.print(_nodes(listed))
        console.print()
    console.print("\n".join(_summary(found)), soft_wrap=True)


def _ops(found: Coverage) -> Table:
    """A row for each op, a column for each state that occurs."""
    states = [state for state in STATES if found.states()[state]]
    columns = [Column(name, justify="right") for name in ("opset", "nodes", *states)]
    table = Table("op", *columns, title="Ops", title_justify="left")
    opsets = {node.op: node.opset for node in found.nodes}
    for op, counts in sorted(found.counts().items()):
        numbers = [str(counts[state] or "") for state in states]
        table.add_row(op, str(opsets[op] or ""), str(counts.total()), *numbers)
    return table


def _nodes(nodes: Sequence[NodeCoverage]) -> Table:
    table = Table("node", "op", "state", "types", "attributes", "reason", title="Nodes", title_justify="left")
    for node in nodes:
        types = f"({', '.join(node.inputs)}) -> {', '.join(node.outputs)}" if any(node.outputs) else ""
        table.add_row(node.name, node.op, node.state, types, ", ".join(node.attributes), node.reason)
    return table


def _summary(found: Coverage) -> Iterator[str]:
    """The states that occur, problems of the whole model, and the verdict, last."""
    for state, count in found.states().items():
        yield f"{count} {state}: {STATES[state]}"  # type: ignore[index]
    yield from found.problems
    for what, names in (("values", found.values), ("shapes", found.shapes)):
        if names:
            yield f"{what} of {', '.join(names)} decide what code there is; give them with --{what[:-1]} to look at real ones"
    yield f"{found.name}: {found.verdict}"

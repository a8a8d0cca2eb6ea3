"""`dlc explain`: what the compiler does with a model, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.table import Column, Table

import dlc
from dlc.analysis.fusion import REASONS
from dlc.analysis.memory_plan import NOMINAL_SIZE
from dlc.analysis.transposes import REASONS as TRANSPOSE_REASONS
from dlc.engines.reading import EngineFile
from dlc.errors import UnsupportedError
from dlc.explanation import Explanation
from dlc.file_kinds import is_engine
from dlc.hosting.explanation import HostedExplanation, explain_hosted
from dlc.lowering.affine.ir.tile import CODE_GENERATORS
from dlc.lowering.dl.weights.winograd_choice import REASONS as TILE_REASONS
from dlc.request import ReadOptions
from dlc.sources import Source, read_source
from dlc.tools.commands.device_tables import device_summary, device_tables
from dlc.tools.commands.engine_options import is_given, refuse_other_options
from dlc.tools.commands.options import (
    MODEL,
    STDOUT,
    all_shapes,
    compile_timeout_option,
    lenient_option,
    output_option,
    parse_values,
    precision_option,
    shape_option,
    sizes_option,
    specialize_option,
    target_option,
    value_option,
    winograd_option,
)
from dlc.tools.commands.outputs import write_bytes
from dlc.tools.commands.terminal import output_console, steps
from dlc.variants import variant_limit
from dlc.versions.sizes import sizes_of_dims
from dlc.versions.specialize import specialize_after
from dlc.versions.telling import tell_declared

_MOST_NODES = 3
_OF_ENGINES = frozenset({"model", "as_json", "emit", "output", "target"})
"""Options that hold for an engine, too."""


@click.command("explain")
@MODEL
@click.option("--json", "as_json", is_flag=True, help="Write JSON (documented in docs/explain.md) instead of tables.")
@click.option("--emit", type=click.Choice(["dot"]), help="Write the graph of kernels for Graphviz instead of tables.")
@output_option("File for what --json or --emit writes, standard output by default.")
@click.option("--nominal", type=click.IntRange(1), default=NOMINAL_SIZE, show_default=True, help="What dynamic dims count as.")
@shape_option
@sizes_option
@specialize_option
@value_option
@lenient_option
@winograd_option
@precision_option
@compile_timeout_option
@target_option
def command(
    model: Path,
    as_json: bool,
    emit: str | None,
    output: Path,
    nominal: int,
    shapes: tuple[str, ...],
    sizes: tuple[str, ...],
    specialize: str | None,
    values: tuple[str, ...],
    lenient: bool,
    winograd: int | None,
    precision: str | None,
    compile_timeout: float | None,
    target: str,
) -> None:
    """Show what compiling MODEL (ONNX, or MLIR at level dl) does: passes, fusion and what was not fused and why, kernels,
    transposes that are left, memory. Nothing is compiled to machine code. Of an engine, what it keeps (dlc compile --keep=explain).
    """
    after = specialize_after(specialize)
    if as_json and emit:
        raise click.UsageError("--json and --emit exclude each other")
    if output != STDOUT and not (as_json or emit):
        raise click.UsageError("-o goes with --json or --emit; tables go to standard output")
    if is_engine(model):
        refuse_other_options(model, _OF_ENGINES)
        _tell(EngineFile.read(model).explanation(target if is_given("target") else None), as_json, emit, output)
        return
    with steps(f"explain {model}") as progress:
        reading = ReadOptions({}, all_shapes(shapes, sizes), lenient, parse_values(values))  # weights need not be there

        def explained(source: Source) -> Explanation:
            found = dlc.explain(source, None, nominal, progress, target, winograd, precision, compile_timeout)
            told = tell_declared(sizes_of_dims(reading.shapes, source), after, variant_limit(None))
            return replace(found, notes=(*found.notes, *told))

        try:
            found = explained(read_source(model, reading.params, reading.shapes, lenient, reading.values))
        except UnsupportedError:
            hosted = explain_hosted(model, reading, explained)
            if hosted is None:
                raise
            _tell_hosted(hosted, as_json, emit, output)
            return
    _tell(found, as_json, emit, output)


def _tell(found: Explanation, as_json: bool, emit: str | None, output: Path) -> None:
    if as_json:
        write_bytes(json.dumps(found.to_json(), indent=2).encode() + b"\n", output)
    elif emit:
        write_bytes(found.to_dot().encode(), output)
    else:
        _show(output_console(), found)


def _tell_hosted(found: HostedExplanation, as_json: bool, emit: str | None, output: Path) -> None:
    """What runs on the host, and each segment that is compiled."""
    if emit:
        raise dlc.InvalidInputError(
            f"{found.name}: error: the model runs partly on the host; --emit=dot shows compiled models only"
        )
    if as_json:
        write_bytes(json.dumps(found.to_json(), indent=2).encode() + b"\n", output)
        return
    console = output_console()
    for segment in found.segments:
        _show(console, segment)
        console.print()
    table = Table("node", "op", "reason", title="On the host, between compiled segments", title_justify="left")
    for step in found.steps:
        table.add_row(step.label, step.op, step.reason)
    console.print(table)
    later = f", {found.later} of them at its calls, which tell the types" if found.later else ""
    console.print(f"{found.name}: {len(found.steps)} ops on the host, {len(found.segments) + found.later} segments compiled{later}")


def _show(console: Console, found: Explanation) -> None:
    for table in (
        _passes(found),
        _convolutions(found),
        _edges(found),
        _kernels(found),
        _transposes(found),
        _memory(found),
        *((_schedules(found), _generic(found)) if found.device is None else device_tables(found.kernels, found.device)),
    ):
        console.print(table)
        console.print()
    console.print("\n".join(_summary(found)), soft_wrap=True)


def _summary(found: Explanation) -> Iterator[str]:
    """What one wants to know first, last, where it stays in view."""
    fused = sum(edge.fused for edge in found.edges)
    yield f"{found.name}: {found.entry_calls} calls of {len(found.kernels)} distinct kernels"
    yield f"{fused} of {len(found.edges)} edges fused; {len(found.transposes)} transposes left"
    if found.device is not None:
        yield device_summary(found.device)
    nests = [schedule for nests in found.schedules.kernels.values() for schedule in nests.values()]
    generic = sum(tile.code_generator == "generic" for tile in nests)
    if found.device is None:
        yield f"{len(nests)} loop nests, {generic} of them left as scalar loops, which no code generator takes"
    yield f"arena {_megabytes(found.memory.peak)}, constants {_megabytes(found.memory.constants)}"
    yield from found.notes
    if any("?" in kernel.type for kernel in found.kernels):
        yield f"dims that are known at run time only count as {found.nominal}"


def _passes(found: Explanation) -> Table:
    table = Table("pass", *_numeric("ops before", "ops after", "change", "ms"), title="Passes", title_justify="left")
    for entry in found.passes:
        change = entry.ops_after - entry.ops_before
        shown = f"{change:+}" if change else ""
        spent = f"{entry.seconds * 1e3:.1f}" if entry.seconds else ""  # engines keep no times
        table.add_row(entry.name, str(entry.ops_before), str(entry.ops_after), shown, spent)
    return table


def _convolutions(found: Explanation) -> Table:
    columns = _numeric("tile", "cycles by taps", "by tiles")
    table = Table("nodes", *columns, "reason", "", title="Convolutions (cycles of one image, by estimate)", title_justify="left")
    for entry in found.convolutions:
        cycles = [f"{number:,.0f}" if number else "" for number in (entry.direct_cycles, entry.tile_cycles)]
        tile = f"{entry.tile}x{entry.tile}" if entry.tile else ""
        apart = f", but results of up to {entry.taps_up_to}x{entry.taps_up_to} go by taps" if entry.taps_up_to else ""
        table.add_row(_nodes(entry.onnx_nodes), tile, *cycles, entry.reason, f"{TILE_REASONS[entry.reason]}{apart}")
    return table


def _numeric(*names: str) -> list[Column]:
    return [Column(name, justify="right") for name in names]


def _edges(found: Explanation) -> Table:
    fused = sum(edge.fused for edge in found.edges)
    title = f"Edges that are not fused ({len(found.edges) - fused} of {len(found.edges)})"
    table = Table("producer", "consumer", "reason", "", "nodes", title=title, title_justify="left")
    for edge in found.edges:
        if not edge.fused:
            table.add_row(edge.producer, edge.consumer, edge.reason, REASONS[edge.reason], _nodes(edge.onnx_nodes))
    return table


def _kernels(found: Explanation) -> Table:
    columns = _numeric("calls", "MFLOP", "MB")
    table = Table("kernel", "class", *columns, "ops", "type", "nodes", title="Kernels (costs of one call)", title_justify="left")
    for kernel in found.kernels:
        numbers = (str(kernel.calls), f"{kernel.flops / 1e6:.3f}", f"{kernel.bytes / 1e6:.3f}")
        table.add_row(kernel.name, kernel.kind, *numbers, ", ".join(kernel.ops), kernel.type, _nodes(kernel.onnx_nodes))
    return table


def _transposes(found: Explanation) -> Table:
    table = Table("nodes", "reason", "", title="Transposes left", title_justify="left")
    for entry in found.transposes:
        table.add_row(_nodes(entry.where), entry.reason, TRANSPOSE_REASONS[entry.reason])
    return table


def _memory(found: Explanation) -> Table:
    memory = found.memory
    table = Table("memory", *_numeric("bytes"), "nodes", title="Memory", title_justify="left")
    table.add_row("arena", f"{memory.peak:,}", "")
    table.add_row("least that any plan needs", f"{memory.lower_bound:,}", "")
    table.add_row("weights and constants", f"{memory.constants:,}", "")
    for holder in memory.holders:
        table.add_row("alive at the peak", f"{holder.bytes:,}", _nodes(holder.onnx_nodes))
    return table


def _schedules(found: Explanation) -> Table:
    title = "Schedules of loop nests (--emit=schedule of dlc compile writes them as a file)"
    table = Table("kernel", *_numeric("nest"), "code generator", "pass", "schedule", title=title, title_justify="left")
    for kernel, nests in found.schedules.to_json().items():
        for number, fields in nests.items():
            shown = ", ".join(f"{name} {value}" for name, value in fields.items() if name != "code_generator")
            generator = fields["code_generator"]
            table.add_row(kernel, number, generator, CODE_GENERATORS[generator], shown)
    return table


def _generic(found: Explanation) -> Table:
    table = Table("kernel", "nest and its loops, or why it stays", title="Generic affine path", title_justify="left")
    for kernel, texts in found.generic.items():
        for text in texts:
            table.add_row(kernel, text)
    return table


def _nodes(names: tuple[str, ...]) -> str:
    more = f", and {len(names) - _MOST_NODES} more" if len(names) > _MOST_NODES else ""
    return ", ".join(names[:_MOST_NODES]) + more


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"

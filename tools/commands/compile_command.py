"""`dlc compile`: a model as IR of any level, LLVM IR, assembly or an object file."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import click

import dlc
from dlc.accuracy import with_accuracy
from dlc.engines.records import KINDS
from dlc.lowering.deadline import timed
from dlc.native.forms import FORMS
from dlc.sources import Source, read_source
from dlc.targets.base import Target
from dlc.targets.registry import find_target, targets
from dlc.targets.schedules import read_schedules
from dlc.tools.commands.engine_output import ENGINE, PLACES
from dlc.tools.commands.native_output import file_asked
from dlc.tools.commands.options import (
    MODEL,
    STDOUT,
    all_shapes,
    check_output,
    compile_options,
    compile_timeout_option,
    lenient_option,
    output_option,
    parse_values,
    precision_option,
    require_one_size,
    schedule_option,
    shape_option,
    sizes_option,
    value_option,
    verify_option,
    winograd_option,
)
from dlc.tools.commands.outputs import write_bytes, write_module
from dlc.tools.commands.terminal import steps

_LEVELS = tuple(dict.fromkeys(level for target in targets() for level in target.stages))
_CODE = tuple(dict.fromkeys(form for target in targets() for form in target.forms))
_SCHEDULE = "schedule"
_EMITTED = [*_LEVELS, *_CODE, _SCHEDULE, ENGINE, *FORMS]


@click.command("compile")
@MODEL
@click.option("--emit", type=click.Choice(_EMITTED), is_eager=True, help="What to write: by default obj, for GPUs ptx.")
@output_option(
    "File to write; FILE.dlce is an engine. By default MODEL.o in the current folder for obj, MODEL.dlce for engine, "
    "else standard output, also called '-'.",
    None,
)
@click.option("--weights", type=click.Choice(PLACES), default=PLACES[0], help="Where an engine or native code has its weights.")
@click.option("--sign-key", type=click.Path(path_type=Path), help="Ed25519 private key (PEM) that signs an engine.")
@click.option(
    "--keep",
    type=click.Choice(list(KINDS)),
    multiple=True,
    help="What an engine holds beside its code: the model's ir, or what dlc explain says. Repeatable.",
)
@click.option("--name", help="What names in C begin with, in native code: by default the model's file name.")
@shape_option
@sizes_option
@value_option
@lenient_option
@schedule_option
@verify_option
@winograd_option
@precision_option
@compile_timeout_option
@compile_options
def command(
    model: Path,
    emit: str | None,
    output: Path | None,
    weights: str,
    sign_key: Path | None,
    keep: tuple[str, ...],
    name: str | None,
    shapes: tuple[str, ...],
    sizes: tuple[str, ...],
    values: tuple[str, ...],
    lenient: bool,
    schedule: Path | None,
    verify_schedules: bool,
    winograd: int | None,
    precision: str | None,
    compile_timeout: float | None,
    target: str,
    num_threads: int | None,
    opt_level: int,
) -> None:
    """Compile MODEL (ONNX, or MLIR at any level) as far as --emit says.

    IR levels are text that dlc-opt reads and that `dlc run` and `dlc compile` go on from; with -o the weights go beside it,
    to a file named *.safetensors. An object file has the entry `_mlir_ciface_main_graph` and needs dlc's runtime library. GPUs have
    the levels gpu and nvvm, and ptx. This machine need not be able to run code for --target. `schedule` is a file for --schedule:
    how each loop nest becomes code. An engine is one file that dlc.load, dlc_runtime and C programs run without the compiler; it
    holds code for each of several names of --target, with commas between. Native code is a shared library (lib), an archive
    (static-lib) or a program (exe) that needs the C library alone, and a header for C and C++; a C compiler makes it. For systems
    without threads and heap, c-runtime is a folder of C sources, with the model's code as an object.
    """
    engine = file_asked(model, emit, output, weights, sign_key, target, name, keep)
    options = [dlc.CompileOptions(name, num_threads, opt_level) for name in (engine.targets if engine else (target,))]
    for each in options:
        each.check()
    chosen = find_target(options[0].target)
    emit = ENGINE if engine else _checked(emit or chosen.forms[0], chosen, target)
    require_one_size(sizes, "a file holds")
    output = output or (check_output(Path(f"{model.stem}.o")) if emit == "obj" else STDOUT)
    begin = time.monotonic()
    read = read_source(model, shapes=all_shapes(shapes, sizes), lenient=lenient, values=parse_values(values))
    source = with_accuracy(read, winograd, precision)
    if verify_schedules:
        for each in options:
            _verify(source, each.target, schedule)
    if emit == _SCHEDULE:
        table = dlc.schedules_of(source, target, schedule=schedule, timeout=compile_timeout)
        write_bytes(json.dumps(table.to_json(), indent=2).encode() + b"\n", output)
        return
    with steps(f"compile {model}") as shown:
        progress = timed(compile_timeout, source.name, shown, begin)
        if engine:
            engine.write(source, replace(options[0], schedules=read_schedules(schedule)), progress)
            return
        if emit in _LEVELS[1:] and output != STDOUT:  # with the weights beside it, those that are computed among them
            source = dlc.optimize(source, progress, target)
        level = emit if emit in _LEVELS else chosen.stages[-1]
        module = dlc.lower(source, level, progress=progress, target=target, schedule=schedule)
        if progress:
            progress("write" if emit in _LEVELS else "generate machine code")
        code = chosen.emit(module, emit, opt_level) if emit in _CODE else b""
    if emit in _CODE:
        write_bytes(code, output)
    else:
        write_module(module, source, output)


def _verify(source: Source, target: str, schedule: Path | None) -> None:
    """Say which schedules are proved; an illegal one is an error."""
    from dlc.verification import summary, verify_schedules

    click.echo(summary(verify_schedules(source, target, schedule=schedule)), err=True)


def _checked(emit: str, chosen: Target, name: str) -> str:
    """`emit`, if it is what `chosen`, called `name`, can be written as."""
    known = (*chosen.stages, *chosen.forms)
    if emit not in known and emit != _SCHEDULE:
        raise click.BadParameter(f"target '{name}' has no '{emit}'; give one of {', '.join(known)}", param_hint="--emit")
    return emit

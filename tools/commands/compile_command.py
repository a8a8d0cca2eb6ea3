"""`dlc compile`: a model as IR of any level, LLVM IR, assembly or an object file."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

import dlc
from dlc._mlir import ir
from dlc.accuracy import Precision, with_accuracy
from dlc.engines.records import KINDS
from dlc.lowering.deadline import Progress, timed
from dlc.native.forms import FORMS
from dlc.sources import Source, read_source
from dlc.targets.base import Target
from dlc.targets.registry import find_target, targets
from dlc.targets.schedules import read_schedules
from dlc.tools.commands.engine_output import ENGINE, PLACES, EngineOutput, FileOptions
from dlc.tools.commands.native_output import NativeOutput, file_asked
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
def command(**given: Any) -> None:
    """Compile MODEL (ONNX, or MLIR at any level) as far as --emit says.

    IR levels are text that dlc-opt reads and that `dlc run` and `dlc compile` go on from; with -o the weights go beside it,
    to a file named *.safetensors. An object file has the entry `_mlir_ciface_main_graph` and needs dlc's runtime library. GPUs have
    the levels gpu and nvvm, and ptx. This machine need not be able to run code for --target. `schedule` is a file for --schedule:
    how each loop nest becomes code. An engine is one file that dlc.load, dlc_runtime and C programs run without the compiler; it
    holds code for each of several names of --target, with commas between. Native code is a shared library (lib), an archive
    (static-lib) or a program (exe) that needs the C library alone, and a header for C and C++; a C compiler makes it. For systems
    without threads and heap, c-runtime is a folder of C sources, with the model's code as an object.
    """
    arguments = _Arguments(**given)
    file = arguments.file()
    options = arguments.options(file.targets if file else (arguments.target,))
    chosen = find_target(options[0].target)
    emit = ENGINE if file else _checked(arguments.emit or chosen.forms[0], chosen, arguments.target)
    require_one_size(arguments.sizes, "a file holds")
    output = arguments.output or (check_output(Path(f"{arguments.model.stem}.o")) if emit == "obj" else STDOUT)
    begin = time.monotonic()
    source = arguments.read()
    if arguments.verify_schedules:
        for each in options:
            _verify(source, each.target, arguments.schedule)
    if emit == _SCHEDULE:
        _write_schedules(source, arguments, output)
        return
    with steps(f"compile {arguments.model}") as shown:
        progress = timed(arguments.compile_timeout, source.name, shown, begin)
        if file:
            file.write(source, replace(options[0], schedules=read_schedules(arguments.schedule)), progress)
            return
        source, made = _lowered(source, arguments, emit, output, progress)
    if isinstance(made, bytes):
        write_bytes(made, output)
    else:
        write_module(made, source, output)


@dataclass(frozen=True)
class _Arguments(FileOptions):
    """The options of the command as they are spelled."""

    shapes: tuple[str, ...]
    sizes: tuple[str, ...]
    values: tuple[str, ...]
    lenient: bool
    schedule: Path | None
    verify_schedules: bool
    winograd: int | None
    precision: Precision | None
    compile_timeout: float | None
    num_threads: int | None
    opt_level: int

    def file(self) -> EngineOutput | NativeOutput | None:
        """The engine or the native code that is asked for; None for a level, a form of a target, or schedules."""
        return file_asked(self)

    def options(self, targets: Sequence[str]) -> list[dlc.CompileOptions]:
        """The choices for each of `targets`. `TargetError` or `InvalidInputError` for one that does not exist."""
        found = [dlc.CompileOptions(target, self.num_threads, self.opt_level) for target in targets]
        for each in found:
            each.check()
        return found

    def read(self) -> Source:
        """The model, with what is asked of its numbers written on it."""
        shapes = all_shapes(self.shapes, self.sizes)
        read = read_source(self.model, shapes=shapes, lenient=self.lenient, values=parse_values(self.values))
        return with_accuracy(read, self.winograd, self.precision)


def _lowered(
    source: Source, arguments: _Arguments, emit: str, output: Path, progress: Progress | None
) -> tuple[Source, ir.Module | bytes]:
    """The module at the level `emit`, with the source that has its weights, or the code in the form `emit`."""
    target = find_target(arguments.target)
    if emit in _LEVELS[1:] and output != STDOUT:  # with the weights beside it, those that are computed among them
        source = dlc.optimize(source, progress, arguments.target)
    level = emit if emit in _LEVELS else target.stages[-1]
    module = dlc.lower(source, level, progress=progress, target=arguments.target, schedule=arguments.schedule)
    if progress:
        progress("write" if emit in _LEVELS else "generate machine code")
    return source, target.emit(module, emit, arguments.opt_level) if emit in _CODE else module


def _write_schedules(source: Source, arguments: _Arguments, output: Path) -> None:
    """Write the schedules of all loop nests as JSON."""
    table = dlc.schedules_of(source, arguments.target, schedule=arguments.schedule, timeout=arguments.compile_timeout)
    write_bytes(json.dumps(table.to_json(), indent=2).encode() + b"\n", output)


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

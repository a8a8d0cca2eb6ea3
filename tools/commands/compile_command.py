"""`dlc compile`: a model as IR of any level, LLVM IR, assembly or an object file."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import cast, get_args

import click

import dlc
from dlc._mlir import ir
from dlc.accuracy import with_accuracy
from dlc.compiler import Stage
from dlc.lowering.deadline import timed
from dlc.sources import read_source
from dlc.tools.commands.options import (
    MODEL,
    STDOUT,
    check_output,
    compile_options,
    compile_timeout_option,
    lenient_option,
    output_option,
    parse_shapes,
    precision_option,
    schedule_option,
    shape_option,
    winograd_option,
)
from dlc.tools.commands.outputs import write_bytes, write_module
from dlc.tools.commands.terminal import steps

_LEVELS = get_args(Stage)
_CODE = ("llvmir", "asm", "obj")
_SCHEDULE = "schedule"


@click.command("compile")
@MODEL
@click.option("--emit", type=click.Choice([*_LEVELS, *_CODE, _SCHEDULE]), default="obj", show_default=True, help="What to write.")
@output_option("File to write. By default MODEL.o in the current folder for obj, else standard output, also called '-'.", None)
@shape_option
@lenient_option
@schedule_option
@winograd_option
@precision_option
@compile_timeout_option
@compile_options
def command(
    model: Path,
    emit: str,
    output: Path | None,
    shapes: tuple[str, ...],
    lenient: bool,
    schedule: Path | None,
    winograd: int | None,
    precision: str | None,
    compile_timeout: float | None,
    target: str,
    num_threads: int | None,
    opt_level: int,
) -> None:
    """Compile MODEL (ONNX, or MLIR at any level) as far as --emit says.

    IR levels are text that dlc-opt reads and that `dlc run` and `dlc compile` go on from; with -o the weights go beside it,
    to a file named *.safetensors. An object file has the entry `_mlir_ciface_main_graph` and needs dlc's runtime library. This
    machine need not be able to run code for --target. `schedule` is a file for --schedule: how each loop nest becomes code.
    """
    dlc.CompileOptions(target, num_threads, opt_level).check()
    output = output or (check_output(Path(f"{model.stem}.o")) if emit == "obj" else STDOUT)
    begin = time.monotonic()
    source = with_accuracy(read_source(model, shapes=parse_shapes(shapes), lenient=lenient), winograd, precision)
    if emit == _SCHEDULE:
        table = dlc.schedules_of(source, target, schedule=schedule, timeout=compile_timeout)
        write_bytes(json.dumps(table.to_json(), indent=2).encode() + b"\n", output)
        return
    with steps(f"compile {model}") as shown:
        progress = timed(compile_timeout, source.name, shown, begin)
        if emit in _LEVELS[1:] and output != STDOUT:  # with the weights beside it, those that are computed among them
            source = dlc.optimize(source, progress, target)
        level = cast(Stage, emit if emit in _LEVELS else "llvm")
        module = dlc.lower(source, level, progress=progress, target=target, schedule=schedule)
        if progress:
            progress("write" if emit in _LEVELS else "generate machine code")
        code = _code(module, emit, opt_level) if emit in _CODE else b""
    if emit in _CODE:
        write_bytes(code, output)
    else:
        write_module(module, source, output)


def _code(module: ir.Module, emit: str, opt_level: int) -> bytes:
    from dlc.targets.cpu.emit import emit_assembly, emit_llvm_ir, emit_object

    if emit == "obj":
        return emit_object(module, opt_level)
    text = emit_llvm_ir(module) if emit == "llvmir" else emit_assembly(module, opt_level)
    return text.rstrip("\n").encode() + b"\n"

"""`dlc compile`: a model as IR of any level, LLVM IR, assembly or an object file."""

from __future__ import annotations

from pathlib import Path

import click

import dlc
from dlc.sources import Source, read_source
from dlc.tools.commands.options import MODEL, compile_options, parse_shapes, shape_option
from dlc.tools.commands.outputs import print_module, replacing, write_module
from dlc.tools.commands.progress import steps

_LEVELS = ("dl", "linalg", "affine", "llvm")
_CODE = ("llvmir", "asm", "obj")


@click.command("compile")
@MODEL
@click.option("--emit", type=click.Choice([*_LEVELS, *_CODE]), default="obj", show_default=True, help="What to write.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; standard output by default, MODEL.o for obj.")
@shape_option
@compile_options
def command(
    model: Path,
    emit: str,
    output: Path | None,
    shapes: tuple[str, ...],
    target: str,
    num_threads: int | None,
    opt_level: int,
) -> None:
    """Compile MODEL (ONNX, or MLIR at any level) as far as --emit says.

    IR levels are text that dlc-opt reads and that `dlc run` and `dlc compile` go on from; with -o the weights go to
    OUTPUT.safetensors. An object file has the entry `_mlir_ciface_main_graph` and needs dlc's runtime library.
    """
    dlc.CompileOptions(target, num_threads, opt_level).check()
    source = read_source(model, shapes=parse_shapes(shapes))
    with steps(f"compile {model}") as progress:
        level = emit if emit in _LEVELS else "llvm"
        module = dlc.lower(source.module, level, progress=progress)  # type: ignore[arg-type]
        if emit in _LEVELS:
            progress("write")
        else:
            progress("generate machine code")
            _write_code(module, source, emit, output, model, opt_level)
            return
    if output is None:
        print_module(module, source)
    else:
        write_module(module, source, output)


def _write_code(module: object, source: Source, emit: str, output: Path | None, model: Path, opt_level: int) -> None:
    from dlc.targets.cpu import emit as emission

    if emit == "obj":
        target = output or Path(model.with_suffix(".o").name)
        with replacing(target) as temporary:
            temporary.write_bytes(emission.emit_object(module, opt_level))
        return
    text = emission.emit_llvm_ir(module) if emit == "llvmir" else emission.emit_assembly(module, opt_level)
    if output is None:
        click.echo(text)
        return
    with replacing(output) as temporary:
        temporary.write_text(text, encoding="utf-8")

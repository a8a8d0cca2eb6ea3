"""What `dlc compile` is asked for where it writes native code: a library, an archive, a header, a program or a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

import dlc
from dlc.lowering.deadline import Progress
from dlc.native.forms import ARCHIVE, C_RUNTIME, FORMS, HEADER, LIBRARY, PROGRAM
from dlc.native.names import model_name
from dlc.sources import Source
from dlc.tools.commands.engine_output import PLACES, EngineOutput, FileOptions, refuse_engine_options
from dlc.tools.commands.options import STDOUT, check_folder, check_output

_FILES = {LIBRARY: "lib{}.so", ARCHIVE: "lib{}.a", HEADER: "{}.h", PROGRAM: "{}", C_RUNTIME: "{}"}


@dataclass(frozen=True)
class NativeOutput:
    """Native code of one of `FORMS`, written to `path`; its names in C begin with `name`."""

    form: str
    path: Path
    name: str
    targets: tuple[str, ...]
    has_separate_weights: bool

    @classmethod
    def asked(cls, form: str, options: FileOptions) -> NativeOutput:
        """What options ask for; `click.BadParameter` where they clash, `InvalidInputError` for a name that C does not have."""
        called = model_name(options.name or options.model.stem)
        if "," in options.target:
            raise click.BadParameter(
                f"'{form}' holds code for one; write an engine for several, with -o FILE.dlce", param_hint="--target"
            )
        if form == C_RUNTIME and options.weights == PLACES[1]:
            raise click.BadParameter(f"'{form}' reads no files: its weights are in the object", param_hint="--weights")
        path = options.output or (check_folder if form == C_RUNTIME else check_output)(Path(_FILES[form].format(called)))
        if path == STDOUT:
            raise click.BadParameter(f"'{form}' is written to a file, not to standard output", param_hint="-o")
        return cls(form, path, called, (options.target,), options.weights == PLACES[1])

    def write(self, source: Source, options: dlc.CompileOptions, progress: Progress | None) -> None:
        """Compile `source`, and write the files."""
        from dlc.native.building import write_native
        from dlc.native.c_runtime import write_c_runtime
        from dlc.native.compiling import compile_for_arena, compile_native

        if self.form == C_RUNTIME:
            write_c_runtime(*compile_for_arena(source, options, self.name, progress), self.path)
            return
        model = compile_native(source, options, self.name, progress)
        if progress:
            progress("write")
        write_native(model, self.form, self.path, self.has_separate_weights)


def file_asked(options: FileOptions) -> EngineOutput | NativeOutput | None:
    """The engine or native code that options ask for; None where they ask for something else."""
    if options.emit in FORMS:
        refuse_engine_options(options)
        return NativeOutput.asked(str(options.emit), options)
    if options.name is not None:
        raise click.BadParameter(f"only native code has names in C; add --emit with one of {', '.join(FORMS)}", param_hint="--name")
    return EngineOutput.asked(options)

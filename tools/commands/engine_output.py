"""What `dlc compile` is asked for where it writes an engine file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

import dlc
from dlc.lowering.deadline import Progress
from dlc.runtime.engine_signature import read_key
from dlc.sources import Source
from dlc.tools.commands.options import STDOUT, check_output

ENGINE = "engine"
PLACES = ("inside", "separate")
_SUFFIX = ".dlce"


@dataclass(frozen=True)
class FileOptions:
    """What `dlc compile` is told of an engine or of native code, as options are spelled; `model` is the file that is compiled."""

    model: Path
    emit: str | None
    output: Path | None
    weights: str
    sign_key: Path | None
    target: str
    name: str | None
    keep: tuple[str, ...]


@dataclass(frozen=True)
class EngineOutput:
    """An engine for `targets`, written to `path`."""

    path: Path
    targets: tuple[str, ...]
    has_separate_weights: bool
    sign_key: Path | None
    kept: tuple[str, ...]

    @classmethod
    def asked(cls, options: FileOptions) -> EngineOutput | None:
        """The engine that options ask for; None where they ask for something else, and `click.BadParameter` where they clash."""
        output, key = options.output, options.sign_key
        is_engine = options.emit == ENGINE or (options.emit is None and output is not None and output.suffix == _SUFFIX)
        if not is_engine:
            if options.weights != PLACES[0]:
                raise click.BadParameter(
                    "only engines and native code have weights; write an engine with -o FILE.dlce", param_hint="--weights"
                )
            refuse_engine_options(options)
            if "," in options.target:
                raise click.BadParameter("only engines hold code for several; write one with -o FILE.dlce", param_hint="--target")
            return None
        path = output or check_output(Path(f"{options.model.stem}{_SUFFIX}"))
        if path == STDOUT:
            raise click.BadParameter("an engine is written to a file, not to standard output", param_hint="-o")
        if key is not None:
            read_key(key, is_private=True)  # now rather than after minutes
        targets = tuple(name.strip() for name in options.target.split(","))
        return cls(path, targets, options.weights == PLACES[1], key, options.keep)

    def write(self, source: Source, options: dlc.CompileOptions, progress: Progress | None) -> None:
        """Compile `source` for each target, and write the engine."""
        from dlc.engines.records import with_records
        from dlc.engines.saving import save_engine
        from dlc.engines.variants import build_variants

        variants = build_variants(source, options, self.targets, progress=progress)
        if self.kept and progress:
            progress(f"keep {', '.join(self.kept)}")
        variants = with_records(variants, source, options, self.kept)
        if progress:
            progress("write")
        save_engine(variants, source, options, self.path, self.has_separate_weights, self.sign_key)


def refuse_engine_options(options: FileOptions) -> None:
    """Raise `click.BadParameter` for what engines alone can have."""
    if options.sign_key is not None:
        raise click.BadParameter("only engines are signed; write one with -o FILE.dlce", param_hint="--sign-key")
    if options.keep:
        raise click.BadParameter("only engines keep it; write one with -o FILE.dlce", param_hint="--keep")

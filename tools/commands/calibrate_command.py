"""`dlc calibrate`: measure this machine for the compiler."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from dlc.errors import TargetError
from dlc.serving.number_range import NumberRange
from dlc.targets.cpu.calibration.origins import OriginOfFigure, figures_of_host
from dlc.targets.cpu.calibration.row import NO_PLACE, CalibratedRow, remove_row, row_file, save_row
from dlc.tools.commands.options import STDOUT, check_output
from dlc.tools.commands.terminal import output_console, steps


@click.command("calibrate")
@click.option("--show", is_flag=True, help="Show the machine that compilations see, and where each figure comes from.")
@click.option("--reset", is_flag=True, help="Remove what was measured: figures of the processor's design hold again.")
@click.option(
    "--json",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    callback=lambda ctx, option, value: value and check_output(value, "--json"),
    help="Write the measured row to FILE (- for standard output) and do not keep it.",
)
@click.option("--seconds", type=NumberRange(0.001, 10.0), default=None, help="Seconds of each of about 40 figures. [default: 0.16]")
def command(show: bool, reset: bool, file: Path | None, seconds: float | None) -> None:
    """Measure this machine: what instructions, caches, memory and threads take.

    The figures are kept beside the compilation cache, in DLC_CACHE_DIR, and every compilation for this machine uses them. It takes
    about 10 seconds, in which nothing else should run.
    """
    if show + reset + (file is not None or seconds is not None) > 1:
        raise click.UsageError("--show, --reset and measuring exclude each other; name one")
    if show:
        _show(figures_of_host())
    elif reset:
        click.echo(f"removed '{row_file()}'" if remove_row() else "there was nothing to remove")
    else:
        _measure(file, seconds)


def _measure(file: Path | None, seconds: float | None) -> None:
    from dlc.targets.cpu.calibration.calibrate import calibrate  # numpy and the bindings, which the other options do without
    from dlc.targets.cpu.calibration.measure import DEFAULT_SECONDS

    if file is None and row_file() is None:
        raise TargetError(NO_PLACE)
    with steps("measuring") as progress:
        found = calibrate(seconds or DEFAULT_SECONDS, progress)
    for path in found.left_out:
        click.echo(
            f"warning: samples of {path} differ too much, so that it keeps its value; measure again when nothing else runs",
            err=True,
        )
    if file is None:
        _keep(found.row)
    elif file == STDOUT:
        click.echo(found.row.to_json(), nl=False)
    else:
        file.write_text(found.row.to_json(), encoding="utf-8")


def _keep(row: CalibratedRow) -> None:
    kept = save_row(row)
    _show([figure for figure in figures_of_host() if figure.path in row.figures])
    output_console().print(f"{row.clock_ghz} GHz; kept in {kept}", soft_wrap=True)


def _show(figures: Sequence[OriginOfFigure]) -> None:
    table = Table("figure", "value", "unit", "origin")
    table.columns[1].justify = "right"
    for figure in figures:
        table.add_row(figure.path, f"{figure.value:g}" if figure.value < 1e5 else f"{figure.value:.0f}", figure.unit, figure.origin)
    output_console().print(table)

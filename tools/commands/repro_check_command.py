"""`dlc repro-check`: whether building an engine again gives the same bytes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dlc.engines.saving import read_manifest
from dlc.errors import TargetError
from dlc.tools.commands.options import MODEL, target_option
from dlc.tools.commands.terminal import steps

_PROGRAM = "import sys; from dlc.tools.dlc import main; sys.argv[0] = 'dlc'; main()"


@click.command("repro-check")
@MODEL
@click.option("--builds", type=click.IntRange(2), default=10, show_default=True, help="How often the engine is built.")
@target_option
def command(model: Path, builds: int, target: str) -> None:
    """Build an engine of MODEL several times and compare the bytes.

    Each build is a process of its own, in a folder of its own, without the cache. Exits with status 1, and says what differs,
    unless all give the same file.
    """
    path = model.resolve()
    with tempfile.TemporaryDirectory() as folder, steps(f"build {model}") as progress:
        files = []
        for number in range(builds):
            if progress:
                progress(f"{number} of {builds} done")
            files.append(_built(path, Path(folder) / str(number), target))
        hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
        other = next((at for at, found in enumerate(hashes) if found != hashes[0]), None)
        manifests = [read_manifest(files[at].read_bytes()) for at in (0, other or 0)]
        differing = differences(manifests[0], manifests[1])
    if other is None:
        click.echo(f"{builds} builds, 1 hash: {hashes[0]}")
        return
    click.echo(
        f"{builds} builds, {len(set(hashes))} hashes; builds 1 and {other + 1} differ in {', '.join(differing) or 'padding'}"
    )
    sys.exit(1)


def _built(model: Path, folder: Path, target: str) -> Path:
    """The engine that a process of its own builds. Python's hashes of texts, which order its sets, differ from one to the next."""
    folder.mkdir()
    command = [sys.executable, "-c", _PROGRAM, "compile", str(model), "-o", "m.dlce", "--target", target]
    environment = {**os.environ, "DLC_CACHE_DIR": "", "PYTHONHASHSEED": "random"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TargetError(done.stderr.strip().removeprefix("error: "))
    return folder / "m.dlce"


def differences(one: Any, other: Any, place: str = "") -> Sequence[str]:
    """Where two values of JSON differ, as `variants.0.code.sha256`."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = [(key, one[key], other[key]) for key in one]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(str(index), *pair) for index, pair in enumerate(zip(one, other, strict=True))]
    else:
        return [] if one == other else [place]
    return [found for key, first, second in pairs for found in differences(first, second, f"{place}.{key}".lstrip("."))]

"""`dlc targets`: the machines that code can be made for, and those whose code this machine runs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import click
from rich.table import Table

from dlc.targets.base import Target
from dlc.targets.machine import GpuMachine, Machine
from dlc.targets.registry import targets
from dlc.tools.commands.terminal import output_console

_KIB = 1024


@dataclass(frozen=True)
class ListedTarget:
    """A row: the name for `--target`, what the machine is, what `dlc compile` writes for it, and why it cannot run here, if so."""

    name: str
    machine: str
    emits: tuple[str, ...]
    obstacle: str


@click.command("targets")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the machines that --target takes.

    Code for each can be made on any machine; those without an obstacle run on this one.
    """
    rows = [_listed(target, name) for target in targets() for name in target.names()]
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    table = Table("target", "machine", "runs here", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row.name, row.machine, f"no: {row.obstacle}" if row.obstacle else "yes")
    output_console().print(table)
    for target in targets():
        click.echo(f"dlc compile --target {target.name} takes --emit={'|'.join(_forms(target))}")


def _listed(target: Target, name: str) -> ListedTarget:
    return ListedTarget(name, _shown(target.machine(name)), _forms(target), target.obstacle(name))


def _forms(target: Target) -> tuple[str, ...]:
    """What `dlc compile` writes for the target: the levels, and the forms below the last one."""
    return (*target.stages, *target.forms)


def _shown(machine: Machine | GpuMachine) -> str:
    """The figures of a machine that tell it from its neighbours."""
    if isinstance(machine, GpuMachine):
        shared = machine.shared_per_multiprocessor // _KIB
        return f"{machine.chip}, {machine.multiprocessors} multiprocessors, {shared} KiB of shared memory each"
    cores = f"{machine.cores} core{'s' if machine.cores > 1 else ''}"
    return f"{machine.arch}, vectors of {machine.vector_bits} bits, L2 of {machine.l2_bytes // _KIB} KiB, {cores}"

"""`dlc cache`: the compilation cache on disk."""

from __future__ import annotations

import click

from dlc.targets.disk_cache import DiskCache, default_cache
from dlc.tools.commands.terminal import output_console


@click.group("cache")
def command() -> None:
    """Show or empty the cache of compiled code.

    It lies in DLC_CACHE_DIR (by default dlc in the user's cache folder; empty: no cache) and holds at most about
    DLC_CACHE_SIZE (by default 2G).
    """


@command.command("info")
def info() -> None:
    """Show where the cache is and what it holds."""
    cache = _cache()
    if cache is None:
        return
    found = cache.info()
    console = output_console()
    console.print(f"folder: {found.folder}", soft_wrap=True)
    console.print(f"entries: {found.entries}, {found.size / 1e6:.1f} MB of at most {found.limit / 1e6:.0f} MB")


@command.command("clear")
def clear() -> None:
    """Remove everything from the cache."""
    cache = _cache()
    if cache is not None:
        count = cache.clear()
        click.echo(f"removed {count} {'entry' if count == 1 else 'entries'}")


def _cache() -> DiskCache | None:
    cache = default_cache()
    if cache is None:
        click.echo("there is no cache: DLC_CACHE_DIR is empty, or DLC_CACHE_SIZE is 0")
    return cache

"""`python -m dlc_runtime.serving`: `dlc serve` where the compiler is not installed."""

from __future__ import annotations

import sys

import click

from ..errors import DLCError
from .command import command


def main() -> None:
    """Serve; errors are one message and exit status 1."""
    try:
        command.main(prog_name=f"python -m {__package__}", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(1)
    except DLCError as error:
        click.echo(str(error) if "error:" in str(error) else f"error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

"""`dlc`: imports, compiles, runs and checks whole models. Each subcommand is a file of `tools/commands/`."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import click

import dlc
from dlc.errors import DLCError
from dlc.tools.user_warnings import show_user_warnings

_COMMANDS = Path(__file__).parent / "commands"


class _Commands(click.Group):
    """Subcommands found by listing the folder; a command's module is imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        files = sorted(_COMMANDS.glob("*_command.py"))
        return [file.stem.removesuffix("_command").replace("_", "-") for file in files]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        found: click.Command = importlib.import_module(f"dlc.tools.commands.{name.replace('-', '_')}_command").command
        return found


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(dlc.__version__, prog_name="dlc")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """A deep-learning compiler: ONNX models and dl modules to machine code, with every level readable.

    Passes and single levels: see dlc-opt.
    """
    del debug  # read by main, which also sees errors that happen before this runs


def main() -> None:
    """Run the command line; errors are one message and exit status 1, without a traceback unless --debug."""
    show_user_warnings()
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        cli.main(args=arguments, prog_name="dlc", standalone_mode=False)
    except click.exceptions.Exit as exit_:
        sys.exit(exit_.exit_code)
    except click.Abort:
        click.echo("dlc: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(1)
    except DLCError as error:
        _fail(str(error), debug)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}error: {error.strerror or error}", debug)
    except MemoryError:
        _fail("error: out of memory", debug)
    except Exception as error:  # the last line of defence: a bug in dlc is still one message
        message = f"error: internal error: {type(error).__name__}: {error}; rerun with --debug for the traceback"
        _fail(message, debug)


def _fail(message: str, debug: bool) -> None:
    """End with a message, from within an except clause: `debug` lets the exception go on to its traceback."""
    if debug:
        raise
    prefix = "" if "error:" in message else "error: "
    click.echo(f"{prefix}{message}", err=True)
    sys.exit(1)

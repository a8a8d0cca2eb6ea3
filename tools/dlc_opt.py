"""dlc-opt: reads MLIR, runs passes on it, prints it; the flags are those of mlir-opt.

The process that starts reads the input and forks a child that does the work, so that a crash of a native pass ends in
a message and a reproducer. It imports nothing heavy itself.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dlc.diagnostics import Diagnostic
from dlc.errors import DLCError
from dlc.tools.opt_files import read_input, write_output
from dlc.tools.opt_options import OptOptions, parse_arguments
from dlc.tools.supervisor import PASS_FAILED, REPORTED, Outcome, Stopped, run_child


def main(argv: Sequence[str] | None = None) -> int:
    """Run dlc-opt with these arguments (the process's own by default); returns the exit status."""
    try:
        options = parse_arguments(sys.argv[1:] if argv is None else argv)
        if options.help or options.version or options.list_passes or options.show_dialects:
            return _print_facts(options)
        data = read_input(options.input)
        outcome = run_child(lambda: _work(options, data))
        return _report(outcome, options, data)
    except DLCError as error:
        print(error, file=sys.stderr)
        return 1
    except Stopped as stop:
        return stop.status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _print_facts(options: OptOptions) -> int:
    from dlc.tools import opt_help

    if options.load_pass_plugin:
        from dlc.tools.opt_driver import load_plugins

        load_plugins(options.load_pass_plugin)
    if options.help:
        text = opt_help.help_text()
    elif options.list_passes:
        text = opt_help.pass_list()
    elif options.show_dialects:
        text = opt_help.dialect_list()
    else:
        text = opt_help.version_text()
    write_output("-", f"{text}\n".encode())
    return 0


def _work(options: OptOptions, data: bytes, recorder_file: Path | None = None) -> int:
    """What the child does: everything from parsing to writing the output. Returns its exit status."""
    from dlc.tools.opt_driver import OptDriver, load_plugins
    from dlc.tools.user_warnings import show_user_warnings

    show_user_warnings()
    try:
        load_plugins(options.load_pass_plugin)
        driver = OptDriver(options, data, recorder_file)
        output = driver.run()
        if recorder_file is None and (options.output == "-" or not driver.failed):
            write_output(options.output, output)
    except DLCError as error:
        print(error, file=sys.stderr)
        return REPORTED
    if not driver.failed:
        return 0
    return PASS_FAILED if driver.pass_failed else REPORTED


def _report(outcome: Outcome, options: OptOptions, data: bytes) -> int:
    """Say what the child could not say itself, and leave a reproducer; returns the exit status of the tool."""
    wanted = options.mlir_pass_pipeline_crash_reproducer
    if outcome.status == 0 and outcome.signal is None:
        return 0
    if outcome.crashed() or outcome.signal is not None:
        reproducer = _record(options, data) if outcome.crashed() else None
        what = f"pass '{_pass_in(reproducer)}'" if reproducer else "dlc-opt"
        input_name = "<stdin>" if options.input == "-" else options.input
        print(Diagnostic("error", f"{what} crashed ({outcome.reason()})", input_name).header(), file=sys.stderr)
        _keep(reproducer, wanted, options)
    elif outcome.status == PASS_FAILED and wanted is not None:
        _keep(_record(options, data), wanted, options)
    return 1


def _record(options: OptOptions, data: bytes) -> str | None:
    """Run once more, keeping the IR before each pass; the reproducer of the pass that fails, or None."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "reproducer.mlir"
        run_child(lambda: _work(options, data, file), quiet=True)
        return file.read_text(encoding="utf-8") if file.exists() else None


def _pass_in(reproducer: str) -> str:
    from dlc.tools.reproducer import reproducer_pass

    return reproducer_pass(reproducer)


def _keep(reproducer: str | None, wanted: str | None, options: OptOptions) -> None:
    """Write the reproducer to the file that was asked for, or to a new one, and print the command that replays it."""
    from dlc.tools.reproducer import default_reproducer_path

    if reproducer is None:
        print("note: the same command again, without passes, tells whether reading or printing fails", file=sys.stderr)
        return
    path = wanted or str(default_reproducer_path(reproducer))
    write_output(path, reproducer.encode())
    command = ["dlc-opt", "--run-reproducer"]
    command += ["--allow-unregistered-dialect"] * options.allow_unregistered_dialect
    command += [f"--load-pass-plugin={file}" for file in options.load_pass_plugin]
    print(f"note: reproducer written; replay with: {shlex.join([*command, path])}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

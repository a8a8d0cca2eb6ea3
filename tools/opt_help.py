"""What dlc-opt can tell about itself: help, lists of passes and dialects, versions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

from dlc.lowering.pipelines import PIPELINES, STAGES
from dlc.lowering.registry import PLUGINS, OptionEntry, PassEntry, native_passes, passes
from dlc.tools.opt_options import flags

_INDENT = 44
_WIDTH = 120
_UNBOUND_DIALECTS = ("arm_neon", "arm_sme", "arm_sve", "dlti", "mpi", "pdl_interp", "ptr", "quant", "vcix", "xegpu")
"""Dialects that a build may have without a Python module of its own; `dialect_list` probes them."""


def help_text() -> str:
    """Usage, flags, passes by folder with their options, and named pipelines."""
    parts = [
        "usage: dlc-opt [flags and passes] [input file, or - for standard input]\n\n"
        "Reads MLIR text or bytecode, runs passes in the order of their flags, prints the result.\n"
        'Options of a pass: --pass-name="a=b c=d". Lists: a=1,2,3.',
        "\n".join(["flags:", *_flag_lines()]),
        *("\n".join(section) for section in _pass_sections(with_options=True)),
        "\n".join(["named pipelines (flags and elements of --pass-pipeline):", *_pipeline_lines(with_passes=True)]),
        f"stages of --compile-from and --compile-to: {', '.join(STAGES)}",
        f"Every pass of upstream MLIR is available by its name, too ({len(native_passes())} of them: --list-passes).",
    ]
    return "\n\n".join(parts)


def pass_list() -> str:
    """All passes by folder, named pipelines, and the names of upstream's passes."""
    upstream = _filled(native_passes(), " ", 2)
    parts = [*_pass_sections(with_options=False), ["named pipelines:", *_pipeline_lines(with_passes=False)]]
    return "\n\n".join(["\n".join(part) for part in parts] + [f"upstream's passes:\n{upstream}"])


def dialect_list() -> str:
    """Names of the dialects that can be loaded."""
    import pkgutil

    import dlc._mlir as bindings
    from dlc.dialects import make_context

    folder = bindings.load("dialects")
    bound = {info.name for info in pkgutil.iter_modules(folder.__path__)}
    context = make_context()

    def is_available(name: str) -> bool:
        try:
            context.get_dialect_descriptor(name)
        except ValueError:
            return False
        return True

    found = sorted(name for name in {*bound, *_UNBOUND_DIALECTS, "builtin", "dl"} if is_available(name))
    return "Available Dialects:\n" + "\n".join(found)


def version_text() -> str:
    """The version of dlc, and what the installed bindings are and can do."""
    import dlc
    from dlc._mlir import capabilities

    return "\n".join([f"dlc {dlc.__version__}", *capabilities().lines()])


def _row(left: str, right: str) -> str:
    """Two columns; a long left one gets its own line, a long right one is wrapped."""
    pad = " " * _INDENT
    wrapped = textwrap.wrap(right, _WIDTH - _INDENT) or [""]
    first = f"{left:<{_INDENT}}{wrapped[0]}" if len(left) < _INDENT else f"{left}\n{pad}{wrapped[0]}"
    return "\n".join([first.rstrip(), *(pad + line for line in wrapped[1:])])


def _filled(words: Iterable[str], separator: str, indent: int) -> str:
    pad = " " * indent
    return textwrap.fill(separator.join(words), _WIDTH, initial_indent=pad, subsequent_indent=pad, break_on_hyphens=False)


def _option_row(option: OptionEntry) -> str:
    return _row(f"    {option.name}=<{option.kind}>", f"{option.help} (default: {option.default})")


def _flag_lines() -> Iterator[str]:
    for name, field in sorted(flags().items()):
        metavar = field.metadata["metavar"]
        yield _row(f"  --{name}=<{metavar}>" if metavar else f"  --{name}", field.metadata["help"])


def _pass_sections(with_options: bool) -> Iterator[list[str]]:
    def folder(entry: PassEntry) -> str:
        return entry.folder

    for name, entries in groupby(sorted(passes().values(), key=folder), folder):
        lines = ["passes of plugins:" if name == PLUGINS else f"passes of lowering/{name}:"]
        for entry in entries:
            lines.append(_row(f"  --{entry.name}", entry.summary()))
            if with_options:
                lines += [_option_row(option) for option in entry.options()]
        yield lines


def _pipeline_lines(with_passes: bool) -> Iterator[str]:
    for name, pipeline in PIPELINES.items():
        yield _row(f"  --{name}", pipeline.summary)
        if with_passes:
            yield _filled(pipeline.passes, ", ", 4)

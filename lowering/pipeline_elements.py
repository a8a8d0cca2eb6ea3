"""What a pipeline is made of, and the check that each element exists, takes its options and fits its anchor."""

from __future__ import annotations

import functools
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dlc._mlir import ir, passmanager
from dlc.diagnostics import did_you_mean
from dlc.lowering.options import OptionSyntaxError, parse_options, split_options
from dlc.lowering.pass_base import OptionError, Pass
from dlc.lowering.pipeline_text import PipelineNode, PipelineSource
from dlc.lowering.pipelines import PIPELINES
from dlc.lowering.registry import find_pass, native_passes, passes

_RESTRICTED = re.compile(r"restricted to '([^']+)' on a PassManager")
_NO_OPTION = re.compile(r"no such option (\S+)")
_BAD_VALUE = re.compile(r"for the --(\S+) option: (.*)")
_PRINTED_OPTION = re.compile(r"([\w-]+)=")


@dataclass(frozen=True)
class NativePass:
    """One of upstream's passes, with its options as pipeline text."""

    pass_name: str
    options: str = ""

    def name(self) -> str:
        """The pass's name in pipeline text."""
        return self.pass_name

    def __str__(self) -> str:
        return f"{self.pass_name}{{{self.options}}}" if self.options else self.pass_name


@dataclass(frozen=True)
class Resolved:
    """A pass that exists and takes its options, and the op it runs on ("" for any op)."""

    element: Pass | NativePass
    anchor: str


def known_names() -> list[str]:
    """Every name that pipeline text may use: Python passes, named pipelines, upstream's passes."""
    return [*passes(), *PIPELINES, *native_passes()]


def resolve(node: PipelineNode, anchor: str, source: PipelineSource) -> Resolved:
    """The pass that `node` names, in a pipeline on `anchor`; `PassError` locates an unknown pass or an unfit option."""
    python_pass = find_pass(node.name)
    if python_pass is not None:
        return Resolved(_python_element(python_pass, node, source), python_pass.anchor)
    options = " ".join(node.options.split())
    problem = _native_problem(anchor, node.name, options)
    restricted = _RESTRICTED.search(problem)
    if restricted is not None:
        problem = _native_problem(restricted[1], node.name, options)  # upstream looks at options last
    if restricted is not None and not problem:
        return Resolved(NativePass(node.name, options), restricted[1])
    if problem:
        raise _native_error(node, problem, source)
    on_function = native_passes().get(node.name, "") if anchor == "builtin.module" else ""
    return Resolved(NativePass(node.name, options), on_function)


def _python_element(python_pass: type[Pass], node: PipelineNode, source: PipelineSource) -> Pass:
    try:
        return python_pass.from_options(parse_options(node.options))
    except OptionSyntaxError as error:
        raise source.error(node.options_offset + error.offset, error.message) from None
    except OptionError as error:
        raise source.error(_option_offset(node, error.option), str(error)) from None


def _option_offset(node: PipelineNode, option: str) -> int:
    offsets = (item.offset for item in split_options(node.options) if item.name == option)
    return node.options_offset + next(offsets, 0) if node.options else node.offset


def _native_error(node: PipelineNode, problem: str, source: PipelineSource) -> Exception:
    if "does not refer to a registered pass" in problem:
        return source.error(node.offset, f"no pass is called '{node.name}'{did_you_mean(node.name, known_names())}")
    unknown = _NO_OPTION.search(problem)
    if unknown is not None:
        known = native_options(node.name)
        hint = did_you_mean(unknown[1], known) or f" (options: {', '.join(known) or 'none'})"
        return source.error(_option_offset(node, unknown[1]), f"pass '{node.name}' has no option '{unknown[1]}'{hint}")
    unfit = _BAD_VALUE.search(problem)
    if unfit is not None:
        message = f"unfit value for option '{unfit[1]}' of pass '{node.name}': {unfit[2]}"
        return source.error(_option_offset(node, unfit[1]), message)
    reason = next((line for line in problem.splitlines() if line.strip()), "no reason given")
    return source.error(node.offset, f"pass '{node.name}' can't be used here: {reason}")


@functools.lru_cache(maxsize=1)
def _scratch_context() -> ir.Context:
    """A context for looking passes up; nothing is parsed in it."""
    return ir.Context()


@functools.lru_cache(maxsize=1024)
def _native_problem(anchor: str, name: str, options: str) -> str:
    """What upstream says against the pass with these options on `anchor`; "" when it is fine."""
    text = f"{anchor}({NativePass(name, options)})"
    with _caught_stderr() as caught:
        try:
            passmanager.PassManager.parse(text, _scratch_context())
        except ValueError as error:
            return f"{error}\n{caught()}"
    return ""


@functools.lru_cache(maxsize=64)
def native_options(name: str) -> tuple[str, ...]:
    """Names of the options of an upstream pass, read from how it prints itself."""
    for anchor in ("any", "builtin.module", "func.func"):
        if not _native_problem(anchor, name, ""):
            shown = str(passmanager.PassManager.parse(f"{anchor}({name})", _scratch_context()))
            return tuple(dict.fromkeys(_PRINTED_OPTION.findall(shown)))
    return ()


_STDERR_LOCK = threading.Lock()


@contextmanager
def _caught_stderr() -> Iterator[Callable[[], str]]:
    """Catch what is written to file descriptor 2: upstream prints there why an option's value does not fit."""
    with _STDERR_LOCK, tempfile.TemporaryFile() as file:
        sys.stderr.flush()
        saved = os.dup(2)
        os.dup2(file.fileno(), 2)

        def caught() -> str:
            file.seek(0)
            return file.read().decode(errors="replace")

        try:
            yield caught
        finally:
            os.dup2(saved, 2)
            os.close(saved)

"""The flags of dlc-opt: each field of `OptOptions` is one, spelt with hyphens; every other flag is a pass."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dlc.diagnostics import Diagnostic
from dlc.errors import InvalidInputError


def _flag(default: Any, help: str, metavar: str = "") -> Any:
    return dataclasses.field(default=default, metadata={"help": help, "metavar": metavar})


@dataclass(frozen=True)
class PassFlag:
    """A pass given as a flag: its text as a pipeline element, and the argument it came from."""

    text: str
    argument: int


@dataclass(frozen=True)
class OptOptions:
    """What the command line asks for. Flags take one dash or two, and `--flag=value` or `--flag value`."""

    argv: tuple[str, ...] = ()
    input: str = "-"
    passes: tuple[PassFlag, ...] = ()

    output: str = _flag("-", "write to this file; it stays as it is when there is an error (-o)", "file")
    pass_pipeline: str | None = _flag(None, "passes to run, e.g. builtin.module(canonicalize,func.func(cse))", "text")
    compile_to: str | None = _flag(None, "run the named pipelines up to this stage", "stage")
    compile_from: str | None = _flag(None, "stage that the input is at (default: its ops tell)", "stage")
    split_input_file: bool = _flag(False, "treat each part between lines `// -----` as a file of its own")
    verify_diagnostics: bool = _flag(False, "check that the diagnostics are those of the expected-* comments")
    verify_each: bool = _flag(True, "verify after each pass (default: true)")
    allow_unregistered_dialect: bool = _flag(False, "accept ops of unknown dialects")
    no_implicit_module: bool = _flag(False, "read one top-level op instead of putting a module around the input")
    emit_bytecode: bool = _flag(False, "write bytecode instead of text")
    mlir_elide_elementsattrs_if_larger: int | None = _flag(None, "elide dense constants with more elements", "n")
    mlir_elide_resource_strings_if_larger: int | None = _flag(None, "elide resources with longer text", "n")
    mlir_print_skip_regions: bool = _flag(False, "print ops without what is inside them")
    mlir_print_op_generic: bool = _flag(False, "print the generic form of all ops")
    mlir_print_debuginfo: bool = _flag(False, "print locations")
    mlir_print_local_scope: bool = _flag(False, "print without aliases")
    mlir_print_ir_before: tuple[str, ...] = _flag((), "print the IR before these passes", "pass")
    mlir_print_ir_after: tuple[str, ...] = _flag((), "print the IR after these passes", "pass")
    mlir_print_ir_before_all: bool = _flag(False, "print the IR before each pass")
    mlir_print_ir_after_all: bool = _flag(False, "print the IR after each pass")
    mlir_print_ir_after_change: bool = _flag(False, "print the IR after each pass that changed it")
    mlir_print_ir_after_failure: bool = _flag(False, "print the IR after a pass that failed")
    mlir_print_ir_module_scope: bool = _flag(False, "print the whole module, not only the op the pass ran on")
    mlir_print_ir_tree_dir: str | None = _flag(None, "print the IR into a tree of files below this folder", "folder")
    mlir_timing: bool = _flag(False, "print the time each pass took")
    mlir_timing_display: str = _flag(
        "tree", "order of what --mlir-timing prints: tree (as they ran) or list (longest first)", "form"
    )
    mlir_disable_threading: bool = _flag(False, "accepted for the sake of scripts: passes run on one thread")
    mlir_generate_reproducer: str | None = _flag(
        None, "write the input and the pipeline, a reproducer, to this file before it runs", "file"
    )
    irdl_file: tuple[str, ...] = _flag((), "IRDL files with further dialects", "file")
    verify_roundtrip: bool = _flag(False, "check that the output, as text and as bytecode, reads back as it is")
    mlir_pass_pipeline_crash_reproducer: str | None = _flag(
        None, "write the IR before a failing pass, and that pass, to this file", "file"
    )
    print_proof: bool = _flag(False, "passes that reorder loops print what they did and why it is legal")
    run_reproducer: bool = _flag(False, "run the pipeline that the input, a reproducer, holds")
    load_pass_plugin: tuple[str, ...] = _flag((), "Python files with further passes", "file")
    dump_pass_pipeline: bool = _flag(False, "print the pipeline that is run")
    list_passes: bool = _flag(False, "list the passes and named pipelines of dlc")
    show_dialects: bool = _flag(False, "list the dialects that are available")
    version: bool = _flag(False, "print the versions of dlc and of MLIR")
    help: bool = _flag(False, "print this help (-h)")


_ALIASES = {"o": "output", "h": "help"}
_UNFLAGGED = {"argv", "input", "passes"}


def flags() -> dict[str, dataclasses.Field[Any]]:
    """Fields of `OptOptions` by the flag that sets them."""
    fields = (field for field in dataclasses.fields(OptOptions) if field.name not in _UNFLAGGED)
    return {field.name.replace("_", "-"): field for field in fields}


def argument_error(argv: Sequence[str], index: int, message: str) -> InvalidInputError:
    """An error with a caret at argument `index` of the command line."""
    words = ["dlc-opt", *(shlex.quote(argument) for argument in argv)]
    column = sum(len(word) + 1 for word in words[: index + 1]) + 1
    return InvalidInputError("", [Diagnostic("error", message, "<command line>", 1, column)], " ".join(words))


def parse_arguments(argv: Sequence[str]) -> OptOptions:
    """Read the command line; `InvalidInputError` points at the argument that does not fit."""
    return _Arguments(argv).parse()


class _Arguments:
    def __init__(self, argv: Sequence[str]) -> None:
        self.argv = tuple(argv)
        self.index = 0
        self.values: dict[str, Any] = {"argv": self.argv}
        self.passes: list[PassFlag] = []
        self.flags = flags()

    def parse(self) -> OptOptions:
        while self.index < len(self.argv):
            self._argument(self.argv[self.index])
            self.index += 1
        return OptOptions(**self.values, passes=tuple(self.passes))

    def error(self, message: str) -> InvalidInputError:
        return argument_error(self.argv, self.index, message)

    def _argument(self, argument: str) -> None:
        if argument == "-" or not argument.startswith("-"):
            if "input" in self.values:
                raise self.error(f"there is an input already: '{self.values['input']}'")
            self.values["input"] = argument
            return
        name, equals, text = argument.lstrip("-").partition("=")
        name = _ALIASES.get(name, name)
        field = self.flags.get(name)
        if field is None:
            self._pass_flag(name, text)
            return
        self.values[field.name] = self._value(field, name, text if equals else None)
        if name == "compile-to":
            self.passes.append(PassFlag("", self.index))

    def _pass_flag(self, name: str, options: str) -> None:
        options = options[1:-1] if options.startswith("{") and options.endswith("}") else options
        self.passes.append(PassFlag(f"{name}{{{options}}}" if options else name, self.index))

    def _value(self, field: dataclasses.Field[Any], name: str, text: str | None) -> Any:
        if isinstance(field.default, bool):
            return self._bool(name, text)
        if text is None:
            if self.index + 1 == len(self.argv):
                raise self.error(f"flag '--{name}' needs a value: --{name}=<{field.metadata['metavar']}>")
            self.index += 1
            text = self.argv[self.index]
        if field.metadata["metavar"] == "n":
            return self._count(name, text)
        if isinstance(field.default, tuple):
            return (*self.values.get(field.name, ()), *(item for item in text.split(",") if item))
        return text

    def _bool(self, name: str, text: str | None) -> bool:
        if text is None or text.lower() in ("true", "1"):
            return True
        if text.lower() in ("false", "0"):
            return False
        raise self.error(f"flag '--{name}' expects true or false but got '{text}'")

    def _count(self, name: str, text: str) -> int:
        if not text.isdecimal():
            raise self.error(f"flag '--{name}' expects a number but got '{text}'")
        return int(text)

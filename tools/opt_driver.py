"""The driver behind dlc-opt: one input through a pipeline to one output."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dlc.diagnostics import Diagnostic, at_location
from dlc.errors import DLCError, InvalidInputError, ParseError, PassError
from dlc.tools.opt_options import OptOptions, argument_error, parse_arguments

if TYPE_CHECKING:
    from dlc._mlir import ir
    from dlc.lowering.pipeline import Pipeline

SPLIT_MARKER = "// -----"


def run_command_line(argv: Sequence[str]) -> int:
    """dlc-opt with these arguments; errors go to standard error. Returns the exit status."""
    try:
        options = parse_arguments(argv)
        data = read_input(options.input)
        driver = OptDriver(options, data)
        output = driver.run()
        if driver.failed:
            if options.output == "-":
                sys.stdout.buffer.write(output)
            return 1
        write_output(options.output, output)
    except DLCError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def read_input(name: str) -> bytes:
    """The bytes of a file or, for `-`, of standard input; `ParseError` when it can't be read."""
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ParseError("", [Diagnostic("error", f"can't read the input: {reason}", name)]) from None


def write_output(name: str, output: bytes) -> None:
    """Write to a file, all or nothing, or to standard output for `-`; `InvalidInputError` when it can't be written."""
    if name == "-":
        sys.stdout.buffer.write(output)
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(output)
            return
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        partial.write_bytes(output)
        partial.replace(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidInputError("", [Diagnostic("error", f"can't write the output: {reason}", name)]) from None


class OptDriver:
    """Runs the pipeline that the options ask for on each part of one input.

    `run` returns what to print; `failed` then tells whether an error was reported (to standard error).
    """

    def __init__(self, options: OptOptions, data: bytes) -> None:
        self.options, self.data, self.failed = options, data, False
        self.name = "<stdin>" if options.input == "-" else options.input

    def run(self) -> bytes:
        from dlc.dialects.reading import BYTECODE_MAGIC, decode

        pipeline = self.pipeline()
        if self.options.dump_pass_pipeline:
            print(f"Pass Manager with {len(pipeline)} passes:\n{pipeline}", file=sys.stderr)
        if self.data.startswith(BYTECODE_MAGIC):
            return self._process(self.data, pipeline)
        text = decode(self.data, self.name)
        if not self.options.split_input_file:
            return self._process(text, pipeline)
        outputs = [self._process(chunk, pipeline) for chunk in split_chunks(text)]
        return f"{SPLIT_MARKER}\n".encode().join(outputs)

    def _process(self, source: str | bytes, pipeline: Pipeline) -> bytes:
        """The output of one part; errors are reported or, under --verify-diagnostics, compared with what is expected."""
        from dlc.tools.diagnostics_verifier import DiagnosticsVerifier

        text = source if isinstance(source, str) else None
        found: list[Diagnostic] = []
        output = b""
        try:
            output = self._lower(source, pipeline, found)
        except DLCError as error:
            found += [item.in_file(self.name) for item in error.diagnostics] or [Diagnostic("error", str(error), self.name)]
        if self.options.verify_diagnostics and text is not None:
            found = DiagnosticsVerifier(text, self.name).mismatches(found)
        for diagnostic in found:
            print(diagnostic.render(text), file=sys.stderr)
        if any(item.severity == "error" for item in found):
            self.failed = True
            return b""
        return output

    def _lower(self, source: str | bytes, pipeline: Pipeline, found: list[Diagnostic]) -> bytes:
        from dlc.dialects import make_context
        from dlc.dialects.reading import parse_module

        context = make_context(self.options.allow_unregistered_dialect)

        def collect(diagnostic: ir.Diagnostic) -> bool:
            severity = str(diagnostic.severity).rsplit(".", 1)[-1].lower()
            found.append(at_location(diagnostic.location, diagnostic.message, severity).in_file(self.name))
            return True

        context.attach_diagnostic_handler(collect)
        whole_file = Path(self.name).is_file() and not self.options.split_input_file
        module = parse_module(source, self.name, context, Path(self.name) if whole_file else None)
        pipeline.run(module, verify=self.options.verify_each)
        return self._print(module.operation)

    def pipeline(self) -> Pipeline:
        """The pipeline that the command line asks for; `PassError` locates what is wrong with it."""
        from dlc.lowering.pipeline import Pipeline

        options = self.options
        if options.pass_pipeline is not None:
            if options.passes:
                message = "flags of passes can't be used together with --pass-pipeline"
                raise argument_error(options.argv, options.passes[0].argument, message)
            return Pipeline.parse(options.pass_pipeline, "<pass-pipeline>")
        pipeline = Pipeline()
        for flag in options.passes:
            try:
                if flag.text:
                    pipeline.append(flag.text)
                else:
                    for element in Pipeline.between(options.compile_from or "dl", options.compile_to or ""):
                        pipeline.append(element)
            except PassError as error:
                message = error.diagnostics[0].message if error.diagnostics else str(error)
                raise argument_error(options.argv, flag.argument, message) from None
        return pipeline

    def _print(self, op: ir.Operation) -> bytes:
        options = self.options
        if options.emit_bytecode:
            import io

            buffer = io.BytesIO()
            op.write_bytecode(buffer)
            return buffer.getvalue()
        text = op.get_asm(
            large_elements_limit=options.mlir_elide_elementsattrs_if_larger,
            large_resource_limit=options.mlir_elide_resource_strings_if_larger,
            enable_debug_info=options.mlir_print_debuginfo,
            print_generic_op_form=options.mlir_print_op_generic,
            use_local_scope=options.mlir_print_local_scope,
        )
        return (text if text.endswith("\n") else f"{text}\n").encode()


def split_chunks(text: str) -> list[str]:
    """The parts between lines `// -----`, each padded with empty lines so that it keeps its line numbers."""
    chunks, lines, start = [], text.split("\n"), 0
    for number, line in enumerate([*lines, SPLIT_MARKER]):
        if line.startswith(SPLIT_MARKER):
            chunks.append("\n" * start + "\n".join(lines[start:number]))
            start = number + 1
    return chunks

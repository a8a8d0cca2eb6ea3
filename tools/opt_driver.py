"""The driver behind dlc-opt: one input through a pipeline to one output."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from dlc._mlir import ir, irdl
from dlc.diagnostics import Diagnostic, at_location, did_you_mean
from dlc.dialects import make_context
from dlc.dialects.reading import BYTECODE_MAGIC, decode, parse_module, parse_operation
from dlc.errors import DLCError, InvalidInputError, PassError
from dlc.lowering.pipeline import ROOT, Pipeline
from dlc.lowering.pipeline_elements import known_names
from dlc.lowering.pipeline_run import Instrument
from dlc.lowering.pipelines import STAGES
from dlc.lowering.reproducer import reproducer
from dlc.lowering.stages import stage_of
from dlc.tools.diagnostics_verifier import DiagnosticsVerifier
from dlc.tools.mlir_opt_flags import MLIR_OPT_FLAGS
from dlc.tools.opt_files import read_input, write_output
from dlc.tools.opt_instruments import IRPrinter, Timing, assembly, prints_ir
from dlc.tools.opt_options import OptOptions, argument_error, flags
from dlc.tools.reproducer import ReproducerRecorder, reproducer_pipeline, reproducer_verifies
from dlc.tools.roundtrip import check_roundtrip

SPLIT_MARKER = "// -----"
_DISPLAYS = ("tree", "list")
_DUMPED_LINES = 8
_REPRODUCER_RESOURCE = "external resources for 'mlir_reproducer'"
"""Upstream's parser warns that it knows no such resource; the driver reads it itself."""


class OptDriver:
    """Runs the pipeline that the options ask for on each part of one input, in this process.

    `run` returns what to print. Errors in the input and of passes are reported to standard error; `failed` then is true,
    and `pass_failed` tells whether one of them was a pass's. Errors of the command line are raised.
    """

    def __init__(self, options: OptOptions, data: bytes, recorder_file: Path | None = None) -> None:
        self.options, self.data, self.recorder_file = options, data, recorder_file
        self.name = "<stdin>" if options.input == "-" else options.input
        self.failed = self.pass_failed = False
        if options.mlir_timing_display not in _DISPLAYS:
            message = f"'{options.mlir_timing_display}' is no form; give {' or '.join(_DISPLAYS)}"
            raise InvalidInputError("", [Diagnostic("error", message, "--mlir-timing-display")])
        self.timing = Timing(options.mlir_timing_display == "list") if options.mlir_timing else None
        self.verify = options.verify_each
        self._start = options.compile_from or STAGES[0]

    def run(self) -> bytes:
        """Process all parts; the output of parts with errors is left out. `DLCError` when nothing can be run."""
        is_text = not self.data.startswith(BYTECODE_MAGIC)
        text = decode(self.data, self.name) if is_text else ""
        by_input = self.options.no_implicit_module or self._starts_where_input_is()
        pipeline = None if by_input else self.pipeline(text)
        if not is_text:
            output = self._process(self.data, pipeline)
        elif self.options.split_input_file:
            outputs = [self._process(chunk, pipeline) for chunk in split_chunks(text)]
            output = f"{SPLIT_MARKER}\n".encode().join(outputs)
        else:
            output = self._process(text, pipeline)
        if self.timing is not None:
            print(self.timing.report(), file=sys.stderr)
        return output

    def _starts_where_input_is(self) -> bool:
        return self.options.compile_to is not None and self.options.compile_from is None

    def pipeline(self, text: str, anchor: str = ROOT) -> Pipeline:
        """The pipeline that the command line (or the input, a reproducer) asks for; an error locates what is wrong."""
        pipeline = self._pipeline(text, anchor)
        if self.options.print_proof:
            pipeline.turn_on("print_proof")
        if self.options.dump_pass_pipeline:
            print(f"Pass Manager with {len(pipeline)} passes:\n{pipeline}", file=sys.stderr)
        return pipeline

    def _pipeline(self, text: str, anchor: str) -> Pipeline:
        options = self.options
        for name in (*options.mlir_print_ir_before, *options.mlir_print_ir_after):
            if name not in known_names():
                message = f"no pass is called '{name}'{did_you_mean(name, known_names())}"
                raise InvalidInputError("", [Diagnostic("error", message, "--mlir-print-ir-before/after")])
        if options.compile_from is not None and options.compile_to is None:
            raise InvalidInputError("", [Diagnostic("error", "needs --compile-to=<stage>, too", "--compile-from")])
        whole = "--run-reproducer" if options.run_reproducer else "--pass-pipeline"
        if options.passes and (options.run_reproducer or options.pass_pipeline is not None):
            message = f"flags of passes can't be used together with {whole}"
            raise argument_error(options.argv, options.passes[0].argument, message)
        if options.run_reproducer:
            self.verify = self.verify and reproducer_verifies(text)
            return Pipeline.parse(reproducer_pipeline(text, self.name), "<reproducer>", anchor)
        if options.pass_pipeline is not None:
            return Pipeline.parse(options.pass_pipeline, "<pipeline>", anchor)
        pipeline = Pipeline((), anchor)
        for flag in options.passes:
            self._append_flag(pipeline, flag.text, flag.argument)
        return pipeline

    def _append_flag(self, pipeline: Pipeline, text: str, argument: int) -> None:
        options = self.options
        try:
            if text:
                pipeline.append(text)
                return
            for element in Pipeline.between(self._start, options.compile_to or ""):
                pipeline.append(element)
        except PassError as error:
            name, known = text.partition("{")[0], known_names()
            message = error.diagnostics[0].message if error.diagnostics else error.message
            if text and name not in known:
                reason = MLIR_OPT_FLAGS.get(name)
                message = f"dlc-opt has not mlir-opt's flag --{name}: {reason}" if reason else _unknown_flag(name, known)
            raise argument_error(options.argv, argument, message) from None

    def _process(self, source: str | bytes, pipeline: Pipeline | None) -> bytes:
        """The output of one part; its diagnostics are reported or, under --verify-diagnostics, compared."""
        text = source if isinstance(source, str) else None
        found: list[Diagnostic] = []
        output, failure = b"", None
        try:
            output = self._lower(source, pipeline, found)
        except DLCError as error:
            failure = error
            found += [item.in_file(self.name) for item in error.diagnostics or [Diagnostic("error", error.message)]]
        if self.options.verify_diagnostics:
            found = DiagnosticsVerifier(text or "", self.name).mismatches(found)
        elif isinstance(failure, PassError) and not any(failure.message in item.message for item in found):
            found.append(Diagnostic("note", failure.message, self.name))
        for diagnostic in found:
            shown = _without_long_dumps(diagnostic)
            print(shown.render(text if shown.file == self.name else None), file=sys.stderr, flush=True)
        if any(item.severity == "error" for item in found):
            self.failed = True
            self.pass_failed = self.pass_failed or isinstance(failure, PassError)
            return b""
        return output

    def _lower(self, source: str | bytes, pipeline: Pipeline | None, found: list[Diagnostic]) -> bytes:
        context = make_context(self.options.allow_unregistered_dialect)
        context.attach_diagnostic_handler(self._collector(found))
        for file in self.options.irdl_file:
            load_irdl(file, context)
        with self._phase("Parser"):
            module = self._parse(source, context)
        if self._starts_where_input_is():
            self._start = stage_of(module)
        if pipeline is None:
            pipeline = self.pipeline(source if isinstance(source, str) else "", module.operation.name)
        if self.options.mlir_generate_reproducer is not None:
            text = reproducer(module.operation, str(pipeline), "the input", self.verify)
            write_output(self.options.mlir_generate_reproducer, text.encode())
        pipeline.run(module, verify=self.verify, instruments=self._instruments())
        if self.options.verify_roundtrip:
            check_roundtrip(module.operation, self.name, self.options.allow_unregistered_dialect)
        with self._phase("Output"):
            return self._print(module.operation)

    def _collector(self, found: list[Diagnostic]) -> Callable[[ir.Diagnostic], bool]:
        """A handler of the diagnostics that no exception carries: warnings, remarks, errors that passes emit."""

        def collect(diagnostic: ir.Diagnostic) -> bool:
            if _REPRODUCER_RESOURCE not in diagnostic.message:
                found.append(_from_handler(diagnostic).in_file(self.name))
            return True

        return collect

    def _phase(self, name: str) -> Any:
        return self.timing.phase(name) if self.timing is not None else nullcontext()

    def _parse(self, source: str | bytes, context: ir.Context) -> ir.Module | ir.Operation:
        if self.options.no_implicit_module:
            return parse_operation(source, self.name, context)
        whole_file = Path(self.name).is_file() and not self.options.split_input_file
        return parse_module(source, self.name, context, Path(self.name) if whole_file else None)

    def _instruments(self) -> Sequence[Instrument]:
        chosen: list[Instrument] = []
        if self.recorder_file is not None:
            chosen.append(ReproducerRecorder(self.recorder_file, self.verify))
        if prints_ir(self.options):
            chosen.append(IRPrinter(self.options))
        if self.timing is not None:
            chosen.append(self.timing)
        return chosen

    def _print(self, op: ir.Operation) -> bytes:
        if not self.options.emit_bytecode:
            return assembly(op, self.options)
        buffer = io.BytesIO()
        op.write_bytecode(buffer)
        return buffer.getvalue()


def _unknown_flag(name: str, known: Sequence[str]) -> str:
    return f"no flag or pass is called '{name}'{did_you_mean(name, [*flags(), *known])}"


def _from_handler(diagnostic: ir.Diagnostic) -> Diagnostic:
    severity = str(diagnostic.severity).rsplit(".", 1)[-1].lower()
    notes = tuple(_from_handler(note) for note in diagnostic.notes)
    return at_location(diagnostic.location, diagnostic.message, severity, notes)


def _without_long_dumps(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic with each note that prints an op cut short: upstream prints whole modules."""
    lines = diagnostic.message.split("\n")
    cut = [*lines[:_DUMPED_LINES], "..."] if len(lines) > _DUMPED_LINES else lines
    notes = tuple(_without_long_dumps(note) for note in diagnostic.notes)
    return replace(diagnostic, message="\n".join(cut), notes=notes)


def split_chunks(text: str) -> list[str]:
    """The parts between lines `// -----`, each padded with empty lines so that it keeps its line numbers."""
    chunks, lines, start = [], text.split("\n"), 0
    for number, line in enumerate([*lines, SPLIT_MARKER]):
        if line.startswith(SPLIT_MARKER):
            chunks.append("\n" * start + "\n".join(lines[start:number]))
            start = number + 1
    return chunks


def load_irdl(file: str, context: ir.Context) -> None:
    """Make the dialects that an IRDL file defines known in `context`; its errors are located."""
    module = parse_module(read_input(file), file, context)
    irdl.load_dialects(module)


def load_plugins(files: Sequence[str]) -> None:
    """Make the passes in these Python files known; `InvalidInputError` when one can't be loaded."""
    from dlc.lowering.registry import load_pass_file

    for file in files:
        try:
            load_pass_file(Path(file))
        except SyntaxError as error:
            place = Diagnostic("error", error.msg, file, error.lineno or 0, error.offset or 0)
            raise InvalidInputError("", [place], error.text and "\n" * ((error.lineno or 1) - 1) + error.text) from None
        except Exception as error:
            reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            raise InvalidInputError("", [Diagnostic("error", f"can't load the passes: {reason}", file)]) from None

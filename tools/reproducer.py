"""Reproducers: one file that holds the IR before a failing pass and the pass, in the form that mlir-opt reads, too."""

from __future__ import annotations

import hashlib
import re
import tempfile
from pathlib import Path

from dlc.diagnostics import Diagnostic
from dlc.errors import InvalidInputError, PassError
from dlc.lowering.pipeline_run import Instrument, Step
from dlc.lowering.reproducer import reproducer

_PIPELINE = re.compile(r'mlir_reproducer:\s*\{.*?pipeline:\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_VERIFY = re.compile(r"mlir_reproducer:\s*\{.*?verify_each:\s*(true|false)", re.DOTALL)
_TITLE = re.compile(r"// reproducer: pass '([^']+)'")


def reproducer_text(step: Step, verify: bool) -> str:
    """The whole module with the pass that is about to run as its pipeline."""
    return reproducer(step.root, step.pipeline_text(), f"pass '{step.name}'", verify)


def reproducer_pipeline(text: str, name: str) -> str:
    """The pipeline that a reproducer, read from `name`, holds; `InvalidInputError` for other text."""
    match = _PIPELINE.search(text)
    if match is None:
        message = "this is no reproducer: it has no resource 'mlir_reproducer' with a pipeline"
        raise InvalidInputError("", [Diagnostic("error", message, name)])
    return re.sub(r"\\(.)", r"\1", match[1])


def reproducer_verifies(text: str) -> bool:
    """Whether the reproducer was run with verification after each pass."""
    match = _VERIFY.search(text)
    return match is None or match[1] == "true"


def reproducer_pass(text: str) -> str:
    """Name of the pass that a reproducer runs."""
    match = _TITLE.match(text)
    return match[1] if match else "unknown"


def default_reproducer_path(text: str) -> Path:
    """A file in the current folder (in the temporary folder where that is not writable), named after the content."""
    name = f"dlc-opt-reproducer-{hashlib.sha256(text.encode()).hexdigest()[:12]}.mlir"
    try:
        with tempfile.TemporaryFile(dir="."):
            return Path(name)
    except OSError:
        return Path(tempfile.gettempdir()) / name


class ReproducerRecorder(Instrument):
    """Keeps the reproducer of the running pass in a file, which stays when the pass fails or takes the process down."""

    def __init__(self, file: Path, verify: bool) -> None:
        self.file, self.verify, self._frozen = file, verify, False

    def before(self, step: Step) -> None:
        if not self._frozen:
            self.file.write_text(reproducer_text(step, self.verify), encoding="utf-8")

    def after(self, step: Step) -> None:
        if not self._frozen:
            self.file.unlink()

    def failed(self, step: Step, error: PassError) -> None:
        self._frozen = True

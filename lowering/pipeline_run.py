"""Runs the elements of a pipeline on an op, one pass at a time, and turns every failure into a located `PassError`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dlc._mlir import ir
from dlc.diagnostics import Diagnostic, at_location, from_mlir
from dlc.errors import DLCError, PassError
from dlc.lowering.native import native_manager
from dlc.lowering.native_faults import check_native_faults
from dlc.lowering.pass_base import Pass, PassFailure
from dlc.lowering.pipeline_elements import NativePass
from dlc.lowering.registry import plugin_passes

if TYPE_CHECKING:
    from dlc.lowering.pipeline import Pipeline


@dataclass(frozen=True)
class Step:
    """One run of one pass on one op. Instruments may look at the ops during a hook, and must not keep them."""

    element: Pass | NativePass
    anchors: tuple[str, ...]
    """Names of the ops from the root down to `op`."""

    op: ir.Operation
    root: ir.Operation

    @property
    def name(self) -> str:
        """The pass's name."""
        return self.element.name()

    def pipeline_text(self) -> str:
        """Pipeline text that runs this pass alone, on every op of its kind."""
        text = str(self.element)
        for anchor in reversed(self.anchors):
            text = f"{anchor}({text})"
        return text


class Instrument:
    """Hooks around each pass; printing, timing and reproducers are instruments. The base does nothing."""

    def before(self, step: Step) -> None:
        """Called before the pass runs."""

    def after(self, step: Step) -> None:
        """Called when the pass ran and its result verified."""

    def failed(self, step: Step, error: PassError) -> None:
        """Called when the pass failed or left IR that does not verify; the IR may be in any state."""


@dataclass(frozen=True)
class PipelineRun:
    """One run of a pipeline: its root op, whether to verify after each pass, and the instruments."""

    root: ir.Operation
    verify: bool
    instruments: Sequence[Instrument]

    def run(self, op: ir.Operation, anchors: tuple[str, ...], elements: Sequence[Pass | NativePass | Pipeline]) -> None:
        """Run `elements` in order on `op`; `PassError` ends the run."""
        for element in elements:
            if isinstance(element, (Pass, NativePass)):
                self._run_pass(Step(element, anchors, op, self.root))
            elif not element.names():
                continue  # upstream's parser knows no empty pipeline
            elif self.instruments or not element.is_native():
                for nested in nested_ops(op, element.anchor):
                    self.run(nested, (*anchors, nested.name), list(element))
            else:
                # Nested native passes stay one run: function by function costs 10 times more on 300 functions.
                self._run_native(f"pipeline '{element}'", op, element)

    def _run_pass(self, step: Step) -> None:
        for instrument in self.instruments:
            instrument.before(step)
        try:
            self._run_element(step)
        except PassError as error:
            for instrument in reversed(self.instruments):
                instrument.failed(step, error)
            raise
        for instrument in reversed(self.instruments):
            instrument.after(step)

    def _run_element(self, step: Step) -> None:
        what, op, element = f"pass '{step.name}'", step.op, step.element
        if isinstance(element, NativePass):
            self._run_native(what, op, element)
            return
        if step.name in plugin_passes():
            op.context.load_all_available_dialects()  # nobody knows which ops it builds
        _guard(what, op, lambda: element.run(op))
        if self.verify:
            _guard(what, op, op.verify, "left IR that does not verify")

    def _run_native(self, what: str, op: ir.Operation, element: NativePass | Pipeline) -> None:
        manager = native_manager(f"{op.name}({element})", op.context)
        manager.enable_verifier(self.verify)
        names = [element.name()] if isinstance(element, NativePass) else element.names()
        _guard(what, op, lambda: check_native_faults(names, op))
        _guard(what, op, lambda: manager.run(op))


def verify_result(op: ir.Operation) -> None:
    """Verify what a pipeline made of `op`; `PassError` says what is wrong with it."""
    _guard("the pipeline", op, op.verify, "left IR that does not verify (dlc-opt verifies after each pass)")


def nested_ops(op: ir.Operation, name: str) -> Iterator[ir.Operation]:
    """The ops called `name` directly inside `op`, in order, listed before the first is given out."""
    inside = [child.operation for region in op.regions for block in region.blocks for child in block.operations]
    yield from (child for child in inside if child.name == name)


def _guard(what: str, op: ir.Operation, action: Callable[[], object], failed: str = "failed") -> None:
    """Run `action` for `what` on `op`; every exception leaves as a `PassError`."""
    try:
        with op.context, ir.Location.unknown():
            action()
    except PassFailure as failure:
        raise PassError(f"{what} {failed}", [at_location(failure.location, failure.message)]) from None
    except ir.MLIRError as error:
        found = [from_mlir(info) for info in error.error_diagnostics] or [at_location(op.location, f"{what} {failed}")]
        raise PassError(f"{what} {failed}", found) from None
    except DLCError as error:
        raise PassError(f"{what} {failed}", error.diagnostics or [at_location(op.location, str(error))]) from error
    except Exception as error:
        raise PassError(f"{what} {failed}", [_internal_error(what, op, error)]) from error


def _internal_error(what: str, op: ir.Operation, error: Exception) -> Diagnostic:
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return at_location(op.location, f"internal error in {what}: {reason}")

"""A pass or pipeline is run on a copy, and its result is kept where it computes what was computed before."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from dlc._mlir import ir
from dlc.analysis.symbols import symbol_name
from dlc.devices import refuse_endless
from dlc.diagnostics import at_location
from dlc.dialects.reading import parse_module
from dlc.lowering.affine.equivalence.certificate import certificate, write_certificates
from dlc.lowering.affine.equivalence.equivalence import Assumptions, Refusal, compare
from dlc.lowering.affine.ir.op_names import name_ops, origins, own_location, remove_names
from dlc.lowering.affine.polyhedral.model import ExtractionError
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.pipeline import Pipeline


@dataclass(frozen=True)
class CheckLegality(Pass):
    """Run a pass or pipeline, ours or upstream's, and keep its result only where it provably computes the same.

    before: for i { for j { A[i, j] = A[i - 1, j + 1] } }            with pass="affine-loop-tile{tile-size=4}"
    after: error: affine-loop-tile would run S0[i=2, j=3] before S0[i=1, j=4], which writes the %A[1, 4] that it reads

    Both functions are read into graphs of the values that they compute, for every iteration and lane; each read is tied to the
    write that it sees. The pass then shows that both graphs give equal values to all that the function leaves behind: memory of
    arguments and globals, results, and calls in their order. Order, names of buffers, copies, unrolled and vector forms do not
    matter. Parallel loops of the result must carry no dependence, and accesses must stay inside of memrefs. What cannot be compared
    is refused with the op and the reason. With `before`, the functions of a file are compared with those of the module instead, and
    nothing is run.
    """

    pass_: str = option("", "pass or pipeline to run and check, e.g. affine-loop-fusion{mode=producer}")
    before: str = option("", "file of MLIR to compare the module with, in place of running a pass")
    proof: str = option("", "file to write the certificate to, as FILE.txt and FILE.json")
    on_refusal: Literal["error", "warn", "keep"] = option("error", "what a refusal is: an error, a warning, or silent")
    assume_no_alias: bool = option(False, "distinct memref arguments share no memory")
    assume_non_negative: bool = option(False, "index arguments are sizes, which are not negative")
    reassociate: bool = option(False, "sums and products of floats may be taken in any order")

    def run(self, op: ir.Operation) -> None:
        """Check one module."""
        if bool(self.pass_) == bool(self.before):
            raise PassFailure(op, "it has nothing to compare with", "give it one of the options pass and before")
        if self.before:
            module = self._file(op)
            self._finish(op, self._compared(module.operation, op, "the change"))
            return
        copy = _copy(op)
        changed = copy.operation
        for function in _functions(changed).values():
            name_ops(function)
        Pipeline.parse(self.pass_, "<option pass>").run(changed)
        findings = self._compared(op, changed, self._what())
        for function in _functions(changed).values():
            remove_names(function)
        refused = self._finish(op, findings)
        if not refused:
            _replace_contents(op, changed)
        elif _differ_in_functions_alone(op, changed):
            _replace_functions(op, changed, {finding.name for finding in refused})

    def _what(self) -> str:
        """The pass, without its options, for messages."""
        return self.pass_ if "," in self.pass_ or "(" in self.pass_ else self.pass_.split("{")[0]

    def _file(self, op: ir.Operation) -> ir.Module:
        path = Path(self.before)
        try:
            refuse_endless(path)
            text = path.read_bytes()
        except OSError as error:
            raise PassFailure(op, f"can't read '{self.before}': {error.strerror}", "give option before a file of MLIR") from None
        return parse_module(text, self.before, op.context, path)

    def _compared(self, before: ir.Operation, after: ir.Operation, what: str) -> list[_Finding]:
        """The outcome for each function that both modules have; functions that did not change are left out."""
        if not _differ_in_functions_alone(before, after):
            return [_Finding("", None, Refusal(f"{what} would change more than the bodies of functions", after.location))]
        functions = _functions(after)
        pairs = [(name, one, functions[name]) for name, one in _functions(before).items() if name in functions]
        return [self._compare(name, one, other, what) for name, one, other in pairs if str(one) != str(other)]

    def _compare(self, name: str, before: ir.Operation, after: ir.Operation, what: str) -> _Finding:
        assumed = Assumptions(self.assume_no_alias, self.assume_non_negative, self.reassociate)
        try:
            comparison = compare(before, after, origins(after, before), what, assumed)
        except ExtractionError as error:
            refusal = Refusal(f"the result of {what} cannot be compared: {error}", own_location(error.op.location))
            return _Finding(name, None, refusal)
        proof = certificate(name, what, comparison) if self.proof else None
        refused = comparison.refusal
        return _Finding(name, proof, refused and replace(refused, location=own_location(refused.location)))

    def _write(self, op: ir.Operation, findings: Sequence[_Finding]) -> None:
        try:
            write_certificates([finding.proof for finding in findings if finding.proof is not None], Path(self.proof))
        except OSError as error:
            raise PassFailure(op, f"can't write '{self.proof}': {error.strerror}", "give option proof a file in a folder") from None

    def _finish(self, op: ir.Operation, findings: Sequence[_Finding]) -> list[_Finding]:
        """Write the certificates, report the refusals, and return them."""
        if self.proof:
            self._write(op, findings)
        refused = [finding for finding in findings if finding.refusal is not None]
        for finding in refused:
            assert finding.refusal is not None
            if self.on_refusal == "error":
                raise PassFailure(finding.refusal.location, finding.refusal.message)
            if self.on_refusal == "warn":
                print(at_location(finding.refusal.location, finding.refusal.message, "warning").render(), file=sys.stderr)
        return refused


@dataclass(frozen=True, eq=False)
class _Finding:
    """The outcome for the function `name`, or for the whole module."""

    name: str
    proof: dict[str, Any] | None
    refusal: Refusal | None


def _copy(module: ir.Operation) -> ir.Module:
    """A module of its own, locations included; a clone has no place as the root, which some passes ask for."""
    buffer = io.BytesIO()
    module.write_bytecode(buffer)
    return ir.Module.parse(buffer.getvalue(), module.context)


def _functions(module: ir.Operation) -> Mapping[str, ir.Operation]:
    """The functions of `module` that have bodies, by name."""
    ops = (op.operation for op in module.regions[0].blocks[0].operations)
    found = (op for op in ops if op.name == "func.func" and len(op.regions[0].blocks))
    return {symbol_name(op): op for op in found}


def _differ_in_functions_alone(one: ir.Operation, other: ir.Operation) -> bool:
    """Whether two modules have the same ops, but for the bodies of functions."""
    return _frame(one) == _frame(other)


def _frame(module: ir.Operation) -> list[str]:
    ops = [op.operation for op in module.regions[0].blocks[0].operations]
    attributes = [f"{name} = {module.attributes[name]}" for name in module.attributes]
    return sorted([*attributes, *(_head(op) if op.name == "func.func" else str(op) for op in ops)])


def _head(function: ir.Operation) -> str:
    names = [name for name in ("sym_name", "function_type", "arg_attrs") if name in function.attributes]
    return " ".join(str(function.attributes[name]) for name in names)


def _replace_contents(module: ir.Operation, changed: ir.Operation) -> None:
    """Put the ops of `changed` in place of those of `module`."""
    block = module.regions[0].blocks[0]
    for op in list(block.operations):
        op.operation.erase()
    for op in list(changed.regions[0].blocks[0].operations):
        block.append(op.operation.detach_from_parent())


def _replace_functions(module: ir.Operation, changed: ir.Operation, refused: Set[str]) -> None:
    """Put the functions of `changed` in place of those of `module`, but for those that were refused."""
    functions = _functions(changed)
    for name, function in _functions(module).items():
        if name not in refused:
            functions[name].move_before(function)
            function.erase()

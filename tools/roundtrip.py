"""`--verify-roundtrip`: printing a module and reading it back gives the same module, as text and as bytecode."""

from __future__ import annotations

import io

from dlc._mlir import ir
from dlc.diagnostics import Diagnostic
from dlc.dialects import make_context
from dlc.dialects.reading import parse_operation
from dlc.errors import DLCError, VerifyError


def check_roundtrip(op: ir.Operation, name: str, allow_unregistered: bool) -> None:
    """Raise `VerifyError` unless `op`, read from the file `name`, comes back from text and from bytecode as it was."""
    expected = _text(op)
    bytecode = io.BytesIO()
    op.write_bytecode(bytecode)
    forms = {"text": expected.encode()}
    if op.name == "builtin.module":  # bytecode of anything else reads as a module around it
        forms["bytecode"] = bytecode.getvalue()
    for form, data in forms.items():
        try:
            found = _text(parse_operation(data, name, make_context(allow_unregistered)))
        except DLCError as error:
            raise VerifyError("", [Diagnostic("error", f"what is printed as {form} does not parse: {error}", name)]) from None
        if found != expected:
            line = next(
                index for index, pair in enumerate(zip(expected.split("\n"), found.split("\n"), strict=False)) if len({*pair}) > 1
            )
            message = f"what is printed as {form} reads as something else, from line {line + 1} of the output on"
            raise VerifyError("", [Diagnostic("error", message, name)])


def _text(op: ir.Operation) -> str:
    return str(op.get_asm(enable_debug_info=True, print_generic_op_form=True))

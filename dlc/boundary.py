"""What the functions of a dl module take and give."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.diagnostics import at_location
from dlc.dialects.dl.types import ALL_DTYPES, tensor_type
from dlc.errors import VerifyError


def check_boundary(module: ir.Module) -> None:
    """Raise `VerifyError` for a function with an argument or result that is no ranked tensor of an element type of dl."""
    for op in module.body.operations:
        if op.operation.name != "func.func":
            continue
        kind = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
        for what, types in (("argument", kind.inputs), ("result", kind.results)):
            for index, each in enumerate(types):
                if tensor_type(each) is None:
                    remedy = f"models at level dl take and give ranked tensors of {', '.join(ALL_DTYPES)}"
                    raise VerifyError("", [at_location(op.location, f"{what} {index} is {each}; {remedy}")])

"""A kernel's loops to an object, by the dlc of any checkout: what is imported here is all that an older one must have.

python -c "$(cat emit_kernel.py)" SYMBOL PIPELINE < loops.mlir > kernel.o
"""

from __future__ import annotations

import sys

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.targets.cpu.emit import emit_unit


def emit_kernel(text: str, symbol: str, pipeline: str) -> bytes:
    """The first function of a module of level affine, called `symbol`, as machine code; `PassError` or `TargetError`.

    It is compiled like a kernel of a model: buffers come as bare pointers, which do not alias where the function says so.
    """
    passes = Pipeline.parse(pipeline)
    with make_context() as context, ir.Location.unknown():
        module = ir.Module.parse(text)
        function = next(op.operation for op in module.body.operations if op.operation.name == "func.func")
        function.attributes["dl.kernel"] = ir.UnitAttr.get(context)
        passes.run(module)
        return emit_unit(module, symbol)


if __name__ == "__main__":
    sys.stdout.buffer.write(emit_kernel(sys.stdin.read(), *sys.argv[1:]))

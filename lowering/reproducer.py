"""The text of reproducers: one file that holds IR and the pipeline to run on it, in the form that mlir-opt reads, too."""

from __future__ import annotations

import re

from dlc._mlir import ir

_METADATA_END = re.compile(r"\n#-\}\s*$")


def reproducer(op: ir.Operation, pipeline: str, title: str, verify: bool = True) -> str:
    """The whole of `op`, with the pipeline text as a resource; `title` becomes a comment."""
    asm = op.get_asm(enable_debug_info=True)
    escaped = pipeline.replace("\\", "\\\\").replace('"', '\\"')
    resource = (
        "  external_resources: {\n    mlir_reproducer: {\n"
        f'      pipeline: "{escaped}",\n      disable_threading: true,\n      verify_each: {str(verify).lower()}\n'
        "    }\n  }\n#-}\n"
    )
    with_resources = _METADATA_END.search(asm)
    body = asm[: with_resources.start()] + ",\n" if with_resources else asm.rstrip("\n") + "\n{-#\n"
    return f"// reproducer: {title}\n{body}{resource}"

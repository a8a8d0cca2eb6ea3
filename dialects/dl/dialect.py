"""The dl dialect as the bindings know it; its ops are classes derived from `base.DLOp`."""

import io

from dlc._mlir import ext, ir, irdl


class DL(ext.Dialect, name="dl"):  # type: ignore[call-arg]  # the bindings have no types
    """The dl dialect: a graph of tensor operations."""

    _bytecode = b""

    @classmethod
    def load(cls) -> None:
        """Load the dialect into the current context. Its IRDL is built, checked and simplified in the first context only."""
        if cls._bytecode:
            irdl.load_dialects(ir.Module.parse(cls._bytecode))
            for op in cls.operations:
                op._attach_traits()
            return
        super().load()
        text = io.BytesIO()
        cls._mlir_module.operation.write_bytecode(text)
        cls._mlir_module = None  # would keep the context alive
        cls._bytecode = text.getvalue()

"""What a model takes, found without compiling it."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.pipeline import Pipeline
from dlc.runtime.signature import TensorSpec
from dlc.sources import Model, ShapeOverrides, copy_module, read_source
from dlc.targets.signature import has_signature, signature_of


def input_specs(model: Model, shapes: ShapeOverrides | None = None, lenient: bool = False) -> tuple[TensorSpec, ...]:
    """Name, shape and dtype of each input. Raises what `dlc.compile` raises for models that cannot be read."""
    module = copy_module(read_source(model, params={}, shapes=shapes, lenient=lenient))  # weights need not be there
    if not has_signature(module):
        with module.context, ir.Location.unknown():
            Pipeline(["dl-bind-params"]).run(module)
    return signature_of(module).inputs

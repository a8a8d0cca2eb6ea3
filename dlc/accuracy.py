"""How much accuracy a model gives for speed: Winograd's tiles, and the type of what products multiply."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from dlc._mlir import ir
from dlc.dialects.dl import op_class
from dlc.errors import InvalidInputError
from dlc.lowering.dl.matching import WeightFacts, dl_ops
from dlc.lowering.dl.precision import PRECISION, WIDENING, WINOGRAD, precision_of
from dlc.lowering.stages import stage_of
from dlc.option_values import PRECISIONS, TILES
from dlc.sources import Source, copy_module
from dlc.targets.machine import facts_of, is_for_gpu

Precision = Literal["f32", "tf32", "bf16"]

_TF32_NOTES = {
    True: ("products of f32 on tensor cores round their operands to tf32, which has 10 bits behind the point",),
    False: ("tf32 is for the tensor cores of a GPU: this target computes in f32",),
}


def with_accuracy(source: Source, winograd: int | None = None, precision: str | None = None) -> Source:
    """The same source with `dl.winograd` and `dl.precision` as given; None leaves what the model says.

    `winograd` is the most results of a tile along one axis, 0 for none; `precision` the type that operands of products may be
    rounded to. `InvalidInputError` for another value, and for a model that is not at the dl level.
    """
    if winograd is not None and (type(winograd) is not int or winograd not in TILES):
        raise InvalidInputError(f"winograd must be one of {', '.join(map(str, TILES))}, not {winograd!r}")
    if precision is not None and (not isinstance(precision, str) or precision not in PRECISIONS):
        raise InvalidInputError(f"precision must be one of {', '.join(PRECISIONS)}, not {precision!r}")
    if winograd is None and precision is None:
        return source
    option = "winograd" if winograd is not None else "precision"
    if (stage := stage_of(source.module)) != "dl":
        raise InvalidInputError(f"{option} needs a model at level 'dl', and '{source.name}' is at level '{stage}'")
    module = copy_module(source)
    with module.context:
        if winograd is not None:
            module.operation.attributes[WINOGRAD] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), winograd)
        if precision is not None:
            module.operation.attributes[PRECISION] = ir.StringAttr.get(precision)
    return replace(source, module=module)


def precision_notes(module: ir.Module) -> tuple[str, ...]:
    """What a precision below f32 comes to in a module that the graph passes have been through, in sentences; none for f32."""
    operation = module.operation
    if (precision := precision_of(operation)) == PRECISIONS[0]:
        return ()
    if precision == "tf32":
        return _TF32_NOTES[is_for_gpu(operation)]
    from dlc.lowering.dl.quantize.lower_precision import reads_bf16_pairs  # for this report only

    is_weight = WeightFacts()
    works = [op for op in dl_ops(operation) if len(op.results) and not is_weight(op.results[0])]
    products = [op for op in works if (kind := op_class(op.name)) is not None and kind.fusion_class == "contraction"]
    if is_for_gpu(operation):
        rounded = sum(op.name in WIDENING for op in products)
        return (f"{rounded} of {len(products)} products and convolutions round their operands to {precision}, results stay f32",)
    narrow = sum(map(reads_bf16_pairs, products))
    first = f"{narrow} of {len(products)} products and convolutions read their weights in {precision}, the others compute in f32"
    facts = facts_of(operation)
    if facts.prefers_bf16_dot:
        return (first,)
    reason = (
        f"the target's dot products of {precision} are slow"
        if facts.has_bf16_dot
        else f"the target has no dot products of {precision}"
    )
    saved = "these weights take half the memory, and multiply-adds are those of f32"
    return first, f"{reason}: {saved}; products of many rows, where widening weights takes longer than it saves, stay f32"

"""Importers of onnxruntime's normalisations, which its optimiser writes."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_CONTRIB = "com.microsoft"


@importer("SimplifiedLayerNormalization")
def import_simplified_layer_norm(node: NodeContext) -> ir.Value:
    """RMS norm; onnxruntime keeps it in ONNX's own domain. The inverse root as an output is not supported."""
    _refuse_outputs(node, 1, 2)
    return _norm(node, node.value(0), node.value(1), None, int(node.attribute("axis", -1)), simplified=True)


@importer("SkipLayerNormalization", domain=_CONTRIB)
def import_skip_layer_norm(node: NodeContext) -> list[ir.Value]:
    """The norm of input + skip + bias (the fifth input); the sum is the fourth output."""
    _refuse_outputs(node, 1, 3)
    total = _sum(node, 4)
    normal = _norm(node, total, node.value(2), node.optional_value(3), -1, simplified=False)
    return _with_sum(node, normal, total)


@importer("SkipSimplifiedLayerNormalization", domain=_CONTRIB)
def import_skip_simplified_layer_norm(node: NodeContext) -> list[ir.Value]:
    """The RMS norm of input + skip + bias (the fourth input); the sum is the fourth output."""
    _refuse_outputs(node, 1, 3)
    total = _sum(node, 3)
    return _with_sum(node, _norm(node, total, node.value(2), None, -1, simplified=True), total)


@importer("EmbedLayerNormalization", domain=_CONTRIB)
def import_embed_layer_norm(node: NodeContext) -> list[ir.Value]:
    """The norm of the sum of word, position and segment embeddings; the mask's counts; the sum."""
    ids, size = node.value(0), node.type(0).shape[1]
    total = dl.gather(node.value(2), ids, axis=0)
    if node.has_input(8):
        total = dl.add(total, dl.gather(node.value(3), node.value(8), axis=0))
    elif isinstance(size, int):
        total = dl.add(total, dl.slice(node.value(3), starts=[0], ends=[size], axes=[0], steps=[1]))
    else:
        node.unsupported("positions that are not given need a sequence length that is known at compile time")
    if node.has_input(1) and node.has_input(4):
        total = dl.add(total, dl.gather(node.value(4), node.value(1), axis=0))
    normal = _norm(node, total, node.value(5), node.value(6), -1, simplified=False)
    mask = dl.cast(node.value(7), to="i32") if node.has_input(7) else dl.mul(dl.cast(ids, to="i32"), node.constant_value(0, "i32"))
    counts = dl.reduce_sum(mask, axes=[1])
    return [normal, counts, total]


def _sum(node: NodeContext, bias: int) -> ir.Value:
    total = dl.add(node.value(0), node.value(1))
    return dl.add(total, node.value(bias)) if node.has_input(bias) else total


def _norm(node: NodeContext, x: ir.Value, scale: ir.Value, bias: ir.Value | None, axis: int, simplified: bool) -> ir.Value:
    """The norm in x's element type; weights of another one are applied in theirs, as onnxruntime does."""
    epsilon, dtype = node.attribute("epsilon", 1e-12 if not simplified else 1e-5), type_of_value(x).dtype
    if type_of_value(scale).dtype != dtype:
        normal = dl.rms_norm(x, axis=axis, epsilon=epsilon) if simplified else dl.layer_norm(x, axis=axis, epsilon=epsilon)
        scaled = dl.mul(dl.cast(normal, to=type_of_value(scale).dtype), scale)
        return scaled if bias is None else dl.add(scaled, bias)
    if simplified:
        return dl.rms_norm(x, scale, axis=axis, epsilon=epsilon)
    return dl.layer_norm(x, scale, bias, axis=axis, epsilon=epsilon)


def _with_sum(node: NodeContext, normal: ir.Value, total: ir.Value) -> list[ir.Value]:
    """Outputs 1 and 2, the statistics, are not used: the sum may stand for them."""
    return [normal, total, total, total] if node.uses_output(3) else [normal]


def _refuse_outputs(node: NodeContext, start: int, end: int) -> None:
    if any(node.uses_output(index) for index in range(start, end)):
        node.unsupported("the mean and the inverse standard deviation as outputs are not supported")

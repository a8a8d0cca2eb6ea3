"""`dl-lower-precision`: products with weights read these in bf16, and sum in f32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import WeightFacts, attributes_of, dl_ops, functions, groups_of, type_of
from dlc.lowering.dl.precision import precision_of
from dlc.lowering.dl.quantize.narrow_images import narrow_images
from dlc.lowering.dl.quantize.widening_products import widen_products
from dlc.lowering.dl.weights.widening_choice import faster_when_widened
from dlc.lowering.pass_base import Pass, option
from dlc.option_values import PRECISIONS
from dlc.targets.machine import facts_of, is_for_gpu


@dataclass(frozen=True)
class LowerPrecision(Pass):
    """Let products and convolutions with weights in blocks read these in bf16, where the module's accuracy allows it.

    The module attribute `dl.precision = "bf16"`, which `compile(precision="bf16")` sets, does. Weights are rounded once, by an op
    on weights, and come in pairs; sums and all other ops stay f32. Where the target has dot products of bf16 (vdpbf16ps, bfdot)
    that are no slower than multiply-adds of f32, the other side is rounded, too, by the op that computes it if nothing else takes
    that. Elsewhere it stays f32, which is more accurate, and weights become f32 again by shifts: that takes half the traffic of
    weights, no fewer multiply-adds, and a shift or mask for each vector of weights and register tile of rows. Products of so many
    rows that this costs more than it saves stay f32; axes of unknown size count as one row, as when a language model decodes.
    Convolutions, which use a weight for every pixel, stay f32 there. Where they do not, images that convolutions read are stored in
    bf16 for all who read them (`narrow_images.py`): depthwise convolutions, which compute in f32, and sums.

    For a GPU whose tensor cores multiply bf16, both sides of products and of convolutions with channels last are rounded, and
    results stay f32 (`widening_products.py`). What such an op rounds is stored in bf16 for its other readers, too, if these are
    elementwise.

    before: %0 = "dl.packed_matmul"(%x, %w) : (tensor<4x768xf32>, tensor<64x768x48xf32>) -> tensor<4x3072xf32>
    after:  %p = "dl.bf16_pairs"(%w) : (tensor<64x768x48xf32>) -> tensor<64x384x48xi32>
            %b = "dl.cast"(%x) {to = bf16} : (tensor<4x768xf32>) -> tensor<4x768xbf16>
            %0 = "dl.vnni_matmul"(%b, %p) : (tensor<4x768xbf16>, tensor<64x384x48xi32>) -> tensor<4x3072xf32>
    """

    to: Literal["module", "f32", "bf16"] = option("module", "type of operands: f32, bf16, or what dl.precision says")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        if (precision_of(op) if self.to == "module" else self.to) != PRECISIONS[-1]:
            return
        on_gpu, rounds = is_for_gpu(op), facts_of(op).prefers_bf16_dot
        for function in functions(op):
            if "dl.precompute" in function.attributes:
                continue
            facts = WeightFacts()
            if on_gpu:
                widen_products(function, facts)
                narrow_images(function, facts)
                continue
            found = [operation for operation in dl_ops(function) if _reads_weights(operation, facts)]
            if not rounds:
                found = faster_when_widened([product for product in found if product.name == "dl.packed_matmul"], facts_of(op))
            for operation in found:
                if operation.name == "dl.packed_matmul":
                    _replace(operation, _product(operation, rounds), facts)
                elif _is_blocked(operation):
                    _replace(operation, _convolution(operation), facts)
            if rounds:
                narrow_images(function, facts)


def _reads_weights(op: ir.Operation, is_weight: WeightFacts) -> bool:
    """Whether `op` is a product of something computed with weights, of f32."""
    if op.name not in ("dl.packed_matmul", "dl.conv") or op.parent.name != "func.func":
        return False
    x, weight = list(op.operands)[:2]
    kind = type_of(weight)
    return kind.dtype == "f32" and kind.is_static and 0 not in kind.shape and is_weight(weight) and not is_weight(x)


def _is_blocked(op: ir.Operation) -> bool:
    """Whether a convolution of one group has its channels last and its kernel in blocks."""
    found = attributes_of(op)
    is_plain = bool(found["channels_last"]) and found["groups"] == 1
    return is_plain and type_of(op.operands[1]).rank == type_of(op.operands[0]).rank + 1


def _replace(op: ir.Operation, value: ir.Value, facts: WeightFacts) -> None:
    facts.forget(op)
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _product(op: ir.Operation, rounds: bool) -> ir.Value:
    x, weight = op.operands
    with op.location, ir.InsertionPoint(op):
        return dl.vnni_matmul(_pairs_of(x, rounds), dl.bf16_pairs(weight), columns=attributes_of(op)["columns"])


def _convolution(op: ir.Operation) -> ir.Value:
    """The convolution `op`, as a product of matrices where it has one tap, plus its bias."""
    x, weight, bias = groups_of(op)
    window = {name: attributes_of(op)[name] for name in ("strides", "pads", "dilations")}
    blocks, *taps, inner, width = (int(str(dim)) for dim in type_of(weight).shape)
    with op.location, ir.InsertionPoint(op):
        rounded = _pairs_of(x, rounds=True)
        if {*taps, *window["strides"]} == {1} and not any(window["pads"]):
            found = dl.vnni_matmul(rounded, dl.bf16_pairs(dl.reshape(weight, shape=[blocks, inner, width])))
        else:
            found = dl.vnni_conv(rounded, dl.bf16_pairs(weight), **window)
        return found if bias is None else dl.add(found, bias)


def _pairs_of(x: ir.Value, rounds: bool) -> ir.Value:
    """`x`, rounded or not, with zeros that make the size of its last axis even."""
    if rounds:
        x = dl.cast(x, to="bf16", flush=True)
    kind = type_of(x)
    size = kind.dim(-1)
    return dl.pad(x, None, low=[0] * kind.rank, high=[*[0] * (kind.rank - 1), 1]) if isinstance(size, int) and size % 2 else x


def reads_bf16_pairs(op: ir.Operation) -> bool:
    """Whether `op` is a product with pairs of bf16."""
    return op.name in ("dl.vnni_matmul", "dl.vnni_conv") and type_of(op.operands[0]).dtype in ("f32", "bf16")

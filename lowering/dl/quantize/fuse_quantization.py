"""`dl-fuse-quantization`: floats that stand for bytes are multiplied, moved and rounded as bytes."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl.matching import functions
from dlc.lowering.dl.quantize.quantized_moves import MOVES
from dlc.lowering.dl.quantize.quantized_products import PRODUCTS
from dlc.lowering.dl.rewriting import apply_rules
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class FuseQuantization(Pass):
    """Let models whose ops compute floats between DequantizeLinear and QuantizeLinear compute with the bytes.

    With D(q) = (q - z) * s for DequantizeLinear and Q(y) = saturate(round(y / t) + u) for QuantizeLinear,

    - conv(D(x), D(w), b) and matmul(D(x), D(w)) with weights w become sums of products of x - z_x and w - z_w in i32, which are
      exact, times s_x * s_w, plus b; s_w is a scalar or has one number per output channel or column, s_x and z_x are scalars;
    - Q(y) of sums of such products, of D's and of weights, also through relu and clip, takes 1 / t into their factors. So a
      convolution gives saturate(round(i32 * (s_x * s_w / t) + b / t) + u), as QLinearConv does, and add(D(p), D(q)) what
      QLinearAdd does;
    - views, slices, gathers and maxima of D(x) are D of views, slices, gathers and maxima of x, and Q(y) goes before views and
      concatenations of y: bytes are moved, not floats;
    - Q(D(x)) with the scale and zero point of D is x.

    Rounding is to the nearest, halves to even numbers. All is exact in the real numbers; f32 factors are rounded once more or once
    less than by the ops one by one, so that a byte may differ by one step where y / t + u lies near the middle between two.
    Convolutions with groups or of dynamic sizes, and products of two computed matrices, stay in floats.

    before:
        %x = D(%p : ui8)    %w = D(%q : i8)
        %0 = "dl.conv"(%x, %w, %b) : (tensor<1x4x9x9xf32>, tensor<20x4x3x3xf32>, tensor<20xf32>) -> tensor<1x20x9x9xf32>
        %1 = Q(%0) : ui8
    after:
        %0 = "dl.conv"(i32(%p) - %z, i32(%q)) : (tensor<1x4x9x9xi32>, tensor<20x4x3x3xi32>) -> tensor<1x20x9x9xi32>
        %1 = saturate(round(f32(%0) * %factor + %bias) + %u) : ui8
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            apply_rules(function, MOVES, PRODUCTS)

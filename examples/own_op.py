"""Add an op to the dl dialect: its class, its lowering, and a graph that uses it.

python examples/own_op.py
"""

# The bindings read an op's annotations as objects, so no `from __future__ import annotations` here.

import numpy as np

import dlc
from dlc._mlir import ir
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.types import FLOATS, TensorType, require
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.elementwise import lower_elementwise


class SquarePlus(DLOp, name="example_squareplus"):
    """A smooth rectifier (Barron, "Squareplus: a softplus-like algebraic rectifier", 2021).

    result = (x + sqrt(x * x + b)) / 2 with b = 4

    c1: x is no scalar.
    """

    accepts = FLOATS
    x: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        require("c1", x.rank > 0, "x is a scalar")
        return x

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        return ((x + np.sqrt(x * x + 4)) / 2).astype(x.dtype)


@lowering("example_squareplus")
def lower_squareplus(b: Builder, op: SourceOp) -> ir.Value:
    """One elementwise linalg.generic; f16 and bf16 compute in f32."""
    dtype = b.wide(op.result.dtype)

    def body(x: ir.Value) -> ir.Value:
        root = b.unary("math.sqrt", b.arith("add", b.arith("mul", x, x, dtype), b.scalar(4, dtype), dtype))
        return b.arith("mul", b.arith("add", x, root, dtype), b.scalar(0.5, dtype), dtype)

    return lower_elementwise(b, op, body)


def main() -> None:
    """Compile a graph with the new op and compare with its reference implementation."""
    with Graph() as graph:
        x = graph.input("x", ("n", 8))
        graph.output("y", SquarePlus.build(x))
    print(graph.module)

    x_value = np.linspace(-4, 4, 24, dtype=np.float32).reshape(3, 8)
    (have,) = dlc.compile(graph.module)(x_value)
    want = SquarePlus.reference(x_value)
    np.testing.assert_allclose(have, want, rtol=1e-6)
    print("result agrees with NumPy: largest difference", float(np.abs(have - want).max()))


if __name__ == "__main__":
    main()

"""Write a pass, put it into the pipeline, and see what it did.

python examples/own_pass.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import dlc
from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.lowering.pass_base import option


@dataclass(frozen=True)
class RemoveDoubleNegation(dlc.Pass):
    """Replace neg(neg(x)) by x, at most `limit` times.

    before: %1 = "dl.neg"(%0)   %2 = "dl.neg"(%1)   uses of %2
    after:  uses of %0
    """

    pass_name = "example-remove-double-negation"
    anchor = "func.func"

    limit: int = option(100, "most pairs to remove")

    def run(self, op: ir.Operation) -> None:
        """Rewrite the function `op`."""
        removed = 0
        for outer in list(op.regions[0].blocks[0].operations):
            inner = _negated_negation(outer.operation)
            if inner is None or removed == self.limit:
                continue
            outer.operation.results[0].replace_all_uses_with(inner.operands[0])
            outer.operation.erase()
            removed += 1


def _negated_negation(outer: ir.Operation) -> ir.Operation | None:
    """The dl.neg op whose result the dl.neg op `outer` negates, if they are that."""
    if outer.name != "dl.neg" or isinstance(outer.operands[0].owner, ir.Block):
        return None
    inner: ir.Operation = outer.operands[0].owner.operation
    return inner if inner.name == "dl.neg" else None


def main() -> None:
    """Run the pass alone, then in front of the pipelines to machine code."""
    with Graph() as graph:
        x = graph.input("x", (4,))
        graph.output("y", dl.neg(dl.neg(dl.neg(x))))

    own = RemoveDoubleNegation(limit=1)
    pipeline = dlc.Pipeline([own, "canonicalize"])
    print("pipeline:", pipeline)
    before = dlc.count_ops(graph.module)[1]["dl.neg"]
    pipeline.run(graph.module)
    after = dlc.count_ops(graph.module)[1]["dl.neg"]
    print(f"negations: {before} -> {after}")
    print(graph.module)

    (result,) = dlc.compile(graph.module)(np.arange(4, dtype=np.float32))
    np.testing.assert_array_equal(result, -np.arange(4, dtype=np.float32))
    print("result:", result)


if __name__ == "__main__":
    main()

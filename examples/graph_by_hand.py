"""Build a graph with the dl builders, lower it level by level, run it.

python examples/graph_by_hand.py
"""

from __future__ import annotations

import numpy as np

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph


def two_layer_network(hidden: int = 32, classes: int = 10) -> Graph:
    """softmax(relu(x @ w0 + b0) @ w1) with seeded weights, for any batch."""
    generator = np.random.default_rng(0)

    def weights(*shape: int) -> np.ndarray:
        return (generator.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    with Graph() as graph:
        x = graph.input("x", ("batch", 64))
        hidden_layer = dl.relu(dl.add(dl.matmul(x, graph.param("w0", weights(64, hidden))), graph.param("b0", weights(hidden))))
        scores = dl.matmul(hidden_layer, graph.param("w1", weights(hidden, classes)))
        graph.output("probabilities", dl.softmax(scores, axis=-1))
    return graph


def main() -> None:
    """Print the graph, its kernels as affine loops, and the result against NumPy."""
    graph = two_layer_network()
    print(graph.module)

    affine = dlc.lower(graph.module, to="affine")
    functions, counts = dlc.count_ops(affine)
    print(f"at the affine level: {functions} functions, {counts['affine.for']} loops")

    model = dlc.compile(graph.module, params=graph.params)
    x = np.random.default_rng(1).standard_normal((5, 64)).astype(np.float32)
    (have,) = model(x)

    scores = np.maximum(x @ graph.params["w0"] + graph.params["b0"], 0) @ graph.params["w1"]
    want = np.exp(scores - scores.max(axis=-1, keepdims=True))
    want /= want.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-6)
    print("result agrees with NumPy: largest difference", float(np.abs(have - want).max()))


if __name__ == "__main__":
    main()

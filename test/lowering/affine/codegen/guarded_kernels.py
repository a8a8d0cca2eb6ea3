"""Runs random kernels on memory between guard pages, once at each edge; as a script, since a wrong access ends the process.

    python guarded_kernels.py <family> <modules>

The last kernels printed are those that were running when the process ended.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from random_kernels import FAMILIES, Kernel

sys.path.append(str(Path(__file__).parents[3]))

from guard_pages import EDGES, Edge, guarded, guarded_empty

import dlc
from dlc.dialects.dl.graph import Graph


def run(kernels: Sequence[Kernel]) -> None:
    """Compile the kernels together, and run them on guarded inputs, weights and results."""
    generator = np.random.default_rng(0)
    arrays = [kernel.arrays(generator) for kernel in kernels]
    with Graph() as graph:
        for number, kernel in enumerate(kernels):
            operands = [
                graph.param(f"w{number}_{position}", values)
                if position in kernel.constants
                else graph.input(f"x{number}_{position}", values.shape, kernel.dtype)
                for position, values in enumerate(arrays[number])
            ]
            graph.output(f"y{number}", kernel.build(operands))
    print("\n".join(["---", *map(str, kernels)]), flush=True)
    compiled = dlc.compile(graph.module, params=graph.params, cache=False)
    results = [_run_at(edge, compiled, graph, kernels, arrays) for edge in EDGES]
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first, second)


def _run_at(
    edge: Edge, compiled: dlc.CompiledModel, graph: Graph, kernels: Sequence[Kernel], arrays: Sequence[Sequence[np.ndarray]]
) -> list[np.ndarray]:
    params = {key: guarded(values, edge) for key, values in graph.params.items()}
    inputs = [
        guarded(values, edge)
        for kernel, operands in zip(kernels, arrays, strict=True)
        for position, values in enumerate(operands)
        if position not in kernel.constants
    ]
    outputs = [
        guarded_empty([dim for dim in spec.shape if isinstance(dim, int)], spec.numpy_dtype, edge) for spec in compiled.outputs
    ]
    return compiled.with_params(params).run(inputs, outputs)


def main() -> None:
    family, modules = FAMILIES[sys.argv[1]], int(sys.argv[2])
    phases, checks = [Phase.generate], list(HealthCheck)

    @settings(max_examples=modules, phases=phases, suppress_health_check=checks, database=None, deadline=None, derandomize=True)
    @given(st.lists(family, min_size=6, max_size=6))
    def check(kernels: list[Kernel]) -> None:
        run(kernels)

    check()


if __name__ == "__main__":
    main()

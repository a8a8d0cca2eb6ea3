"""What graph passes must hold on a random graph; run as a script, it prints what they make of some, for comparison.

PYTHONHASHSEED=1 python random_runs.py 0 500
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator

from random_graphs import RandomGraph, difference, seeded_graph

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.dialects.dl.interpreter import interpret
from dlc.lowering.pipeline import Element, Pipeline


def elements() -> list[Element]:
    """The passes of `dl-optimize`, in order."""
    return list(Pipeline(["dl-optimize"]))


def text_of(module: ir.Module) -> str:
    """The module with its locations."""
    return str(module.operation.get_asm(enable_debug_info=True, use_local_scope=True, assume_verified=True))


def faults(graph: RandomGraph, passes: list[Element], alone: bool) -> Iterator[str]:
    """What is wrong with passes that run one after another, or each `alone` on the graph itself."""
    original = text_of(graph.module)
    module, before = graph.module, original
    for element in passes:
        if alone:
            module, before = _parsed(original, graph), original
        pipeline = Pipeline([element])
        yield from _faults_of_run(graph, module, pipeline, before)
        before = text_of(module)
    if not alone:
        yield from _faults_of_run(graph, module, Pipeline(passes), before, again=True)


def _faults_of_run(graph: RandomGraph, module: ir.Module, pipeline: Pipeline, before: str, again: bool = False) -> Iterator[str]:
    """What is wrong with one run of a pipeline; `again` says that all of it ran before, and that it may still find more."""
    try:
        pipeline.run(module)
        after = text_of(module)
        if after == before:
            return
        wrong = difference(interpret(module, graph.inputs, graph.params), graph)
        if wrong:
            yield _report(pipeline, wrong, before, after)
        if again or pipeline.is_native():  # one run of upstream's cse leaves what only dead ops used
            return
        pipeline.run(module, verify=False)
        if text_of(module) != after:
            yield _report(pipeline, "is not idempotent", after, text_of(module))
    except Exception as error:
        yield _report(pipeline, f"{type(error).__name__}: {error}", before, "")


def _report(pipeline: Pipeline, wrong: str, before: str, after: str) -> str:
    return f"{pipeline}: {wrong}\n\nbefore:\n{before}\nafter:\n{after}"


def _parsed(text: str, graph: RandomGraph) -> ir.Module:
    with graph.module.context:
        return ir.Module.parse(text)


def digests(first: int, last: int) -> Iterator[str]:
    """For each seed a line that tells what every pass makes of its graph."""
    context = make_context()
    for seed in range(first, last):
        module = seeded_graph(seed, context).module
        found = hashlib.sha256(text_of(module).encode())
        for element in elements():
            Pipeline([element]).run(module)
            found.update(text_of(module).encode())
        yield f"{seed} {found.hexdigest()}"


if __name__ == "__main__":
    print("\n".join(digests(int(sys.argv[1]), int(sys.argv[2]))))

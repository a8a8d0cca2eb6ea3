"""Random graphs of nested branches, loops, scans and sizes that depend on data against onnxruntime. All values are of [batch, 4].

What decides is rounded first, and sums are halved, so that rounding errors change no decision and values stay small.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from reference_session import reference_session

import dlc

_DEEPEST = 2
_WEIGHTS = {
    "zero": np.float32(0),
    "limit": np.float32(16),
    "half": np.float32(0.5),
    "eight": np.float32(8),
    "none": np.array([0]),
    "one": np.array(1),
    "column": np.array([1, 1, -1]),
    "boxed": np.array([1, -1, 4]),
    "most": np.array([3]),
    "four": np.array(4),
    "pair": np.array(2),
    "number": np.array(0),
    "overlap": np.float32([0.5]),
    "three": np.array(3),
    "first": np.array([0]),
    "second": np.array([1]),
}


class _Maker:
    """Nodes on values that are there, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._numbers = itertools.count()

    def name(self) -> str:
        return f"v{next(self._numbers)}"

    def nodes(self, seen: Sequence[str], depth: int, count: int) -> tuple[list[onnx.NodeProto], list[str]]:
        """`count` steps, and all values that are there after them."""
        found: list[onnx.NodeProto] = []
        values = list(seen)
        for _ in range(count):
            makers = [self._unary, self._binary, self._product]
            makers += [self._compressed, self._places, self._distinct, self._largest, self._cut, self._counted, self._kept_boxes]
            makers += [self._branch, self._loop, self._scan, self._growing] if depth < _DEEPEST else []
            nodes, made = self.random.choice(makers)(values, depth)
            found += nodes
            values += made
        return found, values

    def _unary(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        op, result = self.random.choice(["Tanh", "Sin", "Relu", "Identity"]), self.name()
        return [helper.make_node(op, [self.random.choice(values)], [result])], [result]

    def _binary(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        op, result = self.random.choice(["Add", "Sub", "Max", "Min"]), self.name()
        if op in ("Max", "Min"):
            return [helper.make_node(op, self.random.choices(values, k=2), [result])], [result]
        total = self.name()
        nodes = [
            helper.make_node(op, self.random.choices(values, k=2), [total]),
            helper.make_node("Mul", [total, "half"], [result]),
        ]
        return nodes, [result]

    def _product(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        inner, result = self.name(), self.name()
        product = helper.make_node("MatMul", [self.random.choice(values), "w"], [inner])
        return [product, helper.make_node("Tanh", [inner], [result])], [result]

    def _less(self, value: str, bound: str) -> tuple[list[onnx.NodeProto], str]:
        total, result = self.name(), self.name()
        nodes, rounded = self._rounded(total)
        first = helper.make_node("ReduceSum", [value], [total], keepdims=0)
        return [first, *nodes, helper.make_node("Less", [rounded, bound], [result])], result

    def _rounded(self, value: str) -> tuple[list[onnx.NodeProto], str]:
        wide, result = self.name(), self.name()
        return [helper.make_node("Mul", [value, "eight"], [wide]), helper.make_node("Round", [wide], [result])], result

    def _chain(self, value: str, *steps: tuple[str, Sequence[str], dict[str, object]]) -> tuple[list[onnx.NodeProto], str]:
        """Nodes one after the other, each on what the last one gave ("_" among its inputs)."""
        nodes = []
        for op, inputs, attributes in steps:
            result = self.name()
            results = [result, self.name()] if op == "TopK" else [result]
            nodes.append(helper.make_node(op, [value if name == "_" else name for name in inputs], results, **attributes))
            value = result
        return nodes, value

    def _spread(self, value: str) -> tuple[list[onnx.NodeProto], str]:
        """[batch, 4] of numbers that broadcast with that."""
        return self._chain(value, ("Tanh", ["_"], {}), ("Add", ["_", "p"], {}), ("Mul", ["_", "half"], {}))

    def _ended(self, nodes: list[onnx.NodeProto], value: str) -> tuple[list[onnx.NodeProto], list[str]]:
        ends, result = self._spread(value)
        return [*nodes, *ends], [result]

    def _positive(self, value: str) -> tuple[list[onnx.NodeProto], str]:
        nodes, rounded = self._rounded(value)
        more, result = self._chain(rounded, ("Greater", ["_", "zero"], {}))
        return [*nodes, *more], result

    def _count(self, value: str, most: int) -> tuple[list[onnx.NodeProto], str]:
        """How many elements are positive, from 1 to `most`, as [1]."""
        nodes, mask = self._positive(value)
        whole = ("Cast", ["_"], {"to": TensorProto.INT64})
        limits = ("Mod", ["_", {4: "four", 2: "pair"}[most]], {}), ("Add", ["_", "one"], {}), ("Reshape", ["_", "second"], {})
        more, result = self._chain(mask, whole, ("ReduceSum", ["_"], {"keepdims": 0}), *limits)
        return [*nodes, *more], result

    def _compressed(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        """The rows of a value whose sum is positive."""
        total, value = self.name(), self.random.choice(values)
        nodes, mask = self._positive(total)
        first = helper.make_node("ReduceSum", [value, "second"], [total], keepdims=0)
        more, rows = self._chain(value, ("Compress", ["_", mask], {"axis": 0}), ("ReduceSum", ["_", "first"], {}))
        return self._ended([first, *nodes, *more], rows)

    def _places(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        """What stands at the places of positive elements."""
        one, other = self.random.choices(values, k=2)
        nodes, mask = self._positive(one)
        steps = (
            ("NonZero", ["_"], {}),
            ("Transpose", ["_"], {}),
            ("GatherND", [other, "_"], {}),
            ("ReduceSum", ["_"], {"keepdims": 0}),
        )
        more, total = self._chain(mask, *steps)
        return self._ended([*nodes, *more], total)

    def _distinct(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        nodes, rounded = self._rounded(self.random.choice(values))
        steps = ("Unique", ["_"], {}), ("Mul", ["_", "half"], {}), ("ReduceMean", ["_"], {"keepdims": 0})
        more, mean = self._chain(rounded, *steps)
        return self._ended([*nodes, *more], mean)

    def _largest(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        one, other = self.random.choices(values, k=2)
        nodes, count = self._count(one, 4)
        more, sums = self._chain(other, ("TopK", ["_", count], {}), ("ReduceSum", ["_", "second"], {}))
        return self._ended([*nodes, *more], sums)

    def _cut(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        one, other = self.random.choices(values, k=2)
        nodes, count = self._count(one, 2)
        times, tiles = self._chain(count, ("Concat", ["_", "second"], {"axis": 0}))
        cut = ("Slice", ["_", "none", count, "first"], {})
        more, most = self._chain(other, cut, ("Tile", ["_", tiles], {}), ("ReduceMax", ["_"], {"axes": [0]}))
        return self._ended([*nodes, *times, *more], most)

    def _counted(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        """Numbers up to a count, as many as that says."""
        nodes, count = self._count(self.random.choice(values), 4)
        steps = ("Squeeze", ["_"], {}), ("Range", ["number", "_", "one"], {}), ("Cast", ["_"], {"to": TensorProto.FLOAT})
        more, total = self._chain(count, *steps, ("ReduceSum", ["_"], {"keepdims": 0}))
        return self._ended([*nodes, *more], total)

    def _kept_boxes(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        """How many boxes are left; what is compared is rounded."""
        nodes, rounded = self._rounded(self.random.choice(values))
        more, boxes = self._chain(rounded, ("Reshape", ["_", "boxed"], {}))
        sums, scores = self._chain(rounded, ("ReduceSum", ["_", "second"], {"keepdims": 0}), ("Reshape", ["_", "column"], {}))
        suppression = ("NonMaxSuppression", [boxes, "_", "most", "overlap"], {})
        steps = suppression, ("Cast", ["_"], {"to": TensorProto.FLOAT}), ("ReduceSum", ["_"], {"keepdims": 0})
        last, total = self._chain(scores, *steps)
        return self._ended([*nodes, *more, *sums, *last], total)

    def _given(self, values: Sequence[str], count: int) -> tuple[list[onnx.NodeProto], list[str]]:
        """Values of a body under new names, for its outputs."""
        names = [self.name() for _ in range(count)]
        return [helper.make_node("Identity", [self.random.choice(values)], [name]) for name in names], names

    def _branch(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        nodes, condition = self._less(self.random.choice(values), "zero")
        results = [self.name() for _ in range(self.random.randint(1, 2))]
        graphs = []
        for _ in range(2):
            inner, inside = self.nodes(values, depth + 1, self.random.randint(0, 2))
            ends, given = self._given(inside, len(results))
            graphs.append(helper.make_graph([*inner, *ends], "branch", [], _infos(given)))
        return [*nodes, helper.make_node("If", [condition], results, then_branch=graphs[0], else_branch=graphs[1])], results

    def _loop(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        starts = self.random.choices(values, k=self.random.randint(1, 3))
        kept, arguments = self.random.randint(0, 2), [self.name() for _ in starts]
        number, going = self.name(), self.name()
        inner, inside = self.nodes([*values, *arguments], depth + 1, self.random.randint(1, 3))
        asked, more = self._less(self.random.choice(inside), "limit") if self.random.random() < 0.5 else ([], going)
        ends, given = self._given([*inside, *arguments], len(starts) + kept)
        last = self.name()
        nodes = [*inner, *asked, helper.make_node("Identity", [more], [last]), *ends]
        inputs = [
            helper.make_tensor_value_info(number, TensorProto.INT64, []),
            helper.make_tensor_value_info(going, TensorProto.BOOL, []),
        ]
        outputs = [helper.make_tensor_value_info(last, TensorProto.BOOL, None), *_infos(given)]
        body = helper.make_graph(nodes, "body", [*inputs, *_infos(arguments)], outputs)
        results, stacked = [self.name() for _ in starts], [self.name() for _ in range(kept)]
        sums = [self.name() for _ in stacked]
        loop = helper.make_node("Loop", [self.random.choice(["n", "three"]), "", *starts], [*results, *stacked], body=body)
        ends = [
            helper.make_node("ReduceSum", [each, "first"], [total], keepdims=0) for each, total in zip(stacked, sums, strict=True)
        ]
        return [loop, *ends], [*results, *sums]

    def _growing(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        number, going, last, before, after, grown, total = (self.name() for _ in range(7))
        inputs = [
            helper.make_tensor_value_info(number, TensorProto.INT64, []),
            helper.make_tensor_value_info(going, TensorProto.BOOL, []),
        ]
        nodes = [
            helper.make_node("Identity", [going], [last]),
            helper.make_node("Concat", [before, self.random.choice(values)], [after], axis=0),
        ]
        outputs = [helper.make_tensor_value_info(last, TensorProto.BOOL, None), *_infos([after])]
        body = helper.make_graph(nodes, "body", [*inputs, *_infos([before])], outputs)
        loop = helper.make_node("Loop", ["n", "", self.random.choice(values)], [grown], body=body)
        ends = [helper.make_node("ReduceSum", [grown, "first"], [total]), helper.make_node("Add", [total, "p"], [self.name()])]
        return [loop, *ends], [ends[1].output[0]]

    def _scan(self, values: Sequence[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        state, part, column, total, joined, last, stacked = (self.name() for _ in range(7))
        nodes = [helper.make_node("Unsqueeze", [part, "second"], [column]), helper.make_node("Add", [state, column], [total])]
        inner, inside = self.nodes([*values, state, total], depth + 1, self.random.randint(0, 2))
        ends, given = self._given(inside, 2)
        body = helper.make_graph([*nodes, *inner, *ends], "body", _infos([state, part]), _infos(given, (None, 4)))
        attributes = {name: [self.random.randint(0, 1)] for name in ("scan_input_directions", "scan_output_directions")}
        axes = {"scan_input_axes": [1], "scan_output_axes": [self.random.randint(0, 2)]}
        scan = helper.make_node(
            "Scan", [self.random.choice(values), joined], [last, stacked], body=body, num_scan_inputs=1, **attributes, **axes
        )
        return [helper.make_node("Concat", self.random.choices(values, k=2), [joined], axis=1), scan], [last]


def _infos(names: Sequence[str], shape: Sequence[int | None] | None = None) -> list[onnx.ValueInfoProto]:
    return [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in names]


def _model(seed: int, batch: int | str) -> onnx.ModelProto:
    maker = _Maker(seed)
    nodes, values = maker.nodes(["p", "q"], 0, maker.random.randint(3, 5))
    ends, outputs = maker._given(values[-3:], 3)
    weights = {**_WEIGHTS, "w": np.random.default_rng(seed).standard_normal((4, 4)).astype(np.float32)}
    inputs = [*_infos(["p", "q"], (batch, 4)), helper.make_tensor_value_info("n", TensorProto.INT64, [])]  # type: ignore[arg-type]
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    graph = helper.make_graph([*nodes, *ends], "random", inputs, _infos(outputs), tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


_QUICK = 6
"""Seeds of the quick tests; the slow ones bring the graphs to 500."""


def _check(seed: int, batch: int | str) -> None:
    model, generator = _model(seed, batch), np.random.default_rng(seed)
    session, compiled = reference_session(model), dlc.compile(model)
    for steps in (1, 4):
        rows = 2 if batch == 2 else steps + 1
        feeds = {name: generator.standard_normal((rows, 4)).astype(np.float32) for name in "pq"} | {"n": np.array(steps)}
        for have, want in zip(compiled(feeds), session.run(None, feeds), strict=True):
            np.testing.assert_allclose(have, want, rtol=1e-3, atol=1e-4)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("batch", [2, "B"])
@pytest.mark.parametrize("seed", range(_QUICK))
def test_random_graphs(seed: int, batch: int | str) -> None:
    _check(seed, batch)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [2, "B"])
@pytest.mark.parametrize("seed", range(_QUICK, 250))
def test_many_random_graphs(seed: int, batch: int | str) -> None:
    _check(seed, batch)

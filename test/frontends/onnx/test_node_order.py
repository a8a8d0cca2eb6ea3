"""Nodes that stand in any order, as some converters leave them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx_check import OPSET, build_model, check, compare, node, reference_session

import dlc
from dlc.frontends.onnx.node_order import in_order


def _x() -> np.ndarray:
    return np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


@st.composite
def _graphs(draw: st.DrawFn) -> tuple[list[onnx.NodeProto], list[onnx.NodeProto]]:
    """Nodes of which each uses the input or what some before it make, and the same in another order."""
    nodes: list[onnx.NodeProto] = []
    for number in range(draw(st.integers(1, 9))):
        names = ["x", *(f"v{before}" for before in range(number))]
        nodes.append(node("Add", [draw(st.sampled_from(names)), draw(st.sampled_from(names))], [f"v{number}"]))
    return nodes, draw(st.permutations(nodes))


@settings(deadline=None)
@given(_graphs())
def test_nodes_come_behind_those_that_they_need(graphs: tuple[list[onnx.NodeProto], list[onnx.NodeProto]]) -> None:
    nodes, shuffled = graphs
    assert in_order(nodes) == nodes
    known = {"x"}
    for each in in_order(shuffled):
        assert known.issuperset(each.input)
        known.update(each.output)
    assert len(known) == len(nodes) + 1


def test_cycles_come_last() -> None:
    first, second = node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"])
    assert in_order([first, second, node("Relu", ["x"], ["c"])])[1:] == [first, second]


def test_casts_behind_what_uses_them() -> None:
    nodes = [node("Exp", ["half"], ["e"]), node("Cast", ["e"], ["y"], to=TensorProto.FLOAT), _cast("x", "half")]
    check(nodes, {"x": _x()}, rtol=2e-3)


def test_the_model_that_was_given_stays() -> None:
    model = build_model([node("Exp", ["h"], ["y"]), node("Neg", ["x"], ["h"])], {"x": _x()})
    before = model.SerializeToString()
    np.testing.assert_allclose(dlc.compile(model)(_x())[0], np.exp(-_x()), rtol=1e-6)
    assert model.SerializeToString() == before


def test_bodies_use_what_is_made_behind_them() -> None:
    branch = [node("Neg", ["scale"], ["t"]), node("Mul", ["t", "scale"], ["m"])]
    constants = {"zero": np.array(0, np.float32)}
    wanted = reference_session(build_model(_choice(branch), {"x": _x()}, constants)).run(None, {"x": _x()})
    model = build_model(_choice(branch[::-1])[::-1], {"x": _x()}, constants)
    compare(dlc.compile(model)(_x())[0], wanted[0], "y")


def test_names_of_bodies_are_their_own() -> None:
    """A branch has a value t, and so has the graph around it, of the branch's result: that is no cycle."""
    branch = _branch([node("Neg", ["x"], ["t"]), node("Exp", ["t"], ["m"])], "m")
    choice = node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    nodes = [choice, node("Abs", ["y"], ["t"]), node("Relu", ["x"], ["z"])]
    assert in_order(nodes) == nodes


def test_functions_in_any_order() -> None:
    opset = helper.make_opsetid("", OPSET)
    body = [node("Add", ["h", "a"], ["b"]), node("Exp", ["a"], ["h"])]
    model = build_model([node("Twisted", ["x"], ["y"], domain="own")], {"x": _x()})
    model.functions.append(helper.make_function("own", "Twisted", ["a"], ["b"], body, [opset]))
    np.testing.assert_allclose(dlc.compile(model)(_x())[0], np.exp(_x()) + _x(), rtol=1e-6)


def _cast(source: str, target: str) -> onnx.NodeProto:
    return node("Cast", [source], [target], to=TensorProto.FLOAT16)


def _choice(branch: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """The value m of `branch` where the exponentials of x have a positive sum, else the exponentials."""
    other = _branch([node("Identity", ["scale"], ["k"])], "k")
    return [
        node("Exp", ["x"], ["scale"]),
        node("ReduceSum", ["scale"], ["sum"], keepdims=0),
        node("Greater", ["sum", "zero"], ["large"]),
        node("If", ["large"], ["y"], then_branch=_branch(branch, "m"), else_branch=other),
    ]


def _branch(nodes: Sequence[onnx.NodeProto], output: str) -> onnx.GraphProto:
    return helper.make_graph(nodes, "branch", [], [helper.make_tensor_value_info(output, TensorProto.FLOAT, [3, 4])])

"""The builders of dl ops: found by name, with their specification, and with typed errors."""

from __future__ import annotations

import inspect
import pydoc

import numpy as np
import pytest

import dlc
from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.attributes import AttributeMismatch
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.types import ConstraintError


@pytest.mark.parametrize("name", dl.ops())
def test_every_op_has_a_documented_builder(name: str) -> None:
    builder, op = getattr(dl, name), dl.ops()[name]
    assert builder is getattr(dl, f"{name}_")
    assert builder.__name__ == name
    assert inspect.getdoc(op).splitlines()[0] in builder.__doc__
    operands = [field.name for field in op.operand_fields]
    parameters = inspect.signature(builder).parameters
    assert list(parameters) == [*operands, *op.attribute_fields, "loc", "ip"]
    assert all(parameters[operand].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for operand in operands)


def test_help() -> None:
    text = pydoc.plain(pydoc.render_doc(dl.softmax))
    assert "softmax(x, *, axis=-1, loc=None, ip=None)" in text
    assert "result = exp(x - max(x)) / sum(exp(x - max(x)))" in text
    assert "c1: axis is in [-rank, rank)." in text
    assert "axis: axis that is normalised; negative ones count from the end (an i64 integer)" in text


def test_listing_and_unknown_names() -> None:
    assert {"matmul", "conv", "attention", "not"} <= set(dir(dl))
    with pytest.raises(AttributeError, match=r"the dl dialect has no op 'sofmax'; did you mean 'softmax'\?"):
        _ = dl.sofmax


BAD = {
    "constraint": (lambda x: dl.softmax(x, axis=5), ConstraintError, "c1: axis 5 is out of range for rank 2"),
    "element type": (lambda x: dl.not_(x), ConstraintError, "t1: operand 'x' is f32"),
    "a word for an integer": (lambda x: dl.softmax(x, axis="a"), AttributeMismatch, "'axis' expects an i64 integer but got 'a'"),
    "a fraction for an integer": (lambda x: dl.softmax(x, axis=1.5), AttributeMismatch, "'axis' expects an i64 .* but got 1.5"),
    "nothing for an integer": (lambda x: dl.softmax(x, axis=None), AttributeMismatch, "'axis' expects an i64 integer but got None"),
    "a word for a number": (lambda x: dl.leaky_relu(x, alpha="1"), AttributeMismatch, "'alpha' expects an f64 number but got '1'"),
    "a number for integers": (lambda x: dl.transpose(x, perm=1), AttributeMismatch, "'perm' expects a list of integers"),
    "no element type": (lambda x: dl.cast(x, to="f33"), AttributeMismatch, "'to' expects one of .* but got 'f33'"),
    "complex elements": (lambda x: dl.constant(value=np.ones(2, complex)), AttributeMismatch, "'value' expects dense elements"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_does_not_fit_is_a_dlc_error(kind: str) -> None:
    build, error, message = BAD[kind]
    with pytest.raises(error, match=message) as caught, Graph() as graph:
        build(graph.input("x", (2, 3)))
    assert isinstance(caught.value, (dlc.VerifyError, ValueError))


MISUSED = {
    "too few operands": (lambda x: dl.matmul(x), "dl.matmul needs operand 'rhs'"),
    "too many operands": (lambda x: dl.relu(x, x), r"dl.relu takes 1 operands \(x\) but got 2"),
    "unknown attribute": (lambda x: dl.softmax(x, axes=1), r"dl.softmax has no attribute 'axes' \(attributes: axis\)"),
    "missing attribute": (lambda x: dl.cast(x), "dl.cast needs attribute 'to'"),
    "an array for a value": (lambda x: dl.add(x, np.ones(3)), "operand 'rhs' of dl.add is a ndarray, not an MLIR value"),
}


@pytest.mark.parametrize("kind", MISUSED)
def test_a_wrong_call_is_a_type_error(kind: str) -> None:
    build, message = MISUSED[kind]
    with pytest.raises(TypeError, match=message), Graph() as graph:
        build(graph.input("x", (2, 3)))


def test_numpy_values_are_attributes_too() -> None:
    with Graph() as graph:
        x = graph.input("x", (2, 3))
        soft = dl.softmax(x, axis=np.int64(1))
        graph.output("y", dl.add(soft, dl.constant(value=np.ones(3, ">f4"))))
    (y,) = dlc.compile(graph.module)(np.zeros((2, 3), np.float32))
    np.testing.assert_allclose(y, np.full((2, 3), 4 / 3), rtol=1e-6)


def test_a_value_of_another_graph_is_an_error() -> None:
    with Graph() as first:
        x = first.input("x", (2,))
        first.output("y", x)
    with pytest.raises(dlc.VerifyError, match=r"dl\.relu: error: an operand belongs to another context"), Graph() as second:
        second.output("y", dl.relu(x))


def test_a_graph_that_is_not_valid_is_an_error() -> None:
    with pytest.raises(dlc.VerifyError, match="the graph is not valid IR"), Graph() as graph:
        x = graph.input("x", (2,))
        graph.output("y", ir.Operation.create("dl.relu", operands=[x, x], results=[x.type]).result)

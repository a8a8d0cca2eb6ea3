"""Every spelling of a normalisation becomes one op that means the same; near misses stay as they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from equality import apply_passes, assert_close, op_names, random_array

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.dialects.dl.types import NUMPY_DTYPES
from dlc.lowering.dl.matching import type_of

Formula = Callable[[ir.Value], ir.Value]


def n(value: float, x: ir.Value, shape: tuple[int, ...] = ()) -> ir.Value:
    return dl.constant(value=np.full(shape, value, NUMPY_DTYPES[type_of(x).dtype]))


def weight(x: ir.Value, shape: tuple[int, ...], seed: int) -> ir.Value:
    return dl.constant(value=random_array(shape, type_of(x).dtype, seed))


def mean(x: ir.Value, *axes: int) -> ir.Value:
    return dl.reduce_mean(x, axes=axes or (-1,), keepdims=True)


def variance(x: ir.Value, *axes: int) -> ir.Value:
    """As torch writes it, with x - mean(x) computed once more."""
    return mean(dl.pow(dl.sub(x, mean(x, *axes)), n(2, x)), *axes)


def variance_of_product(x: ir.Value, *axes: int) -> ir.Value:
    centred = dl.sub(x, mean(x, *axes))
    return mean(dl.mul(centred, centred), *axes)


def root(x: ir.Value, epsilon: float = 1e-5) -> ir.Value:
    return dl.sqrt(dl.add(x, n(epsilon, x)))


def standard(x: ir.Value, *axes: int) -> ir.Value:
    return dl.div(dl.sub(x, mean(x, *axes)), root(variance(x, *axes)))


def two_products(x: ir.Value, factor: ir.Value) -> ir.Value:
    return dl.add(dl.mul(dl.exp(x), factor), dl.mul(dl.tanh(x), factor))


def affine(x: ir.Value, *shape: int) -> ir.Value:
    return dl.add(dl.mul(x, weight(x, shape or (4,), 5)), weight(x, shape or (4,), 6))


def tensorflow_norm(x: ir.Value) -> ir.Value:
    factor = dl.mul(dl.reciprocal(root(variance_of_product(x))), weight(x, (4,), 5))
    return dl.add(dl.mul(x, factor), dl.sub(weight(x, (4,), 6), dl.mul(mean(x), factor)))


def tensorflow_norm_without_weights(x: ir.Value) -> ir.Value:
    factor = dl.rsqrt(dl.add(variance_of_product(x), n(1e-5, x)))
    return dl.sub(dl.mul(x, factor), dl.mul(mean(x), factor))


def rms(x: ir.Value) -> ir.Value:
    return dl.mul(x, dl.rsqrt(dl.add(mean(dl.pow(x, n(2, x))), n(1e-6, x))))


def group(x: ir.Value) -> ir.Value:
    """Two groups of six channels, as torch writes it."""
    ones, zeros = weight_of([1, 1], x), weight_of([0, 0], x)
    normal = dl.instance_norm(dl.reshape(x, shape=[-1, 2, -1], copied=[0, -1, -1]), ones, zeros)
    return affine(dl.reshape(normal, shape=[-1, 6, 4], copied=[0, -1, -1]), 6, 1)


def weight_of(values: list[float], x: ir.Value) -> ir.Value:
    return dl.constant(value=np.array(values, NUMPY_DTYPES[type_of(x).dtype]))


def softmax(x: ir.Value, axis: int = -1) -> ir.Value:
    powers = dl.exp(dl.sub(x, dl.reduce_max(x, axes=[axis], keepdims=True)))
    return dl.div(powers, dl.reduce_sum(powers, axes=[axis], keepdims=True))


def softmax_by_product(x: ir.Value) -> ir.Value:
    powers = dl.exp(dl.sub(x, dl.unsqueeze(dl.reduce_max(x, axes=[-1]), axes=[-1])))
    return dl.mul(dl.reciprocal(dl.unsqueeze(dl.reduce_sum(powers, axes=[-1]), axes=[2])), powers)


def log_softmax_at_once(x: ir.Value) -> ir.Value:
    top = dl.reduce_max(x, axes=[-1], keepdims=True)
    return dl.sub(x, dl.add(top, dl.log(dl.reduce_sum(dl.exp(dl.sub(x, top)), axes=[-1], keepdims=True))))


def log_softmax(x: ir.Value) -> ir.Value:
    shifted = dl.sub(x, dl.reduce_max(x, axes=[-1], keepdims=True))
    return dl.sub(shifted, dl.log(dl.reduce_sum(dl.exp(shifted), axes=[-1], keepdims=True)))


FORMS: dict[str, tuple[str, Formula]] = {
    "softmax": ("softmax", softmax),
    "softmax along another axis": ("softmax", lambda x: softmax(x, 1)),
    "softmax by a product": ("softmax", softmax_by_product),
    "log_softmax": ("log_softmax", log_softmax),
    "log_softmax at once": ("log_softmax", log_softmax_at_once),
    "layer_norm: torch": ("layer_norm", lambda x: affine(standard(x))),
    "layer_norm: two axes": ("layer_norm", lambda x: affine(standard(x, 1, 2), 6, 4)),
    "layer_norm: without weights": ("layer_norm", standard),
    "layer_norm: scale alone": ("layer_norm", lambda x: dl.mul(weight(x, (4,), 5), standard(x))),
    "layer_norm: bias alone": ("layer_norm", lambda x: dl.add(standard(x), weight(x, (4,), 5))),
    "layer_norm: rsqrt": ("layer_norm", lambda x: affine(dl.mul(dl.rsqrt(dl.add(n(1e-5, x), variance(x))), dl.sub(x, mean(x))))),
    "layer_norm: reciprocal": ("layer_norm", lambda x: affine(dl.mul(dl.sub(x, mean(x)), dl.reciprocal(root(variance(x)))))),
    "layer_norm: one over root": ("layer_norm", lambda x: affine(dl.mul(dl.sub(x, mean(x)), dl.div(n(1, x), root(variance(x)))))),
    "layer_norm: power": (
        "layer_norm",
        lambda x: affine(dl.div(dl.sub(x, mean(x)), dl.pow(dl.add(variance(x), n(1e-5, x)), n(0.5, x)))),
    ),
    "layer_norm: weights of higher rank": ("squeeze squeeze layer_norm", lambda x: affine(standard(x), 1, 1, 4)),
    "layer_norm: tensorflow": ("layer_norm", tensorflow_norm),
    "layer_norm: tensorflow without weights": ("layer_norm", tensorflow_norm_without_weights),
    "layer_norm: wide": ("layer_norm", lambda x: dl.cast(standard(dl.cast(x, to="f32")), to=type_of(x).dtype)),
    "rms_norm": ("rms_norm", rms),
    "rms_norm: scale": ("rms_norm", lambda x: dl.mul(weight(x, (4,), 5), rms(x))),
    "rms_norm: one plus scale": ("add rms_norm", lambda x: dl.mul(rms(x), dl.add(n(1, x), weight(x, (4,), 5)))),
    "rms_norm: quotient": ("rms_norm", lambda x: dl.div(x, root(mean(dl.mul(x, x))))),
    "rms_norm: wide": ("rms_norm", lambda x: dl.mul(weight(x, (4,), 5), dl.cast(rms(dl.cast(x, to="f32")), to=type_of(x).dtype))),
    "batch_norm": (
        "exp reshape reshape reshape reshape batch_norm",
        lambda x: affine(dl.div(dl.sub(x, weight(x, (6, 1), 1)), root(dl.exp(weight(x, (6, 1), 2)))), 6, 1),
    ),
    "instance_norm": ("reshape reshape instance_norm", lambda x: affine(standard(x, 2), 6, 1)),
    "group_norm": ("reshape reshape group_norm", group),
}

KEPT: dict[str, Formula] = {
    "softmax without a maximum": lambda x: dl.div(dl.exp(x), dl.reduce_sum(dl.exp(x), axes=[-1], keepdims=True)),
    "softmax over two axes": lambda x: dl.div(dl.exp(dl.sub(x, dl.reduce_max(x, axes=[1, 2], keepdims=True))), n(1, x)),
    "maximum along another axis": lambda x: dl.div(
        dl.exp(dl.sub(x, dl.reduce_max(x, axes=[1], keepdims=True))), dl.reduce_sum(x, axes=[-1], keepdims=True)
    ),
    "epsilon 0": lambda x: dl.div(dl.sub(x, mean(x)), root(variance(x), 0.0)),
    "epsilon below 0": lambda x: dl.div(dl.sub(x, mean(x)), root(variance(x), -1e-5)),
    "first axes": lambda x: standard(x, 1),
    "another mean": lambda x: dl.div(dl.sub(x, mean(x, 1)), root(variance(x))),
    "cubes": lambda x: dl.div(x, root(mean(dl.pow(x, n(3, x))))),
    "factor of two other values": lambda x: two_products(x, dl.rsqrt(dl.add(variance(x), n(1e-5, x)))),
    "quotient of another value": lambda x: dl.div(dl.exp(x), root(mean(dl.mul(x, x)))),
}


def graph_of(formula: Formula, shape: tuple[str | int, ...], dtype: str) -> Graph:
    with Graph() as graph:
        graph.output("y", formula(graph.input("x", shape, dtype)))
    return graph


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("name", FORMS)
def test_form_becomes_one_op(name: str, dtype: str) -> None:
    wanted, formula = FORMS[name]
    if "wide" in name and dtype in ("f64", "f32"):
        pytest.skip("nothing is widened")
    for shape in ((3, 6, 4), ("batch", 6, 4)):
        graph = graph_of(formula, shape, dtype)
        x = random_array((3, 6, 4), dtype, seed=1)
        want = interpret(graph.module, [x], {})
        apply_passes(graph.module, "dl-recompose-norms")
        assert op_names(graph.module) == wanted.split()
        assert_close(interpret(graph.module, [x], {}), want)


@pytest.mark.parametrize("name", KEPT)
def test_near_miss_stays(name: str) -> None:
    graph = graph_of(KEPT[name], (3, 6, 4), "f32")
    before = str(graph.module)
    apply_passes(graph.module, "dl-recompose-norms")
    assert str(graph.module) == before


def test_scale_of_the_whole_shape_is_no_weight() -> None:
    """A factor with a batch has not the dims of the normalised axes."""
    with Graph() as graph:
        x, factor = graph.input("x", ("batch", 4)), graph.input("factor", ("batch", 4))
        graph.output("y", dl.mul(standard(x), factor))
    apply_passes(graph.module, "dl-recompose-norms")
    assert op_names(graph.module) == ["layer_norm", "mul"]


def test_epsilon_is_the_written_number() -> None:
    graph = graph_of(lambda x: dl.div(x, root(mean(dl.mul(x, x)), 1e-6)), (3, 4), "f32")
    apply_passes(graph.module, "dl-recompose-norms")
    assert "epsilon = 1.000000e-06" in str(graph.module) or "epsilon = 9.9999999999999995E-7" in str(graph.module)

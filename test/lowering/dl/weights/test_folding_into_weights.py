"""dl-fold-batch-norm and dl-fold-scales keep results on random tensors, and leave no op behind where they apply."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.lowering.pipeline import Pipeline

_PASSES = ["dl-fold-batch-norm", "dl-fold-scales", "dl-fold-constants", "dl-outline-constants"]


class Maker:
    """Random inputs and weights of a graph; factors and variances are positive."""

    def __init__(self, graph: Graph, dtype: str) -> None:
        self.graph = graph
        self.dtype = dtype
        self.inputs: list[np.ndarray] = []
        self._numbers = np.random.default_rng(0)

    def input(self, *shape: int | str) -> ir.Value:
        self.inputs.append(self._array([dim if isinstance(dim, int) else 3 for dim in shape]))
        return self.graph.input(f"x{len(self.inputs)}", shape, self.dtype)

    def weight(self, *shape: int) -> ir.Value:
        return self.graph.param(f"w{len(self.graph.params)}", self._array(shape))

    def positive(self, *shape: int) -> ir.Value:
        return self.graph.param(f"w{len(self.graph.params)}", np.abs(self._array(shape)) + np.ones((), self._array(()).dtype))

    def number(self, value: float, *shape: int) -> ir.Value:
        return dl.constant(value=np.full(shape, value).astype(self._array(()).dtype))

    def statistics(self, channels: int) -> list[ir.Value]:
        return [self.weight(channels), self.weight(channels), self.weight(channels), self.positive(channels)]

    def _array(self, shape: object) -> np.ndarray:
        from dlc.dtypes import NUMPY_DTYPES

        numbers = self._numbers.standard_normal(shape) if self.dtype[0] in "fb" else self._numbers.integers(-9, 9, shape)
        return np.asarray(numbers).astype(NUMPY_DTYPES[self.dtype])


Build = Callable[[Maker], ir.Value]


def check(build: Build, left: set[str], dtype: str = "f32", tolerance: float = 2e-5) -> None:
    """Compare results before and after; `left` are the ops besides params that the entry may still have."""
    with Graph() as graph:
        make = Maker(graph, dtype)
        graph.output("y", build(make))
    want = interpret(graph.module, make.inputs, graph.params)
    Pipeline(_PASSES).run(graph.module)
    entry = next(op for op in graph.module.body.operations if "dl.precompute" not in op.attributes)
    names = {op.operation.name.removeprefix("dl.") for op in entry.regions[0].blocks[0].operations}
    assert names - {"param", "constant", "func.return"} == left
    for have, array in zip(interpret(graph.module, make.inputs, graph.params), want, strict=True):
        assert have.dtype == array.dtype
        wide = array.astype(np.float64)
        np.testing.assert_allclose(have.astype(np.float64), wide, rtol=tolerance, atol=tolerance * (1 + np.abs(wide).max()))


def _conv(make: Maker, x: ir.Value, groups: int = 1, last: bool = False, **attributes: object) -> ir.Value:
    """A convolution of 4 channels to 6."""
    shape = (3, 3, 4 // groups, 6) if last else (6, 4 // groups, 3, 3)
    return dl.conv(x, make.weight(*shape), groups=groups, channels_last=last, **attributes)


def _transposed(make: Maker, groups: int = 1, last: bool = False) -> ir.Value:
    x = make.input(2, 5, 5, 4) if last else make.input(2, 4, 5, 5)
    shape = (3, 3, 4, 6 // groups) if last else (4, 6 // groups, 3, 3)
    return dl.conv_transpose(x, make.weight(*shape), groups=groups, strides=(2, 2), channels_last=last)


def _norm(make: Maker, x: ir.Value, channels: int = 6) -> ir.Value:
    return dl.batch_norm(x, *make.statistics(channels), epsilon=1e-3)


def _heads(make: Maker, x: ir.Value) -> ir.Value:
    """Four heads of a projection with a bias."""
    projected = dl.add(dl.matmul(x, make.weight(8, 8)), make.weight(8))
    return dl.transpose(dl.reshape(projected, shape=(2, 5, 4, 2)), perm=(0, 2, 1, 3))


_IMAGE = (2, 4, 5, 5)
_PADS = (1, 1, 1, 1)
FOLDED: dict[str, tuple[Build, set[str]]] = {
    "norm after conv": (lambda m: _norm(m, _conv(m, m.input("n", 4, 5, 5), pads=_PADS)), {"conv"}),
    "norm after conv with bias": (lambda m: _norm(m, dl.conv(m.input(*_IMAGE), m.weight(6, 4, 1, 1), m.weight(6))), {"conv"}),
    "norm after grouped conv": (lambda m: _norm(m, _conv(m, m.input(*_IMAGE), groups=2)), {"conv"}),
    "norm after transposed conv": (lambda m: _norm(m, _transposed(m)), {"conv_transpose"}),
    "norm after grouped transposed conv": (lambda m: _norm(m, _transposed(m, groups=2)), {"conv_transpose"}),
    "norm after matmul": (lambda m: _norm(m, dl.matmul(m.input("n", 4), m.weight(4, 6))), {"matmul", "add"}),
    "norm after dense": (
        lambda m: _norm(m, dl.add(m.weight(6), dl.matmul(m.input(3, 4), m.weight(4, 6)))),
        {"matmul", "add"},
    ),
    "norm of rows": (lambda m: _norm(m, dl.matmul(m.weight(6, 4), m.input(2, 4, 5))), {"matmul", "add"}),
    "norm alone": (lambda m: _norm(m, m.input("n", 6, 5)), {"mul", "add"}),
    "norm before conv": (lambda m: _conv(m, _norm(m, m.input(*_IMAGE), 4)), {"conv"}),
    "norm before padded conv": (lambda m: _conv(m, _norm(m, m.input(*_IMAGE), 4), pads=_PADS), {"mul", "add", "conv"}),
    "factor after conv": (lambda m: dl.mul(_conv(m, m.input(*_IMAGE)), m.weight(1, 6, 1, 1)), {"conv"}),
    "quotient after conv": (lambda m: dl.div(_conv(m, m.input(*_IMAGE)), m.positive(6, 1, 1)), {"conv"}),
    "factor first": (lambda m: dl.mul(m.weight(6, 1, 1), _conv(m, m.input(*_IMAGE))), {"conv"}),
    "factor after conv with channels last": (
        lambda m: dl.mul(_conv(m, m.input(2, 5, 5, 4), last=True), m.weight(6)),
        {"conv"},
    ),
    "factor after transposed conv with groups and channels last": (
        lambda m: dl.mul(_transposed(m, groups=2, last=True), m.weight(6)),
        {"conv_transpose"},
    ),
    "factor before grouped conv": (
        lambda m: _conv(m, dl.mul(m.input(*_IMAGE), m.weight(4, 1, 1)), groups=2, pads=_PADS),
        {"conv"},
    ),
    "factor before grouped conv with channels last": (
        lambda m: _conv(m, dl.mul(m.input(2, 5, 5, 4), m.weight(4)), groups=2, last=True),
        {"conv"},
    ),
    "number before conv": (lambda m: _conv(m, dl.div(m.input(*_IMAGE), m.number(3.0, 1, 1)), pads=_PADS), {"conv"}),
    "factor before transposed conv": (
        lambda m: dl.conv_transpose(dl.mul(m.input(*_IMAGE), m.weight(4, 1, 1)), m.weight(4, 3, 3, 3), groups=2),
        {"conv_transpose"},
    ),
    "shift after conv": (lambda m: dl.sub(_conv(m, m.input(*_IMAGE)), m.weight(6, 1, 1)), {"conv"}),
    "number after conv": (lambda m: dl.add(_conv(m, m.input(*_IMAGE)), m.number(3.0)), {"conv"}),
    "shift before conv": (lambda m: _conv(m, dl.sub(m.input(*_IMAGE), m.weight(4, 1, 1)), groups=2), {"conv"}),
    "factor after matmul": (lambda m: dl.mul(dl.matmul(m.input(2, 3, 4), m.weight(4, 6)), m.weight(6)), {"matmul"}),
    "factor of rows": (lambda m: dl.mul(dl.matmul(m.weight(6, 4), m.input(4, 5)), m.weight(6, 1)), {"matmul"}),
    "factor before matmul": (lambda m: dl.matmul(dl.mul(m.input("n", 4), m.weight(4)), m.weight(4, 6)), {"matmul"}),
    "factor after dense": (
        lambda m: dl.mul(dl.add(dl.matmul(m.input(3, 4), m.weight(4, 6)), m.weight(6)), m.weight(6)),
        {"matmul", "add"},
    ),
    "factor and shift before dense": (
        lambda m: dl.add(dl.matmul(dl.add(dl.mul(m.input(3, 4), m.weight(4)), m.weight(4)), m.weight(4, 6)), m.weight(6)),
        {"matmul", "add"},
    ),
    "chain of factors": (
        lambda m: dl.div(dl.mul(dl.div(m.input(3, 4), m.positive(4)), m.weight(1, 4)), m.positive()),
        {"mul"},
    ),
    "chain of quotients": (lambda m: dl.div(dl.div(m.input(3, 4), m.positive(4)), m.positive()), {"div"}),
    "chain of shifts": (lambda m: dl.sub(dl.add(dl.sub(m.input(3, 4), m.weight(4)), m.weight()), m.weight(4)), {"sub"}),
    "chain of factors and shifts": (
        lambda m: dl.mul(dl.sub(dl.mul(m.input(3, 4), m.weight(4)), m.weight(4)), m.weight(4)),
        {"mul", "sub"},
    ),
    "attention": (
        lambda m: dl.attention(
            dl.mul(m.input(1, 2, 3, 4), m.number(0.5)), dl.div(m.input(1, 2, 5, 4), m.number(4.0)), m.input(1, 2, 5, 4)
        ),
        {"attention"},
    ),
    "factor of a product": (
        lambda m: dl.mul(
            dl.matmul(_heads(m, m.input(2, 5, 8)), dl.transpose(m.input(2, 4, 5, 2), perm=(0, 1, 3, 2))), m.number(0.7)
        ),
        {"matmul", "add", "reshape", "transpose"},
    ),
}


@pytest.mark.parametrize("name", FOLDED)
def test_folded(name: str) -> None:
    build, left = FOLDED[name]
    check(build, left)


LEFT: dict[str, tuple[Build, set[str]]] = {
    "computed statistics": (
        lambda m: dl.batch_norm(m.input(2, 6), *m.statistics(6)[:3], dl.exp(m.input(6))),
        {"batch_norm", "exp"},
    ),
    "unknown channels": (lambda m: dl.batch_norm(m.input(2, "c"), *m.statistics(3)), {"batch_norm"}),
    "factor of each place": (lambda m: dl.mul(_conv(m, m.input(*_IMAGE)), m.weight(3, 3)), {"conv", "mul"}),
    "factor that repeats the result": (
        lambda m: dl.mul(dl.matmul(m.input(1, 4), m.weight(4, 6)), m.weight(2, 1)),
        {"matmul", "mul"},
    ),
    "factor of unknown rows": (lambda m: dl.mul(dl.matmul(m.weight(1, 4), m.input(4, "n")), m.weight(3)), {"matmul", "mul"}),
    "shift before padded conv": (
        lambda m: _conv(m, dl.add(m.input(*_IMAGE), m.weight(4, 1, 1)), pads=_PADS),
        {"add", "conv"},
    ),
    "computed factor": (lambda m: dl.mul(dl.matmul(m.input(3, 4), m.weight(4, 6)), m.input(6)), {"matmul", "mul"}),
    "dividend": (lambda m: dl.div(m.weight(6), dl.matmul(m.input(3, 4), m.weight(4, 6))), {"matmul", "div"}),
    "outer product of factors": (lambda m: dl.mul(dl.mul(m.input(3, 4), m.weight(3, 1)), m.weight(1, 4)), {"mul"}),
    "product too small": (
        lambda m: dl.mul(dl.mul(m.input(3, 4), m.number(1e-30)), m.number(1e-30)),
        {"mul"},
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_left(name: str) -> None:
    build, left = LEFT[name]
    check(build, left)


def test_values_with_other_users_stay() -> None:
    def build(make: Maker) -> ir.Value:
        product = dl.matmul(make.input(3, 4), make.weight(4, 6))
        return dl.mul(dl.mul(product, make.weight(6)), dl.relu(product))

    check(build, {"matmul", "mul", "relu"})


@pytest.mark.parametrize("after", ["conv", "matmul"])
def test_a_bias_and_a_mean_that_cancel(after: str) -> None:
    """Their products with the factor are infinite in f32."""

    def build(make: Maker) -> ir.Value:
        huge = make.number(1e30, 6)
        if after == "conv":
            product = dl.conv(make.input(*_IMAGE), make.number(0, 6, 4, 1, 1), huge)
        else:
            product = dl.add(dl.matmul(make.input(3, 4), make.number(0, 4, 6)), huge)
        return dl.batch_norm(product, huge, make.weight(6), huge, make.positive(6))

    check(build, {"conv"} if after == "conv" else {"matmul", "add"})


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16"])
def test_norm_of_other_types(dtype: str) -> None:
    left = {"conv"} if dtype == "f64" else {"conv", "cast", "mul", "add"}
    check(lambda m: _norm(m, _conv(m, m.input(*_IMAGE), pads=_PADS)), left, dtype, {"f64": 1e-12, "f16": 1e-3, "bf16": 8e-3}[dtype])


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_first_bias_of_short_floats(dtype: str) -> None:
    check(lambda m: dl.add(_conv(m, m.input(*_IMAGE)), m.weight(6, 1, 1)), {"conv"}, dtype, 2e-2)
    check(lambda m: dl.mul(_conv(m, m.input(*_IMAGE)), m.weight(6, 1, 1)), {"conv", "mul"}, dtype, 2e-2)


@pytest.mark.parametrize("dtype", ["i32", "i8"])
def test_integers_wrap(dtype: str) -> None:
    check(lambda m: dl.sub(_conv(m, m.input(*_IMAGE)), m.weight(6, 1, 1)), {"conv"}, dtype, 0)
    check(lambda m: dl.mul(dl.mul(m.input(3, 4), m.weight(4)), m.weight(4)), {"mul"}, dtype, 0)
    check(lambda m: dl.mul(_conv(m, m.input(*_IMAGE)), m.weight(6, 1, 1)), {"conv", "mul"}, dtype, 0)

"""Operations and bytes of kernels."""

from __future__ import annotations

import numpy as np
import pytest

from dlc._mlir import ir
from dlc.analysis.kernel_costs import Amount, KernelCost, kernel_cost
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph


def test_amounts_are_sums_over_symbols() -> None:
    total = Amount.sum([Amount.product(2, "n", 3), Amount.product("n", "m"), Amount.product(4), Amount.product("n", 0)])
    assert str(total) == "4 + 1*m*n + 6*n"
    assert total.at({"n": 2, "m": 5}) == 4 + 10 + 12
    assert total.at(default=1) == 11
    assert str(Amount()) == "0"


def _cost(graph: Graph) -> KernelCost:
    return kernel_cost(graph.function)


def test_matmul_with_bias() -> None:
    with Graph() as graph:
        x, w, b = graph.input("x", ("n", 8)), graph.input("w", (8, 16)), graph.input("b", (16,))
        graph.output("y", dl.add(dl.matmul(x, w), b))
    cost = _cost(graph)
    assert str(cost.flops) == f"{2 * 8 * 16 + 16}*n"
    assert cost.bytes_read.at({"n": 3}) == 4 * (3 * 8 + 8 * 16 + 16)
    assert str(cost.bytes_written) == "64*n"


@pytest.mark.parametrize("last", [False, True])
def test_conv(last: bool) -> None:
    with Graph() as graph:
        x = graph.input("x", (1, 8, 8, 4) if last else (1, 4, 8, 8), "f16")
        w = graph.input("w", (3, 3, 2, 6) if last else (6, 2, 3, 3), "f16")
        graph.output("y", dl.conv(x, w, groups=2, channels_last=last))
    cost = _cost(graph)
    assert cost.flops.at() == 2 * 6 * 36 * 2 * 9
    assert cost.bytes_written.at() == 2 * 6 * 36


@pytest.mark.parametrize("sides", [("h", "w"), ("h", 8), (8, "w")])
def test_winograd_conv_of_open_sides(sides: tuple[int | str, int | str]) -> None:
    """As many operations as for the size, where tiles are whole."""
    known, unknown = (_winograd_cost((8, 8)), _winograd_cost(sides))
    assert unknown.flops.at({"h": 8, "w": 8}) == known.flops.at() == 2 * 8 * 8 * 4 * (16 * 16 + 16 + 16)


def _winograd_cost(sides: tuple[int | str, int | str]) -> KernelCost:
    with Graph() as graph:
        x, u = graph.input("x", (1, *sides, 16)), graph.input("u", (16, 1, 16, 16))
        graph.output("y", dl.winograd_conv(x, u, pads=(1, 1, 1, 1)))
    return _cost(graph)


def test_attention() -> None:
    with Graph() as graph:
        q, k = graph.input("q", (2, 4, 5, 8)), graph.input("k", (2, 4, 7, 8))
        graph.output("y", dl.attention(q, k, k))
    assert _cost(graph).flops.at() == 2 * 4 * 5 * 7 * (2 * 8 + 2 * 8 + 7)


def test_moves_and_tables() -> None:
    with Graph() as graph:
        table, ids = graph.input("table", (1000, 16)), graph.input("ids", (3,), "i64")
        graph.output("y", dl.transpose(dl.gather(table, ids), perm=(1, 0)))
    cost = _cost(graph)
    assert cost.flops.at() == 0
    assert cost.bytes_read.at() == 3 * 16 * 4 + 3 * 8


def test_pooling_and_norm() -> None:
    with Graph() as graph:
        x = graph.input("x", (1, 2, 8, 8))
        graph.output("p", dl.max_pool(x, kernel=(3, 3)))
        graph.output("s", dl.softmax(x))
        graph.output("c", dl.mul(x, dl.constant(value=np.float32(2))))
    assert _cost(graph).flops.at() == 2 * 36 * 9 + 5 * 128 + 128


def test_every_kernel_of_a_module_has_a_cost() -> None:
    with Graph() as graph:
        graph.output("y", dl.reduce_sum(dl.cumsum(graph.input("x", ("n", 4)), axis=1)))
    assert isinstance(graph.module, ir.Module)
    assert str(_cost(graph).flops) == "8*n"

"""Every spelling of rotary embedding becomes one op that means the same; near misses stay as they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from equality import apply_passes, assert_close, op_names, random_array

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.lowering.dl.matching import type_of

B, H, S, D = 2, 3, 5, 8
Turn = Callable[[ir.Value, ir.Value], ir.Value]
"""Takes x [batch, heads, positions, size] and angles [batch, positions, size / 2]."""


def part(x: ir.Value, start: int, end: int, step: int = 1) -> ir.Value:
    return dl.slice(x, starts=[start], ends=[end], axes=[-1], steps=[step])


def doubled(angles: ir.Value) -> ir.Value:
    return dl.concat(angles, angles, axis=-1)


def each_twice(angles: ir.Value) -> ir.Value:
    wide = dl.expand(dl.unsqueeze(angles, axes=[-1]), shape=[1, 1, 1, 2])
    return dl.reshape(wide, shape=[-1, -1, D], copied=[0, 1, -1])


def halves(x: ir.Value) -> tuple[ir.Value, ir.Value]:
    return part(x, 0, D // 2), part(x, D // 2, 2**31 - 1)


def rotated_half(x: ir.Value) -> ir.Value:
    low, high = halves(x)
    return dl.concat(dl.neg(high), low, axis=-1)


def stacked(one: ir.Value, other: ir.Value) -> ir.Value:
    pairs = dl.concat(dl.unsqueeze(one, axes=[4]), dl.unsqueeze(other, axes=[4]), axis=-1)
    rank = type_of(pairs).rank
    return dl.reshape(pairs, shape=[-1] * (rank - 2) + [D], copied=[*range(rank - 2), -1])


def llama(x: ir.Value, angles: ir.Value) -> ir.Value:
    both = doubled(angles)
    cos, sin = dl.unsqueeze(dl.cos(both), axes=[1]), dl.unsqueeze(dl.sin(both), axes=[1])
    return dl.add(dl.mul(x, cos), dl.mul(rotated_half(x), sin))


def llama_in_another_order(x: ir.Value, angles: ir.Value) -> ir.Value:
    both = doubled(angles)
    cos, sin = dl.unsqueeze(dl.cos(both), axes=[1]), dl.unsqueeze(dl.sin(both), axes=[1])
    return dl.add(dl.mul(sin, rotated_half(x)), dl.mul(cos, x))


def scaled(x: ir.Value, angles: ir.Value) -> ir.Value:
    both = doubled(angles)
    factor = dl.constant(value=np.array(1.5, np.float32))
    cos, sin = (dl.unsqueeze(dl.mul(item, factor), axes=[1]) for item in (dl.cos(both), dl.sin(both)))
    return dl.add(dl.mul(x, cos), dl.mul(rotated_half(x), sin))


def gpt_j(x: ir.Value, angles: ir.Value) -> ir.Value:
    cos, sin = (dl.unsqueeze(each_twice(item), axes=[1]) for item in (dl.cos(angles), dl.sin(angles)))
    turned = stacked(dl.neg(part(x, 1, D, 2)), part(x, 0, D, 2))
    return dl.add(dl.mul(x, cos), dl.mul(turned, sin))


def split_halves(x: ir.Value, angles: ir.Value) -> ir.Value:
    cos, sin = dl.unsqueeze(dl.cos(angles), axes=[1]), dl.unsqueeze(dl.sin(angles), axes=[1])
    low, high = halves(x)
    first = dl.sub(dl.mul(low, cos), dl.mul(sin, high))
    return dl.concat(first, dl.add(dl.mul(low, sin), dl.mul(cos, high)), axis=3)


def split_neighbours(x: ir.Value, angles: ir.Value) -> ir.Value:
    cos, sin = dl.unsqueeze(dl.cos(angles), axes=[1]), dl.unsqueeze(dl.sin(angles), axes=[1])
    even, odd = part(x, 0, D, 2), part(x, 1, D, 2)
    return stacked(dl.sub(dl.mul(even, cos), dl.mul(odd, sin)), dl.add(dl.mul(even, sin), dl.mul(odd, cos)))


def complex_numbers(x: ir.Value, angles: ir.Value) -> ir.Value:
    """Neighbours are split off by a reshape to pairs."""
    cos, sin = dl.unsqueeze(dl.cos(angles), axes=[1]), dl.unsqueeze(dl.sin(angles), axes=[1])
    pairs = dl.reshape(x, shape=[-1, -1, -1, D // 2, 2], copied=[0, 1, 2, -1, -1])
    even, odd = (dl.squeeze(part(pairs, at, at + 1), axes=[4]) for at in (0, 1))
    return stacked(dl.sub(dl.mul(even, cos), dl.mul(odd, sin)), dl.add(dl.mul(even, sin), dl.mul(odd, cos)))


def positions_first(x: ir.Value, angles: ir.Value) -> ir.Value:
    """On [batch, positions, heads, size], with angles [batch, positions, 1, size]."""
    both = doubled(angles)
    cos, sin = dl.unsqueeze(dl.cos(both), axes=[2]), dl.unsqueeze(dl.sin(both), axes=[2])
    turned = dl.transpose(x, perm=[0, 2, 1, 3])
    found = dl.add(dl.mul(turned, cos), dl.mul(rotated_half(turned), sin))
    return dl.transpose(found, perm=[0, 2, 1, 3])


FORMS: dict[str, Turn] = {
    form.__name__: form
    for form in (
        llama, llama_in_another_order, scaled, gpt_j, split_halves, split_neighbours, complex_numbers, positions_first
    )
}  # fmt: skip


def graph_of(turn: Turn, batch: str | int, positions: str | int, angle_batch: str | int) -> Graph:
    with Graph() as graph:
        x = graph.input("x", (batch, H, positions, D))
        graph.output("y", turn(x, graph.input("angles", (angle_batch, positions, D // 2))))
    return graph


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("shape", [(B, S, B), (B, S, 1), ("batch", "positions", "batch"), ("batch", "positions", 1)])
def test_form_becomes_one_op(name: str, shape: tuple[str | int, str | int, str | int]) -> None:
    graph = graph_of(FORMS[name], *shape)
    inputs = [random_array((B, H, S, D), "f32", 1), random_array((1 if shape[2] == 1 else B, S, D // 2), "f32", 2)]
    want = interpret(graph.module, inputs, {})
    apply_passes(graph.module, "dl-recompose-rotary-embedding")
    names = op_names(graph.module)
    assert names.count("rotary_embedding") == 1 and not {"neg", "sub", "concat", "slice", "add"} & set(names)
    assert_close(interpret(graph.module, inputs, {}), want)
    before = str(graph.module)
    apply_passes(graph.module, "dl-recompose-rotary-embedding")
    assert str(graph.module) == before


def test_some_features_only() -> None:
    """GPT-NeoX: the last features of a head stay as they are."""
    with Graph() as graph:
        x, angles = graph.input("x", ("batch", H, S, D + 4)), graph.input("angles", (1, S, D // 2))
        graph.output("y", dl.concat(llama(part(x, 0, D), angles), part(x, D, D + 4), axis=-1))
    inputs = [random_array((B, H, S, D + 4), "f32", 1), random_array((1, S, D // 2), "f32", 2)]
    want = interpret(graph.module, inputs, {})
    apply_passes(graph.module, "dl-recompose-rotary-embedding")
    assert op_names(graph.module).count("rotary_embedding") == 1
    assert_close(interpret(graph.module, inputs, {}), want)


def kept(turn: Turn, columns: int = D // 2) -> None:
    with Graph() as graph:
        x, angles = graph.input("x", (B, H, S, D)), graph.input("angles", (B, S, columns))
        graph.output("y", turn(x, angles))
    before = str(graph.module)
    apply_passes(graph.module, "dl-recompose-rotary-embedding")
    assert str(graph.module) == before


def test_columns_that_may_differ() -> None:
    def turn(x: ir.Value, angles: ir.Value) -> ir.Value:
        cos, sin = dl.unsqueeze(dl.cos(angles), axes=[1]), dl.unsqueeze(dl.sin(angles), axes=[1])
        return dl.add(dl.mul(x, cos), dl.mul(rotated_half(x), sin))

    kept(turn, columns=D)


def test_other_halves() -> None:
    def turn(x: ir.Value, angles: ir.Value) -> ir.Value:
        both = doubled(angles)
        cos, sin = dl.unsqueeze(dl.cos(both), axes=[1]), dl.unsqueeze(dl.sin(both), axes=[1])
        turned = dl.concat(dl.neg(part(x, 3, D)), part(x, 0, 3), axis=-1)
        return dl.add(dl.mul(x, cos), dl.mul(turned, sin))

    kept(turn)


def test_wrong_sign() -> None:
    def turn(x: ir.Value, angles: ir.Value) -> ir.Value:
        cos, sin = dl.unsqueeze(dl.cos(angles), axes=[1]), dl.unsqueeze(dl.sin(angles), axes=[1])
        low, high = halves(x)
        first = dl.sub(dl.mul(high, sin), dl.mul(low, cos))
        return dl.concat(first, dl.add(dl.mul(low, sin), dl.mul(cos, high)), axis=3)

    kept(turn)


def test_angles_swapped() -> None:
    def turn(x: ir.Value, angles: ir.Value) -> ir.Value:
        cos, sin = dl.unsqueeze(dl.cos(angles), axes=[1]), dl.unsqueeze(dl.sin(angles), axes=[1])
        low, high = halves(x)
        first = dl.sub(dl.mul(low, cos), dl.mul(high, sin))
        return dl.concat(first, dl.add(dl.mul(low, cos), dl.mul(high, sin)), axis=3)

    kept(turn)

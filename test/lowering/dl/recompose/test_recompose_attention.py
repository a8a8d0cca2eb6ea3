"""Every spelling of attention becomes one op that means the same; near misses stay as they are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from equality import apply_passes, assert_close, op_names, random_array

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.dialects.dl.types import NUMPY_DTYPES
from dlc.lowering.dl.matching import type_of

B, H, Q, K, D = 2, 4, 5, 6, 16
LOWEST = float(np.finfo(np.float32).min)


def n(value: float, x: ir.Value) -> ir.Value:
    return dl.constant(value=np.array(value, NUMPY_DTYPES[type_of(x).dtype]))


def transposed(k: ir.Value) -> ir.Value:
    return dl.transpose(k, perm=[0, 1, 3, 2])


def transposed_flat(k: ir.Value) -> ir.Value:
    """torch's newer exporter."""
    flat = dl.reshape(k, shape=[-1, -1, D], copied=[-1, 2, -1])
    turned = dl.transpose(flat, perm=[0, 2, 1])
    return dl.reshape(turned, shape=[-1, H, D, -1], copied=[-1, -1, -1, 2])


def divided(q: ir.Value, k: ir.Value) -> ir.Value:
    return dl.div(dl.matmul(q, transposed(k)), n(math.sqrt(D), q))


def multiplied(q: ir.Value, k: ir.Value) -> ir.Value:
    return dl.mul(n(1 / math.sqrt(D), q), dl.matmul(q, transposed(k)))


def scaled_queries(q: ir.Value, k: ir.Value) -> ir.Value:
    return dl.matmul(dl.mul(q, n(1 / math.sqrt(D), q)), transposed(k))


def scaled_twice(q: ir.Value, k: ir.Value) -> ir.Value:
    root = n(math.sqrt(1 / math.sqrt(D)), q)
    return dl.matmul(dl.mul(q, root), dl.mul(transposed(k), root))


def scaled_before_transpose(q: ir.Value, k: ir.Value) -> ir.Value:
    root = n(math.sqrt(1 / math.sqrt(D)), q)
    return dl.matmul(dl.mul(q, root), transposed(dl.mul(k, root)))


def flat_keys(q: ir.Value, k: ir.Value) -> ir.Value:
    root = n(math.sqrt(1 / math.sqrt(D)), q)
    return dl.matmul(dl.mul(q, root), dl.mul(transposed_flat(k), root))


def unscaled(q: ir.Value, k: ir.Value) -> ir.Value:
    return dl.matmul(q, transposed(k))


PRODUCTS = [divided, multiplied, scaled_queries, scaled_twice, scaled_before_transpose, flat_keys, unscaled]


def no_mask(s: ir.Value, m: ir.Value) -> ir.Value:
    return s


def added(s: ir.Value, m: ir.Value) -> ir.Value:
    return dl.add(s, dl.cast(m, to=type_of(s).dtype))


def added_in_front(s: ir.Value, m: ir.Value) -> ir.Value:
    penalty = dl.mul(dl.sub(n(1, s), dl.cast(m, to=type_of(s).dtype)), n(-10000, s))
    return dl.add(penalty, s)


def subtracted(s: ir.Value, m: ir.Value) -> ir.Value:
    return dl.sub(s, dl.cast(m, to=type_of(s).dtype))


def hidden(s: ir.Value, m: ir.Value) -> ir.Value:
    return dl.where(m, s, n(-math.inf, s))


def filled(s: ir.Value, m: ir.Value) -> ir.Value:
    return dl.where(m, n(-math.inf, s), s)


def lowest(s: ir.Value, m: ir.Value) -> ir.Value:
    return dl.where(m, s, n(LOWEST if type_of(s).dtype != "bf16" else -3.3e38, s))


def chosen_to_add(s: ir.Value, m: ir.Value) -> ir.Value:
    return dl.add(s, dl.where(m, n(0, s), n(-math.inf, s)))


def twice(s: ir.Value, m: ir.Value) -> ir.Value:
    return hidden(added(s, m), m)


MASKS = [no_mask, added, added_in_front, subtracted, hidden, filled, lowest, chosen_to_add, twice]


def plain(s: ir.Value) -> ir.Value:
    return dl.softmax(s)


def guarded(s: ir.Value) -> ir.Value:
    weights = dl.softmax(s)
    return dl.where(dl.isnan(weights), n(0, s), weights)


def guarded_rows(s: ir.Value) -> ir.Value:
    rows = dl.equal(dl.reduce_max(s, axes=[3], keepdims=True), n(-math.inf, s))
    return dl.where(rows, n(0, s), dl.softmax(s))


GUARDS = [plain, guarded, guarded_rows]
Step = Callable[..., ir.Value]


def graph_of(product: Step, mask: Step, guard: Step, dtype: str = "f32", batch: str | int = B) -> Graph:
    with Graph() as graph:
        q = graph.input("q", (batch, H, Q, D), dtype)
        k, v = (graph.input(name, (batch, H, K, D), dtype) for name in "kv")
        m = graph.input("m", (batch, 1, Q, K), "i1")
        graph.output("y", dl.matmul(guard(mask(product(q, k), m)), v))
    return graph


def arrays(dtype: str = "f32", hides_a_row: bool = False, heads: int = H) -> list[np.ndarray]:
    mask = np.random.default_rng(5).random((B, 1, Q, K)) < 0.6
    mask[..., 0], mask[..., 1] = True, False
    if hides_a_row:
        mask[1, 0, 2] = False
    q = random_array((B, H, Q, D), dtype, 1)
    return [q, *(random_array((B, heads, K, D), dtype, seed) for seed in (2, 3)), mask]


def check(graph: Graph, inputs: Sequence[np.ndarray], expected: Sequence[str] = ("attention",)) -> None:
    want = interpret(graph.module, inputs, {})
    apply_passes(graph.module, "dl-recompose-attention")
    names = op_names(graph.module)
    assert "softmax" not in names and "matmul" not in names
    for name in expected:
        assert names.count(name) == 1, names
    assert_close(interpret(graph.module, inputs, {}), want)
    before = str(graph.module)
    apply_passes(graph.module, "dl-recompose-attention")
    assert str(graph.module) == before


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("mask", MASKS)
def test_products_and_masks(product: Step, mask: Step) -> None:
    for guard, batch in itertools.product(GUARDS, (B, "batch")):
        check(graph_of(product, mask, guard, batch=batch), arrays())


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16"])
@pytest.mark.parametrize("mask", [mask for mask in MASKS if mask not in (lowest,)])
def test_element_types(mask: Step, dtype: str) -> None:
    check(graph_of(divided, mask, plain, dtype), arrays(dtype))


@pytest.mark.parametrize("guard", [guarded, guarded_rows])
@pytest.mark.parametrize("mask", [hidden, filled, chosen_to_add])
def test_hidden_rows_of_guarded_weights(mask: Step, guard: Step) -> None:
    check(graph_of(divided, mask, guard), arrays(hides_a_row=True))


@pytest.mark.parametrize("mask", [lowest, added_in_front])
def test_hidden_rows_of_finite_masks_weigh_all_keys(mask: Step) -> None:
    """The row is uniform for the lowest number, and softmax of the scores for -10000."""
    check(graph_of(divided, mask, plain), arrays(hides_a_row=True))


def test_default_scale() -> None:
    graph = graph_of(divided, no_mask, plain)
    check(graph, arrays())
    assert "scale" not in str(graph.module)


CAUSAL: dict[str, Callable[[ir.Value, int, int], ir.Value]] = {
    "array": lambda s, q, k: dl.where(dl.constant(value=np.tri(q, k, dtype=np.bool_)), s, n(-math.inf, s)),
    "array of -inf": lambda s, q, k: dl.add(s, dl.constant(value=np.triu(np.full((1, 1, q, k), -np.inf, np.float32), 1))),
    "array of minima": lambda s, q, k: dl.add(s, dl.constant(value=np.triu(np.full((q, k), LOWEST, np.float32), 1))),
    "array and a minimum": lambda s, q, k: dl.where(dl.constant(value=np.tri(q, k, dtype=np.bool_)), s, n(LOWEST, s)),
    "triangle": lambda s, q, k: dl.where(triangle(q, k, False, 0), s, n(-math.inf, s)),
    "triangle to hide": lambda s, q, k: dl.where(triangle(q, k, True, 1), n(-math.inf, s), s),
    "triangle to add": lambda s, q, k: dl.add(s, dl.trilu(dl.expand(n(-math.inf, s), shape=[q, k]), upper=True, k=1)),
    "torch": lambda s, q, k: dl.add(s, dl.where(triangle(q, k, False, 0), n(0, s), n(-math.inf, s))),
    "ranges": lambda s, q, k: dl.where(dl.less_equal(places(k, [0]), places(q, [1])), s, n(LOWEST, s)),
    "ranges to hide": lambda s, q, k: dl.where(dl.less(places(q, [1]), places(k, [0])), n(-math.inf, s), s),
}


def triangle(rows: int, columns: int, upper: bool, k: int) -> ir.Value:
    ones = dl.expand(dl.constant(value=np.array(True)), shape=[rows, columns])
    return dl.trilu(ones, upper=upper, k=k)


def places(size: int, axes: list[int]) -> ir.Value:
    zero, end, one = (dl.constant(value=np.array(value, np.int64)) for value in (0, size, 1))
    return dl.unsqueeze(dl.range(zero, end, one), axes=axes)


@pytest.mark.parametrize("name", CAUSAL)
def test_causal_masks(name: str) -> None:
    with Graph() as graph:
        q, k, v = (graph.input(name, ("batch", H, Q, D)) for name in "qkv")
        graph.output("y", dl.matmul(dl.softmax(CAUSAL[name](divided(q, k), Q, Q)), v))
    inputs = [random_array((B, H, Q, D), "f32", seed) for seed in range(3)]
    apply_passes(graph.module, "dl-fold-shapes")
    check(graph, inputs)
    assert "is_causal = true" in str(graph.module) and op_names(graph.module) == ["attention"]


def test_causal_mask_aligned_at_the_end() -> None:
    with Graph() as graph:
        q, k, v = (graph.input(name, (1, H, size, D)) for name, size in zip("qkv", (Q, K, K), strict=True))
        seen = dl.constant(value=np.tri(Q, K, K - Q, dtype=np.bool_))
        graph.output("y", dl.matmul(dl.softmax(dl.where(seen, divided(q, k), n(-math.inf, q))), v))
    check(graph, [random_array((1, H, size, D), "f32", size) for size in (Q, K, K)])
    assert "aligned_at_end = true" in str(graph.module)


def unsqueezed(x: ir.Value, times: int) -> ir.Value:
    wide = dl.expand(dl.unsqueeze(x, axes=[2]), shape=[1, 1, times, 1, 1])
    return dl.reshape(wide, shape=[-1, H, -1, D], copied=[0, -1, 3, -1])


def tiled(x: ir.Value, times: int) -> ir.Value:
    wide = dl.tile(dl.unsqueeze(x, axes=[2]), repeats=[1, 1, times, 1, 1])
    return dl.reshape(wide, shape=[-1, H, -1, D], copied=[0, -1, 3, -1])


def gathered(x: ir.Value, times: int) -> ir.Value:
    return dl.gather(x, dl.constant(value=np.repeat(np.arange(H // times), times)), axis=1)


def expanded(x: ir.Value, times: int) -> ir.Value:
    return dl.expand(x, shape=[1, times, 1, 1])


def broadcast(x: ir.Value, times: int) -> ir.Value:
    return x


@pytest.mark.parametrize(
    ("repeat", "heads"), [(unsqueezed, 2), (tiled, 2), (gathered, 2), (unsqueezed, 1), (expanded, 1), (broadcast, 1)]
)
def test_shared_kv_heads(repeat: Step, heads: int) -> None:
    for batch in (B, "batch"):
        with Graph() as graph:
            q = graph.input("q", (batch, H, Q, D))
            k, v = (graph.input(name, (batch, heads, K, D)) for name in "kv")
            graph.output("y", dl.matmul(dl.softmax(divided(q, repeat(k, H // heads))), repeat(v, H // heads)))
        check(graph, arrays(heads=heads)[:3])
        assert op_names(graph.module) == ["attention"]


def test_heads_that_alternate_are_not_shared_ones() -> None:
    """Heads 0, 1, 0, 1 are no neighbours: the gather stays, attention is found."""
    with Graph() as graph:
        q = graph.input("q", (B, H, Q, D))
        k, v = (dl.gather(graph.input(name, (B, 2, K, D)), dl.constant(value=np.array([0, 1, 0, 1])), axis=1) for name in "kv")
        graph.output("y", dl.matmul(dl.softmax(divided(q, k)), v))
    check(graph, arrays(heads=2)[:3])
    assert op_names(graph.module) == ["gather", "gather", "attention"]


@pytest.mark.parametrize("batch", [B, "batch"])
def test_heads_merged_with_the_batch(batch: str | int) -> None:
    """Products of rank 3, with the heads apart for the mask only."""
    with Graph() as graph:
        q = graph.input("q", (batch, H, Q, D))
        k, v = (graph.input(name, (batch, H, K, D)) for name in "kv")
        mask = graph.input("mask", (batch, 1, Q, K))
        flat = [dl.reshape(x, shape=[-1, -1, D], copied=[-1, 2, -1]) for x in (q, k, v)]
        scores = dl.matmul(dl.mul(flat[0], n(0.25, q)), dl.transpose(flat[1], perm=[0, 2, 1]))
        scores = dl.add(dl.reshape(scores, shape=[-1, H, -1, -1], copied=[-1, -1, 1, 2]), mask)
        weights = dl.softmax(dl.reshape(scores, shape=[-1, -1, -1], copied=[-1, 2, 3]))
        graph.output("y", dl.matmul(weights, flat[2]))
    inputs = [*arrays()[:3], random_array((B, 1, Q, K), "f32", 4)]
    check(graph, inputs)


@pytest.mark.parametrize("batch", [B, "batch"])
def test_rank_3(batch: str | int) -> None:
    with Graph() as graph:
        q, k, v = (graph.input(name, (batch, size, D)) for name, size in zip("qkv", (Q, K, K), strict=True))
        mask = graph.input("mask", (1, Q, K))
        scores = dl.add(dl.div(dl.matmul(q, dl.transpose(k, perm=[0, 2, 1])), n(4, q)), mask)
        graph.output("y", dl.matmul(dl.softmax(scores), v))
    inputs = [random_array((B, size, D), "f32", size) for size in (Q, K, K)]
    check(graph, [*inputs, random_array((1, Q, K), "f32", 4)])


def test_keys_that_are_stored_transposed() -> None:
    """GPT-2's key: one transpose of [batch, keys, heads, size], whose axes change."""
    with Graph() as graph:
        q = graph.input("q", (B, H, Q, D))
        k, v = (graph.input(name, (B, K, H, D)) for name in "kv")
        scores = dl.matmul(q, dl.transpose(k, perm=[0, 2, 3, 1]))
        graph.output("y", dl.matmul(dl.softmax(dl.div(scores, n(4, q))), dl.transpose(v, perm=[0, 2, 1, 3])))
    check(graph, [random_array((B, H, Q, D), "f32", 1), *(random_array((B, K, H, D), "f32", seed) for seed in (2, 3))])
    assert op_names(graph.module) == ["transpose", "transpose", "attention"]


def test_cache() -> None:
    with Graph() as graph:
        q, new_k, new_v = (graph.input(name, ("batch", H, 1, D)) for name in ("q", "new_k", "new_v"))
        k, v = (dl.concat(graph.input(f"past{i}", ("batch", H, "past", D)), new, axis=2) for i, new in enumerate((new_k, new_v)))
        graph.output("y", dl.matmul(dl.softmax(divided(q, k)), v))
        graph.output("k", k)
        graph.output("v", v)
    inputs = [random_array((B, H, size, D), "f32", seed) for seed, size in enumerate((1, 1, 1, 5, 5))]
    check(graph, inputs)
    assert op_names(graph.module) == ["concat", "concat", "attention"]


def test_softmax_in_f32() -> None:
    with Graph() as graph:
        q, k, v = (graph.input(name, (B, H, size, D), "f16") for name, size in zip("qkv", (Q, K, K), strict=True))
        weights = dl.cast(dl.softmax(dl.cast(divided(q, k), to="f32")), to="f16")
        graph.output("y", dl.matmul(weights, v))
        wide = dl.matmul(dl.cast(q, to="f32"), transposed(dl.cast(k, to="f32")))
        graph.output("z", dl.matmul(dl.cast(dl.softmax(wide), to="f16"), v))
    inputs = arrays("f16")[:3]
    want = interpret(graph.module, inputs, {})
    apply_passes(graph.module, "dl-recompose-attention")
    assert op_names(graph.module) == ["attention", "attention"]
    assert_close(interpret(graph.module, inputs, {}), want)


def kept(build: Callable[[Graph], ir.Value]) -> None:
    with Graph() as graph:
        graph.output("y", build(graph))
    before = str(graph.module)
    apply_passes(graph.module, "dl-recompose-attention")
    assert str(graph.module) == before


def inputs_of(graph: Graph, batch: str | int = B, kv_batch: str | int = B) -> list[ir.Value]:
    q = graph.input("q", (batch, H, Q, D))
    return [q, *(graph.input(name, (kv_batch, H, K, D)) for name in "kv")]


def test_near_misses_stay() -> None:
    def finite_choice(graph: Graph) -> ir.Value:
        """A row that is hidden as a whole would not be uniform if -10000 was added."""
        q, k, v = inputs_of(graph)
        mask = graph.input("m", (B, 1, Q, K), "i1")
        return dl.matmul(dl.softmax(dl.where(mask, divided(q, k), n(-10000, q))), v)

    def other_axis(graph: Graph) -> ir.Value:
        q, k, v = inputs_of(graph)
        return dl.matmul(dl.softmax(divided(q, k), axis=2), v)

    def batches_that_broadcast(graph: Graph) -> ir.Value:
        q, k, v = inputs_of(graph, B, 1)
        return dl.matmul(dl.softmax(divided(q, k)), v)

    def batches_of_unknown_sizes(graph: Graph) -> ir.Value:
        q, k, v = inputs_of(graph, "one", "other")
        return dl.matmul(dl.softmax(divided(q, k)), v)

    def mask_that_enlarges(graph: Graph) -> ir.Value:
        q, k, v = inputs_of(graph, 1, 1)
        mask = graph.input("m", (B, 1, Q, K))
        return dl.matmul(dl.softmax(dl.add(divided(q, k), mask)), v)

    def integers(graph: Graph) -> ir.Value:
        weights = dl.cast(dl.softmax(graph.input("s", (B, H, Q, K))), to="i32")
        return dl.matmul(weights, graph.input("v", (B, H, K, D), "i32"))

    def negative_scale(graph: Graph) -> ir.Value:
        q, k, v = inputs_of(graph)
        return dl.matmul(dl.softmax(dl.mul(divided(q, k), n(-1, q))), v)

    for build in (
        finite_choice, other_axis, batches_that_broadcast, batches_of_unknown_sizes, mask_that_enlarges, integers, negative_scale
    ):  # fmt: skip
        kept(build)


def test_weights_and_scores_with_other_users_stay() -> None:
    with Graph() as graph:
        q, k, v = inputs_of(graph)
        scores = divided(q, k)
        weights = dl.softmax(scores)
        graph.output("y", dl.matmul(weights, v))
        graph.output("weights", weights)
    before = str(graph.module)
    apply_passes(graph.module, "dl-recompose-attention")
    assert str(graph.module) == before

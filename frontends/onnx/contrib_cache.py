"""Importer of attention over a cache of keys and values, which exported language models have."""

from __future__ import annotations

import enum
import functools
import math
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.attention import decomposed, merged_heads, rotated, split_heads
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_Q, _K, _V, _PAST_K, _PAST_V, _LAST, _TOTAL, _COS, _SIN, _POSITIONS, _BIAS, _SINK = range(12)
_REFUSED = {12: "k_scale", 13: "v_scale", 16: "query_seqlens"}
"""Inputs that are not supported."""


@importer("GroupQueryAttention", domain="com.microsoft")
def import_group_query_attention(node: NodeContext) -> list[ir.Value]:
    """New keys and values go behind the old ones of each sequence; a query sees those up to its own position.

    A cache of a fixed size, whose present the model declares as large as its past, is written in place. In another one, the present
    is as large as the past or as the total length, whichever is more.
    """
    _refuse(node)
    q, k, v = _heads(node)
    past = _Past.of(node, q)
    q, k = (_normalized(node, x, index) for x, index in ((q, 14), (k, 15)))
    if node.attribute("do_rotary", 0):
        q, k = (_turned(node, past, x) for x in (q, k))
    present = [past.extended(_PAST_K, k), past.extended(_PAST_V, v)]
    keys, values = (past.read(each) for each in present)
    scale, mask = node.attribute("scale", 0.0) or None, past.mask(present[0])
    sink = _sink(node, q)
    if node.attribute("softcap", 0.0) or sink is not None:
        result, _ = decomposed(node, q, keys, values, mask or past.visible(present[0]), scale, sink)
    else:
        causal = past.is_whole
        result = dl.attention(q, keys, values, mask, scale=scale, is_causal=causal, aligned_at_end=causal)
    return [merged_heads(result), *present][: max(1, node.num_outputs)]


def _refuse(node: NodeContext) -> None:
    """Refuse what changes the result and is not supported."""
    for index, name in _REFUSED.items():
        if node.has_input(index):
            node.unsupported(f"{name} (input {index}) is not supported; export the model without it")
    for name, usual in (("qk_output", 0), ("sliding_window_cache", 0), ("causal", 1)):
        if node.attribute(name, usual) not in (usual, -1):
            node.unsupported(f"{name} = {node.attribute(name)} is not supported; export the model with {usual}")
    for name in ("k_quant_type", "v_quant_type"):
        if node.attribute(name, "NONE") != "NONE":
            node.unsupported(f"a quantised cache ({name}) is not supported; export the model with a cache of floats")


def _heads(node: NodeContext) -> list[ir.Value]:
    """Queries, keys and values [batch, heads, positions, size], packed in one input or apart."""
    counts = [int(node.attribute("num_heads")), *[int(node.attribute("kv_num_heads"))] * 2]
    if node.has_input(_K) and node.has_input(_V):
        return [split_heads(node.value(index), count) for index, count in enumerate(counts)]
    width = node.type(_Q).shape[-1]
    if not isinstance(width, int) or width % sum(counts):
        node.unsupported(
            f"packed queries, keys and values of type {node.type(_Q)} are not {sum(counts)} heads; declare their width"
        )
    ends = np.cumsum(counts) * (width // sum(counts))
    starts = [0, *ends[:-1]]
    packed = node.value(_Q)
    return [
        split_heads(dl.slice(packed, starts=[int(start)], ends=[int(end)], axes=[2], steps=[1]), count)
        for start, end, count in zip(starts, ends, counts, strict=True)
    ]


def _normalized(node: NodeContext, x: ir.Value, index: int) -> ir.Value:
    """Heads with an RMS norm of their own, by the weight in input `index` if there is one."""
    if not node.has_input(index):
        return x
    name = "q_norm_epsilon" if index == 14 else "k_norm_epsilon"
    epsilon = node.attribute(name, node.attribute("qk_norm_epsilon", 1e-6))
    return dl.rms_norm(x, node.value(index), axis=-1, epsilon=epsilon)


def _turned(node: NodeContext, past: _Past, x: ir.Value) -> ir.Value:
    """Queries or new keys with the angles of their positions."""
    places = node.value(_POSITIONS) if node.has_input(_POSITIONS) else dl.squeeze(past.positions(), axes=[1, 3])
    cos, sin = (dl.gather(node.value(index), places, axis=0) for index in (_COS, _SIN))
    columns = type_of_value(cos).shape[2]
    if not isinstance(columns, int):
        node.unsupported("the number of angles must be known at compile time; declare the columns of cos_cache and sin_cache")
    return rotated(x, cos, sin, 2 * columns, bool(node.attribute("rotary_interleaved", 0)))


class _Room(enum.Enum):
    """Where new keys and values go."""

    FRESH = "there are no old ones"
    GROWN = "behind the old ones, whose number is known"
    SHARED = "into the past, which is as large as the present"
    OPEN = "run time decides: into the past where it has room for the total length, else behind it"


def _sink(node: NodeContext, q: ir.Value) -> ir.Value | None:
    """A score [1, heads, 1, 1] that each query of a head has beside those of its keys, with no value; 0 in a smooth softmax."""
    if node.has_input(_SINK):
        return dl.unsqueeze(node.value(_SINK), axes=[0, 2, 3])
    smooth = node.attribute("smooth_softmax", 0) == 1
    return node.constant_value(np.zeros((1, 1, 1, 1)), type_of_value(q).dtype) if smooth else None


@dataclass(frozen=True)
class _Past:
    """The cache of a node. `starts` are the positions of the first new keys, i32 [batch], `total` the longest length, i32."""

    node: NodeContext
    room: _Room
    starts: ir.Value
    total: ir.Value
    q: ir.Value

    @staticmethod
    def of(node: NodeContext, q: ir.Value) -> _Past:
        if node.has_input(_PAST_K) != node.has_input(_PAST_V):
            node.unsupported("it has old keys or old values alone; give both or neither")
        room, total = _room(node, q), dl.reshape(node.value(_TOTAL), shape=[])
        zero, one = (node.constant_value(value, "i32") for value in (0, 1))
        count = dl.cast(_size(node, q), to="i32")
        old = dl.cast(_size(node, node.value(_PAST_K)), to="i32") if room is not _Room.FRESH else zero
        if room is _Room.OPEN:
            message = "total_sequence_length is more than the old and new positions"
            total = getattr(dl, "assert")(total, dl.less_equal(total, dl.add(old, count)), message=message)
        starts = dl.max(dl.sub(dl.add(dl.reshape(node.value(_LAST), shape=[-1]), one), count), zero)
        fits = dl.less_equal(starts, _last_start(room, old, count, total))
        checked = getattr(dl, "assert")(starts, fits, message="a sequence is longer than its keys (seqlens_k)")
        return _Past(node, room, checked, total, q)

    def positions(self) -> ir.Value:
        """The position of each query, i32 [batch, 1, queries, 1]."""
        return dl.add(dl.unsqueeze(self.starts, axes=[1, 2, 3]), dl.unsqueeze(_range(self.node, self.q), axes=[0, 1, 3]))

    def extended(self, index: int, new: ir.Value) -> ir.Value:
        """The cache in input `index` with new keys or values [batch, heads, positions, size]."""
        if self.room is _Room.FRESH:
            return new
        past = self.node.value(index)
        if self.room is _Room.GROWN:
            past = dl.concat(past, new, axis=2)
        if self.room is _Room.OPEN:
            missing = dl.sub(dl.cast(self.total, to="i64"), _size(self.node, past))
            missing = dl.max(missing, self.node.constant_value(0, "i64"))
            past = dl.concat(past, _first(new, missing, axis=2), axis=2)
        return dl.update_slice(past, new, self.starts, axis=2)

    @property
    def is_whole(self) -> bool:
        """Whether the cache surely ends with the new keys of the longest sequence."""
        return self.room in (_Room.FRESH, _Room.GROWN)

    def read(self, present: ir.Value, axis: int = 2) -> ir.Value:
        """What any sequence reaches of a tensor whose `axis` is that of the cache's positions."""
        return present if self.is_whole else _first(present, dl.cast(self.total, to="i64"), axis)

    def mask(self, present: ir.Value) -> ir.Value | None:
        """What hides keys: i1, or with a bias, numbers to add; None where only later keys of a whole sequence are hidden."""
        bias, window = self.node.optional_value(_BIAS), int(self.node.attribute("local_window_size", -1))
        if bias is None and window < 0 and self.room is _Room.FRESH:
            return None
        if bias is None:
            return self.visible(present)
        return dl.where(self.visible(present), bias, self.node.constant_value(-math.inf, type_of_value(bias).dtype))

    def visible(self, present: ir.Value) -> ir.Value:
        """Which of the keys that are read each query sees: those up to its position, or the last `local_window_size` of them."""
        places, own = dl.unsqueeze(self.read(_range(self.node, present), axis=0), axes=[0, 1, 2]), self.positions()
        rules = [dl.less_equal(places, own)]
        window = int(self.node.attribute("local_window_size", -1))
        if window >= 0:
            rules.append(dl.less(dl.sub(own, self.node.constant_value(window, "i32")), places))
        return functools.reduce(dl.and_, rules)


def _room(node: NodeContext, q: ir.Value) -> _Room:
    """Where new keys go, by the sizes that the model declares of the past and the present."""
    if not node.has_input(_PAST_K):
        return _Room.FRESH
    old, new = node.type(_PAST_K).shape[2], type_of_value(q).shape[2]
    past = node.declared(node.node.input[_PAST_K])
    present = node.declared(node.node.output[1]) if node.uses_output(1) else None
    size = present.shape[2] if present is not None and present.rank == 4 else None
    if past is not None and past.rank == 4 and size is not None and past.shape[2] == size:
        return _Room.SHARED
    if old == 0:
        return _Room.FRESH
    is_known = isinstance(old, int) and isinstance(new, int) and size == old + new
    return _Room.GROWN if is_known else _Room.OPEN


def _last_start(room: _Room, old: ir.Value, count: ir.Value, total: ir.Value) -> ir.Value:
    """The last position that may be the first of `count` new ones, behind `old` ones or in a cache of so many."""
    if room is _Room.SHARED:
        return dl.sub(dl.min(old, total), count)
    return dl.min(old, dl.sub(total, count)) if room is _Room.OPEN else old


def _first(x: ir.Value, count: ir.Value, axis: int) -> ir.Value:
    """The first `count` (a scalar of i64) elements along an axis."""
    return dl.slice(x, bounds=dl.reshape(count, shape=[1]), starts=[0], axes=[axis], steps=[1])


def _size(node: NodeContext, x: ir.Value) -> ir.Value:
    """The number of positions of [batch, heads, positions, size] as a scalar of i64."""
    size = type_of_value(x).shape[2]
    return node.constant_value(size, "i64") if isinstance(size, int) else dl.squeeze(dl.shape_of(x, start=2, end=3), axes=[0])


def _range(node: NodeContext, x: ir.Value) -> ir.Value:
    """0, 1, ... for the positions of [batch, heads, positions, size], i32."""
    size = type_of_value(x).shape[2]
    if isinstance(size, int):
        return node.constant_value(np.arange(size), "i32")
    zero, one = (node.constant_value(value, "i32") for value in (0, 1))
    return dl.range(zero, dl.cast(_size(node, x), to="i32"), one)

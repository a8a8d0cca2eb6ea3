"""GroupQueryAttention as exporters write it: lengths come from a mask; one compiled model takes any prompts and tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_check import compare, node
from reference_session import reference_session

import dlc

_HEADS, _KV, _SIZE, _LONGEST = 4, 2, 16, 64


@dataclass(frozen=True)
class _Decoder:
    """Attention whose `seqlens_k` and `total_sequence_length` are computed from a mask, with symbolic sizes.

    With `is_shared`, the present is declared as large as the past.
    """

    dtype: type = np.float32
    is_shared: bool = False
    is_packed: bool = True
    sink: bool = False
    bias: bool = False
    attributes: Any = None

    def model(self) -> onnx.ModelProto:
        nodes = [
            node("ReduceSum", ["mask", "one_axis"], ["counts"]),
            node("Sub", ["counts", "one_axis"], ["last_wide"]),
            node("Cast", ["last_wide"], ["last"], to=TensorProto.INT32),
            node("Shape", ["mask"], ["mask_shape"]),
            node("Gather", ["mask_shape", "one"], ["total_wide"]),
            node("Cast", ["total_wide"], ["total"], to=TensorProto.INT32),
            self._attention(),
        ]
        angles = np.outer(np.arange(_LONGEST), 10000.0 ** (-np.arange(_SIZE // 2) / (_SIZE // 2)))
        constants = {"cos": np.cos(angles), "sin": np.sin(angles), "sinks": np.linspace(-1, 2, _HEADS)}
        known = [numpy_helper.from_array(array.astype(self.dtype), name) for name, array in constants.items()]
        known += [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in (("one_axis", [1]), ("one", 1))]
        graph = helper.make_graph(nodes, "decoder", *self._interface(), known)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _attention(self) -> onnx.NodeProto:
        given = {"do_rotary": 1} | (self.attributes or {})
        names = ["q", *(["", ""] if self.is_packed else ["k", "v"]), "past_k", "past_v", "last", "total"]
        names += ["cos", "sin"] if given["do_rotary"] else ["", ""]
        names += ["", "bias" * self.bias, "sinks" * self.sink]
        outputs = ["y", "keys", "values"]
        return node("GroupQueryAttention", names, outputs, "com.microsoft", num_heads=_HEADS, kv_num_heads=_KV, **given)

    def _interface(self) -> tuple[list[onnx.ValueInfoProto], list[onnx.ValueInfoProto]]:
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        widths = {"q": _HEADS + 2 * _KV} if self.is_packed else {"q": _HEADS, "k": _KV, "v": _KV}
        old, whole = ["batch", _KV, "old", _SIZE], ["batch", _KV, "old" if self.is_shared else "total", _SIZE]
        inputs = [helper.make_tensor_value_info(name, kind, ["batch", "new", width * _SIZE]) for name, width in widths.items()]
        inputs += [helper.make_tensor_value_info(name, kind, old) for name in ("past_k", "past_v")]
        inputs.append(helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "total"]))
        if self.bias:
            inputs.append(helper.make_tensor_value_info("bias", kind, [1, _HEADS, "new", "total"]))
        outputs = [helper.make_tensor_value_info("y", kind, ["batch", "new", _HEADS * _SIZE])]
        return inputs, outputs + [helper.make_tensor_value_info(name, kind, whole) for name in ("keys", "values")]

    def fresh(self, generator: np.random.Generator, batch: int, new: int) -> dict[str, np.ndarray]:
        """New queries, keys and values."""
        widths = {"q": _HEADS + 2 * _KV} if self.is_packed else {"q": _HEADS, "k": _KV, "v": _KV}
        return {name: generator.standard_normal((batch, new, width * _SIZE)).astype(self.dtype) for name, width in widths.items()}


class _Generation:
    """A prompt and tokens through dlc and onnxruntime, each with caches of its own, compared at each step."""

    def __init__(self, decoder: _Decoder) -> None:
        self.decoder, model = decoder, decoder.model()
        self.compiled = dlc.compile(model)
        self.session = reference_session(model)

    def run(self, lengths: list[int], tokens: int, room: int = 0, seed: int = 0) -> None:
        """Prompts of so many positions, padded behind, then `tokens` single ones; a cache of `room` positions to begin with."""
        generator, longest = np.random.default_rng(seed), max(lengths)
        batch = len(lengths)
        empty = np.zeros((batch, _KV, room, _SIZE), self.decoder.dtype)
        ours, theirs = (empty.copy(), empty.copy()), (empty, empty)
        mask = (np.arange(longest) < np.array(lengths)[:, None]).astype(np.int64)
        for step in range(tokens + 1):
            new = 1 if step else longest
            feeds = self.decoder.fresh(generator, batch, new) | {"mask": mask}
            if self.decoder.bias:
                feeds["bias"] = generator.standard_normal((1, _HEADS, new, mask.shape[1])).astype(self.decoder.dtype)
            found = self.compiled(feeds | {"past_k": ours[0], "past_v": ours[1]})
            wanted = self.session.run(None, feeds | {"past_k": theirs[0], "past_v": theirs[1]})
            self._compare(found, wanted, mask.sum(1), step)
            ours, theirs = (found[1], found[2]), (wanted[1], wanted[2])
            mask = np.concatenate([mask, np.ones((batch, 1), np.int64)], 1)

    def _compare(self, found: list[np.ndarray], wanted: list[np.ndarray], lengths: np.ndarray, step: int) -> None:
        """What belongs to each sequence: rows of the result in a prompt, and of the caches."""
        for have, want in zip(found, wanted, strict=True):
            assert have.shape == want.shape
        for at, length in enumerate(lengths):
            rows = slice(None) if step else slice(length)
            compare(found[0][at, rows], wanted[0][at, rows], f"y {step}")
            for have, want in zip(found[1:], wanted[1:], strict=True):
                compare(have[at, :, :length], want[at, :, :length], f"cache {step}")


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_prompts_and_tokens(dtype: type) -> None:
    generation = _Generation(_Decoder(dtype))
    generation.run([5], 3)
    generation.run([3, 6], 3)
    generation.run([7, 7], 2, room=24)
    assert not any(spec.by_value for spec in generation.compiled.inputs)


def test_random_lengths() -> None:
    generation, generator = _Generation(_Decoder(attributes={"local_window_size": 6})), np.random.default_rng(7)
    for seed in range(12):
        lengths = generator.integers(1, 12, generator.integers(1, 4)).tolist()
        generation.run(lengths, int(generator.integers(0, 5)), int(generator.choice([0, 16, 33])), seed)


@pytest.mark.parametrize(
    ("attributes", "is_packed", "sink"),
    [
        ({"rotary_interleaved": 1}, False, False),
        ({"softcap": 5.0}, True, False),
        ({"smooth_softmax": 1}, False, False),
        ({"do_rotary": 0, "local_window_size": 4}, True, True),
    ],
)
def test_forms(attributes: dict[str, Any], is_packed: bool, sink: bool) -> None:
    generation = _Generation(_Decoder(attributes=attributes, is_packed=is_packed, sink=sink))
    generation.run([6], 2)
    generation.run([2, 5], 2, room=9)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("is_shared", [False, True])
def test_bias(is_shared: bool) -> None:
    _Generation(_Decoder(is_shared=is_shared, bias=True)).run([5, 5], 2, room=9)


def test_shared_cache_is_written_in_place() -> None:
    decoder = _Decoder(is_shared=True)
    model = decoder.model()
    compiled = dlc.compile(model, donate=["past_k", "past_v"])
    session = reference_session(model)
    generator, cache = np.random.default_rng(3), [np.zeros((2, _KV, 12, _SIZE), np.float32) for _ in range(2)]
    for total, new in ((4, 4), (5, 1), (6, 1)):
        feeds = decoder.fresh(generator, 2, new) | {"mask": np.ones((2, total), np.int64)}
        wanted = session.run(None, feeds | {"past_k": cache[0], "past_v": cache[1]})
        found = compiled(feeds | {"past_k": cache[0], "past_v": cache[1]})
        for have, want, own in zip(found[1:], wanted[1:], cache, strict=True):
            assert np.shares_memory(have, own)
            compare(have, want, "cache")
        compare(found[0], wanted[0], "y")


@pytest.mark.parametrize(("is_shared", "room", "total"), [(True, 4, 5), (False, 4, 9)])
def test_lengths_that_do_not_fit(is_shared: bool, room: int, total: int) -> None:
    decoder = _Decoder(is_shared=is_shared)
    feeds = decoder.fresh(np.random.default_rng(0), 1, 1) | {"mask": np.ones((1, total), np.int64)}
    past = np.zeros((1, _KV, room, _SIZE), np.float32)
    with pytest.raises(dlc.InvalidInputError, match=r"a sequence is longer than its keys|more than the old and new positions"):
        dlc.compile(decoder.model())(feeds | {"past_k": past, "past_v": past})


def test_coverage_lists_what_is_refused() -> None:
    model = _Decoder(attributes={"sliding_window_cache": 1}).model()
    refused = [each for each in dlc.coverage(model).nodes if each.state == "unsupported"]
    assert [each.op for each in refused] == ["com.microsoft.GroupQueryAttention"]
    assert "sliding_window_cache = 1 is not supported; export the model with 0" in (refused[0].reason or "")


@pytest.mark.parametrize(
    ("op", "domain", "inputs", "attributes"),
    [
        ("Attention", "", ["q", "k", "v", "bias", "past_k", "past_v"], {"q_num_heads": _KV, "kv_num_heads": _KV, "is_causal": 1}),
        (
            "MultiHeadAttention",
            "com.microsoft",
            ["q", "k", "v", "", "", "bias", "past_k", "past_v"],
            {"num_heads": _KV, "unidirectional": 1},
        ),
    ],
)
def test_other_attention(op: str, domain: str, inputs: list[str], attributes: dict[str, int]) -> None:
    kind, width = TensorProto.FLOAT, _KV * _SIZE
    shapes: dict[str, list[int | str]] = {name: ["batch", "new", width] for name in "qkv"}
    shapes |= {name: ["batch", _KV, "old", _SIZE] for name in ("past_k", "past_v")} | {"bias": ["batch", 1, "new", "total"]}
    made = node(op, inputs, ["y", "keys", "values"], domain, **attributes)
    results: dict[str, list[int | str]] = {"y": shapes["q"]} | {name: ["batch", _KV, "total", _SIZE] for name in ("keys", "values")}
    entries, outputs = (
        [helper.make_tensor_value_info(name, kind, shape) for name, shape in given.items()] for given in (shapes, results)
    )
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(helper.make_graph([made], "attention", entries, outputs), opset_imports=opsets, ir_version=11)
    session = reference_session(model)
    compiled, generator = dlc.compile(model), np.random.default_rng(5)
    for new, old in ((5, 0), (1, 5), (2, 6)):
        sizes = {"batch": 2, "new": new, "old": old, "total": old + new}
        feeds = {
            name: generator.standard_normal([sizes.get(str(dim), dim) for dim in shape]).astype(np.float32)
            for name, shape in shapes.items()
        }
        for name, have, want in zip(results, compiled(feeds), session.run(None, feeds), strict=True):
            compare(have, want, name)

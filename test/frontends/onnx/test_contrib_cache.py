"""GroupQueryAttention against onnxruntime: prompts and single tokens, caches that grow and that are shared, ragged batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_check import compare
from reference_session import reference_session

import dlc

_HEADS, _KV, _SIZE, _LONGEST = 4, 2, 16, 64


@dataclass(frozen=True)
class _Call:
    """A node and its inputs: `past` old keys, or a cache of so many where it `is_shared`; `lengths` count the new ones, too."""

    lengths: Sequence[int]
    new: int
    past: int
    is_packed: bool = False
    is_shared: bool = False
    has_past: bool = True
    has_positions: bool = False
    attributes: Any = None

    @property
    def keys(self) -> int:
        return self.past if self.is_shared else self.past + self.new

    def inputs(self) -> dict[str, np.ndarray]:
        generator = np.random.default_rng(self.new + self.past)
        batch, width = len(self.lengths), _HEADS + (2 * _KV if self.is_packed else 0)
        shapes = {"q": (self.new, width * _SIZE)}
        if not self.is_packed:
            shapes |= {"k": (self.new, _KV * _SIZE), "v": (self.new, _KV * _SIZE)}
        if self.has_past:
            shapes |= {"past_k": (_KV, self.past, _SIZE), "past_v": (_KV, self.past, _SIZE)}
        found = {name: generator.standard_normal((batch, *shape)).astype(np.float32) for name, shape in shapes.items()}
        found |= {"last": np.array(self.lengths, np.int32) - 1, "total": np.array(max(self.lengths), np.int32)}
        if self.given.get("do_rotary"):
            angles = np.outer(np.arange(_LONGEST), 10000.0 ** (-np.arange(_SIZE // 2) / (_SIZE // 2)))
            found |= {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
        if self.has_positions:
            found["positions"] = np.stack([np.arange(length - self.new, length) for length in self.lengths]).astype(np.int64)
        return found

    @property
    def given(self) -> dict[str, Any]:
        return dict(self.attributes or {})

    def model(self, is_dynamic: bool) -> onnx.ModelProto:
        inputs = self.inputs()
        names = [
            name * (name in inputs) for name in ("q", "k", "v", "past_k", "past_v", "last", "total", "cos", "sin", "positions")
        ]
        made = helper.make_node(
            "GroupQueryAttention",
            names,
            ["y", "keys", "values"],
            domain="com.microsoft",
            num_heads=_HEADS,
            kv_num_heads=_KV,
            **self.given,
        )
        symbols = {"q": "bs.", "k": "bs.", "v": "bs.", "past_k": "b.p.", "past_v": "b.p.", "last": "b", "positions": "bs"}
        entries = []
        for name, array in inputs.items():
            dims = [
                letter if is_dynamic and letter != "." else size
                for letter, size in zip(symbols.get(name, "." * array.ndim), array.shape, strict=True)
            ]
            entries.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims))
        batch: int | str = "b" if is_dynamic else len(self.lengths)
        keys: int | str = ("p" if self.is_shared else "total_keys") if is_dynamic else self.keys
        cache = [batch, _KV, keys, _SIZE]
        outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, "s" if is_dynamic else self.new, _HEADS * _SIZE])]
        outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, cache) for name in ("keys", "values")]
        graph = helper.make_graph([made], "attention", entries, outputs)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10
        )

    def check(self) -> None:
        """Compare with onnxruntime; of the caches, what belongs to each sequence."""
        feeds = self.inputs()
        for is_dynamic in (False, True):
            model = self.model(is_dynamic)
            session = reference_session(model)
            found, wanted = dlc.compile(model)(feeds), session.run(None, feeds)
            compare(found[0], wanted[0], "y")
            for have, want in zip(found[1:], wanted[1:], strict=True):
                assert have.shape == want.shape
                for at, length in enumerate(self.lengths):
                    compare(have[at, :, :length], want[at, :, :length], "cache")


@pytest.mark.sweep(every=10)
@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("rotary", [{}, {"do_rotary": 1}, {"do_rotary": 1, "rotary_interleaved": 1}])
@pytest.mark.parametrize(("lengths", "new", "past"), [((5, 5), 5, 0), ((7,), 1, 6), ((8,), 3, 5)])
def test_growing(lengths: Sequence[int], new: int, past: int, rotary: dict[str, int], is_packed: bool) -> None:
    _Call(lengths, new, past, is_packed, attributes=rotary).check()


def test_sequences_of_several_lengths() -> None:
    _Call((4, 6), 1, 5, attributes={"do_rotary": 1}).check()


@pytest.mark.parametrize(("lengths", "new"), [((4, 6), 1), ((4,), 4)])
def test_shared(lengths: Sequence[int], new: int) -> None:
    _Call(lengths, new, 8, is_shared=True, attributes={"do_rotary": 1}).check()


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize(("lengths", "attributes"), [((5, 5), {"do_rotary": 1}), ((6,), {"local_window_size": 3})])
def test_no_past(lengths: Sequence[int], attributes: dict[str, int], is_packed: bool) -> None:
    _Call(lengths, lengths[0], 0, is_packed, has_past=False, attributes=attributes).check()


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("attributes", [{}, {"local_window_size": 3}, {"softcap": 5.0}])
def test_one_model_for_a_prompt_and_tokens(attributes: dict[str, Any]) -> None:
    call = _Call((5,), 5, 0, is_packed=True, attributes={"do_rotary": 1, **attributes})
    model = call.model(True)
    session = reference_session(model)
    compiled, past = dlc.compile(model), {}
    for new, old in ((5, 0), (1, 5), (3, 6), (1, 9)):
        feeds = replace(call, lengths=(old + new,), new=new, past=old).inputs() | past
        found, wanted = compiled(feeds), session.run(None, feeds)
        for name, have, want in zip(("y", "past_k", "past_v"), found, wanted, strict=True):
            compare(have, want, name)
        past = {"past_k": wanted[1], "past_v": wanted[2]}


def test_positions() -> None:
    _Call((7,), 1, 6, has_positions=True, attributes={"do_rotary": 1}).check()


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("attributes", [{"local_window_size": 3}, {"softcap": 5.0}, {"scale": 0.3}, {"smooth_softmax": 1}])
@pytest.mark.parametrize(("new", "past"), [(6, 0), (1, 6)])
def test_attributes(attributes: dict[str, Any], new: int, past: int) -> None:
    _Call((new + past,), new, past, attributes=attributes).check()


def test_sequences_that_do_not_fit() -> None:
    call = _Call((7,), 1, 6)
    with pytest.raises(dlc.InvalidInputError, match="a sequence is longer than its keys"):
        dlc.compile(call.model(True))(call.inputs() | {"last": np.array([9], np.int32)})


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"causal": 0}, "causal = 0 is not supported; export the model with 1"),
        ({"k_quant_type": "PER_TENSOR"}, "a quantised cache"),
    ],
)
def test_refused(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(dlc.UnsupportedError, match=message):
        dlc.compile(_Call((7,), 1, 6, attributes=attributes).model(False))

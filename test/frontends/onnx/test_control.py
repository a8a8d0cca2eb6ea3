"""ONNX If, Loop and Scan against onnxruntime and the interpreter, and what is refused of them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx_check import check_backend_cases, compare
from reference_session import reference_session

import dlc
from dlc.dialects import make_context
from dlc.dialects.dl.interpreter import interpret
from dlc.frontends.onnx.importer import import_model

_RANDOM = np.random.default_rng(7)


def _random(*shape: int) -> np.ndarray:
    return _RANDOM.standard_normal(shape).astype(np.float32)


def _model(text: str, opset: int = 21, weights: Mapping[str, np.ndarray] | None = None) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]> {text}')
    model.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in (weights or {}).items())
    return model


def _check(text: str, *calls: Mapping[str, np.ndarray], opset: int = 21) -> None:
    """One compiled model and the interpreter give what onnxruntime gives, for every call."""
    model = _model(text, opset)
    session = reference_session(model)
    compiled = dlc.compile(model)
    imported = import_model(model, make_context())
    for feeds in calls:
        expected = [np.asarray(array) for array in session.run(None, {name: np.asarray(array) for name, array in feeds.items()})]
        inputs = [feeds[entry.name] for entry in model.graph.input]
        for found in (compiled(dict(feeds)), interpret(imported.module, inputs, imported.params)):
            for entry, have, want in zip(model.graph.output, found, expected, strict=True):
                compare(np.asarray(have), want, entry.name)


def _refusal(text: str, opset: int = 21) -> str:
    with pytest.raises((dlc.UnsupportedError, dlc.ParseError)) as caught:
        dlc.compile(_model(text, opset))
    return str(caught.value)


_BOOLS = [np.array(True), np.array(False)]

_EARLY_EXIT = """g (float[N, 8] x, float[8, 8] w, float limit) => (float[N, 8] y, float[N, 8] z) {
  h = MatMul (x, w)
  largest = ReduceMax <keepdims = 0> (h)
  sure = Greater (largest, limit)
  y, z = If (sure) <
    then_branch = early () => (float[N, 8] a, float[N, 8] a2) { a = Relu (h)  a2 = Neg (x) },
    else_branch = full () => (float[N, 8] b, float[N, 8] b2) { h2 = MatMul (h, w)  b = Tanh (h2)  b2 = Identity (h) }
  >
}"""


@pytest.mark.parametrize("limit", [-100.0, 100.0])
@pytest.mark.parametrize("rows", [1, 5])
def test_early_exit(limit: float, rows: int) -> None:
    _check(_EARLY_EXIT, {"x": _random(rows, 8), "w": _random(8, 8), "limit": np.float32(limit)})


def test_branches_of_several_types_and_sizes() -> None:
    text = """g (bool[1] c, float[4, 3] x, int64[2] n) => (float[R, 3] y, int64[2] m, bool[4, 3] p) {
      y, m, p = If (c) <
        then_branch = t () => (float[4, 3] a, int64[2] b, bool[4, 3] q) { a = Exp (x)  b = Add (n, n)  q = Greater (x, a) },
        else_branch = e () => (float[2, 3] a, int64[2] b, bool[4, 3] q) {
          s = Constant <value_ints = [0]> ()  t = Constant <value_ints = [2]> ()
          a = Slice (x, s, t)  b = Identity (n)  q = Less (x, x)
        }
      >
    }"""
    feeds = {"x": _random(4, 3), "n": np.array([3, 4])}
    _check(text, *({"c": one.reshape(1), **feeds} for one in _BOOLS))


def test_weights_in_bodies() -> None:
    text = """g (bool c, float[4, 32] x) => (float[4, 32] y) {
      y = If (c) <
        then_branch = t () => (float[4, 32] a) { wt = Transpose (w)  h = MatMul (x, wt)  a = Relu (h) },
        else_branch = e () => (float[4, 32] b) { b = MatMul (x, w) }
      >
    }"""
    model, x = _model(text, weights={"w": _random(32, 32)}), _random(4, 32)
    session, compiled = reference_session(model), dlc.compile(model)
    for one in _BOOLS:
        compare(compiled({"c": one, "x": x})[0], session.run(None, {"c": one, "x": x})[0], "y")


def test_known_condition_takes_one_branch() -> None:
    text = """g (float[4] x) => (float[4] y) {
      c = Constant <value_int = 1> ()  b = Cast <to = 9> (c)
      y = If (b) <
        then_branch = t () => (float[4] a) { a = Relu (x) },
        else_branch = e () => (float[4] d) { d = NoSuchOp (x) }
      >
    }"""
    found = dlc.compile(_model(text))({"x": np.array([-1, 2, -3, 4], np.float32)})
    np.testing.assert_array_equal(found[0], [0, 2, 0, 4])


_COUNTED = """g (int64 n, float[2, 4] x) => (float[2, 4] y, float[K, 2, 4] all, int64[K] numbers) {
  y, all, numbers = Loop (n, , x) <body = b (int64 i, bool go, float[2, 4] a) =>
    (bool more, float[2, 4] next, float[2, 4] kept, int64 number) {
      more = Identity (go)  half = Constant <value_float = 0.5> ()
      scaled = Mul (a, half)  next = Sin (scaled)  kept = Add (next, x)  number = Identity (i)
  }>
}"""


def test_trip_count() -> None:
    _check(_COUNTED, *({"n": np.int64(count), "x": _random(2, 4)} for count in (0, 1, 2, 9)))


def test_negative_trip_count() -> None:
    found = dlc.compile(_model(_COUNTED))({"n": np.int64(-3), "x": _random(2, 4)})
    assert found[1].shape == (0, 2, 4)


def test_condition_of_the_body() -> None:
    text = """g (int64 n, bool c, float[2, 4] x, float limit) => (float[2, 4] y, float[K, 2, 4] all) {
      y, all = Loop (n, c, x) <body = b (int64 i, bool go, float[2, 4] a) => (bool more, float[2, 4] next, float[2, 4] kept) {
        next = Add (a, x)  total = ReduceSum <keepdims = 0> (next)  more = Less (total, limit)  kept = Neg (next)
      }>
    }"""
    x = np.abs(_random(2, 4))
    limits = [float(x.sum() * share) for share in (0.5, 3.5, 100.0)]
    _check(text, *({"n": np.int64(6), "c": one, "x": x, "limit": np.float32(limit)} for limit in limits for one in _BOOLS))


_DECODE = """g (int64[1, T] prompt, int64 most) => (int64[1, L] tokens, float[1, C, 8] cache) {
  tokens, cache = Loop (most, , prompt, empty) <body = b (int64 i, bool go, int64[1, S] seen, float[1, P, 8] past) =>
    (bool more, int64[1, S2] longer, float[1, P2, 8] present) {
      last = Constant <value_ints = [-1]> ()
      token = Gather <axis = 1> (seen, last)
      x = Gather (table, token)
      key = MatMul (x, wk)
      present = Concat <axis = 1> (past, key)
      keys = Transpose <perm = [0, 2, 1]> (present)
      scores = MatMul (x, keys)  shares = Softmax <axis = -1> (scores)
      mixed = MatMul (shares, present)
      words = Transpose (table)
      logits = MatMul (mixed, words)
      best = ArgMax <axis = -1, keepdims = 0> (logits)
      longer = Concat <axis = 1> (seen, best)
      is_stop = Equal (best, stop)  not_stop = Not (is_stop)  flat = Squeeze (not_stop)  more = Identity (flat)
  }>
}"""


def _decode_model() -> onnx.ModelProto:
    weights = {"table": _random(16, 8), "wk": _random(8, 8), "empty": np.zeros((1, 0, 8), np.float32), "stop": np.array(3)}
    return _model(_DECODE, weights=weights)


def test_greedy_decoding() -> None:
    model = _decode_model()
    session, compiled = reference_session(model), dlc.compile(model)
    for prompt, most in (([1], 5), ([4, 2], 12), ([7], 0)):
        feeds = {"prompt": np.array([prompt]), "most": np.array(most)}
        for have, want in zip(compiled(feeds), session.run(None, feeds), strict=True):
            compare(have, want, "output")


def test_memory_stays_flat() -> None:
    compiled = dlc.compile(_decode_model())
    for length in range(1, 40):
        compiled({"prompt": np.ones((1, length % 7 + 1), np.int64), "most": np.int64(length)})
    before = _resident()
    for length in range(400):
        compiled({"prompt": np.ones((1, length % 7 + 1), np.int64), "most": np.int64(length % 40)})
    assert _resident() - before < 4 << 20


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_nested() -> None:
    text = """g (int64 n, float[3] x) => (float[3] y, float[K, 3] all) {
      zero = Constant <value_int = 0> ()  two = Constant <value_int = 2> ()
      y, all = Loop (n, , x) <body = b (int64 i, bool go, float[3] a) => (bool more, float[3] next, float[3] kept) {
        more = Identity (go)  rest = Mod (i, two)  even = Equal (rest, zero)
        next = If (even) <
          then_branch = t () => (float[3] p) {
            p = Loop (i, , a) <body = d (int64 j, bool go2, float[3] q) => (bool more2, float[3] r) {
              more2 = Identity (go2)  r0 = Add (q, x)  r = Tanh (r0)
            }>
          },
          else_branch = e () => (float[3] p) { p = Neg (a) }
        >
        kept = Mul (next, x)
      }>
    }"""
    _check(text, *({"n": np.int64(count), "x": _random(3)} for count in (0, 1, 6)))


def test_swapped_values() -> None:
    text = """g (int64 n, float[3] x, float[3] z) => (float[3] y, float[3] w, float[3] v) {
      y, w, v = Loop (n, , x, z, x) <body = b (int64 i, bool go, float[3] p, float[3] q, float[3] r) =>
        (bool more, float[3] p2, float[3] q2, float[3] r2) {
          more = Identity (go)  p2 = Identity (q)  q2 = Identity (p)  r2 = Add (r, p)
      }>
    }"""
    _check(text, *({"n": np.int64(count), "x": _random(3), "z": _random(3)} for count in (0, 1, 2, 5)))


_SCAN = """g (float[B, 4] s, float[T, B, 4] x, float[B, 5, T] u) => (float[B, 4] last, float[B, T, 4] first, float[T, B] second) {{
  last, first, second = Scan <num_scan_inputs = 2, {attributes}
    body = b (float[B, 4] h, float[B, 4] xt, float[B, 5] ut) => (float[B, 4] h2, float[B, 4] o1, float[B] o2) {{
      total = ReduceSum <keepdims = 1> (ut, axis)
      sum = Add (h, xt)  squashed = Tanh (sum)  h2 = Mul (squashed, total)
      o1 = Neg (h2)  flat = ReduceSum <keepdims = 0> (h2, axis)  o2 = Identity (flat)
    }}> (s, x, u)
}}"""


@pytest.mark.parametrize("back", [[0, 0], [1, 0], [0, 1], [1, 1]])
@pytest.mark.parametrize("batch", ["B", "3"])
def test_scan(back: Sequence[int], batch: str) -> None:
    attributes = (
        f"scan_input_axes = [0, 2], scan_input_directions = [{back[0]}, {back[1]}], "
        f"scan_output_axes = [1, 0], scan_output_directions = [{back[1]}, {back[0]}],"
    )
    text = _SCAN.format(attributes=attributes).replace("B", batch)
    text = text.replace("second) {", "second) <int64[1] axis = {1}> {", 1)
    _check(text, *({"s": _random(3, 4), "x": _random(steps, 3, 4), "u": _random(3, 5, steps)} for steps in (1, 4)))


def test_scan_of_opset_8() -> None:
    text = """g (float[2, 3] s, float[2, 5, 3] x) => (float[2, 3] last, float[2, 5, 3] all) {
      last, all = Scan <num_scan_inputs = 1, body = b (float[3] h, float[3] t) => (float[3] h2, float[3] o) {
        h2 = Add (h, t)  o = Mul (h2, t)
      }> ( , s, x)
    }"""
    _check(text, {"s": _random(2, 3), "x": _random(2, 5, 3)}, opset=8)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["If", "Loop", "Scan", "Range"])
def test_backend_cases(op: str) -> None:
    if op in ("If", "Loop"):
        pytest.skip("holds cases of sequences, which the table of conformance lists")
    assert check_backend_cases(op)


# What is refused


def test_type_that_changes() -> None:
    text = """g (int64 n, float[3] x) => (float[3] y) {
      y = Loop <body = b (int64 i, bool go, float[3] a) => (bool more, int64[3] next) {
        more = Identity (go)  next = Cast <to = 7> (a)
      }> (n, , x)
    }"""
    assert "carried value 0 has two types: the body takes and gives it as tensor<3xf32> and tensor<3xi64>" in _refusal(text)


def test_rank_that_changes() -> None:
    text = """g (int64 n, float[3] x) => (float[3] y) {
      axis = Constant <value_ints = [0]> ()
      y = Loop <body = b (int64 i, bool go, float[3] a) => (bool more, float[1, 3] next) {
        more = Identity (go)  next = Unsqueeze (a, axis)
      }> (n, , x)
    }"""
    assert "element type and rank have to be the same" in _refusal(text)


def test_branches_of_two_types() -> None:
    text = """g (bool c, float[3] x) => (float[3] y) {
      y = If <then_branch = t () => (float[3] a) { a = Relu (x) },
              else_branch = e () => (int64[3] b) { b = Cast <to = 7> (x) }> (c)
    }"""
    assert "output 'y' has two types: branches give it as tensor<3xf32> and tensor<3xi64>" in _refusal(text)


def test_branches_of_two_ranks() -> None:
    """Code is made for the condition of a call; sizes within branches are known where the input is that they come from."""
    text = """g (int64[2] s, float[6] x) => (float[N] y, float[K] z) {
      zero = Constant <value_int = 0> ()  one = Constant <value_int = 1> ()  last = Constant <value_ints = [-1]> ()
      first = Gather (s, zero)  c = Equal (first, one)
      h = If <then_branch = t () => (float[6] a) { a = Relu (x) },
              else_branch = e () => (float[P, Q] b) { b = Reshape (x, s) }> (c)
      y = Reshape (h, last)
      z = Squeeze (h)
    }"""
    compiled = dlc.compile(_model(text, 21))
    x = np.arange(-2, 4, dtype=np.float32)
    for sizes, want in (([1, 6], np.maximum(x, 0)), ([2, 3], x)):
        y, z = compiled(np.array(sizes), x)
        np.testing.assert_array_equal(y, want)
        np.testing.assert_array_equal(z, want.reshape(-1) if sizes == [1, 6] else x.reshape(2, 3))


def test_number_of_carried_values() -> None:
    text = """g (int64 n, float[3] x) => (float[3] y) {
      y = Loop <body = b (int64 i, bool go) => (bool more) { more = Identity (go) }> (n, , x)
    }"""
    assert "its body takes 2 values but the node hands 3 to it" in _refusal(text)


def test_missing_graph() -> None:
    text = """g (bool c, float[3] x) => (float[3] y) {
      y = If <then_branch = t () => (float[3] a) { a = Relu (x) }> (c)
    }"""
    assert "attribute 'else_branch' is missing" in _refusal(text)


def test_undefined_name_in_a_body() -> None:
    text = """g (bool c, float[3] x) => (float[3] y) {
      y = If <then_branch = t () => (float[3] a) { a = Relu (nothing) },
              else_branch = e () => (float[3] b) { b = Neg (x) }> (c)
    }"""
    assert "nothing" in _refusal(text)


def test_unsupported_op_in_a_body_is_named_once() -> None:
    text = """g (int64 n, float[3] x) => (float[3] y) {
      y = Loop <body = b (int64 i, bool go, float[3] a) => (bool more, float[3] next) {
        more = Identity (go)  next = NoSuchOp (a)
      }> (n, , x)
    }"""
    message = _refusal(text)
    assert message.count("NoSuchOp") == 1 and "next" in message and "'y'" not in message


# Loops without end

_ENDLESS = """g (float[3] x) => (float[3] y) {
  y = Loop <body = b (int64 i, bool go, float[3] a) => (bool more, float[3] next) {
    more = Identity (go)  next = Tanh (a)
  }> ( , , x)
}"""


def test_endless_loop_is_interrupted() -> None:
    model = dlc.compile(_model(_ENDLESS))
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model({"x": _random(3)})
    timer.join()


def test_endless_loop_is_cancelled() -> None:
    model = dlc.compile(_model(_ENDLESS))
    found: list[BaseException] = []

    def call() -> None:
        try:
            model({"x": _random(3)})
        except dlc.CancelledError as error:
            found.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    time.sleep(0.2)
    model.cancel()
    thread.join(timeout=20)
    assert not thread.is_alive() and len(found) == 1 and "cancel" in str(found[0]).lower()

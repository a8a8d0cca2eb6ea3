"""What Loop and Scan keep of steps whose number nobody knows before, against onnxruntime and the interpreter."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_check import compare
from reference_session import reference_session
from sweeps import examples

import dlc
from dlc.dialects import make_context
from dlc.dialects.dl.interpreter import interpret
from dlc.frontends.onnx.importer import ImportedModel, import_model

_BOUNDS = {"none": "", "constant": "thirty", "input": "most"}
"""The trip counts: that of the text is 30."""


def _model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')


_NESTED = """over{k} = Mod (i, four)  rest{k} = Add (over{k}, {least})
  unused{k}, rows{k} = Loop (rest{k}, yes, half) <body = d{k} (int64 j, bool go{k}, float f{k}) =>
    (bool more{k}, float g{k}, float[{shape}] own{k}) {{
      more{k} = Less (j, one)  g{k} = Identity (f{k})  own{k} = Mul (x{k}, f{k})
  }}>
  sum{k} = ReduceSum <keepdims = 0> (rows{k}, axis)  kept{k} = Add (base{k}, sum{k})
"""

_OUTER = """g (int64 most, int64 last, {inputs}) => (float y, {outputs})
  <bool yes = {{1}}, int64 thirty = {{30}}, int64 zero = {{0}}, int64 one = {{1}}, int64 four = {{4}},
  int64[1] axis = {{0}}, float half = {{0.5}}> {{
    y, {names} = Loop ({bound}, yes, half) <body = b (int64 i, bool go, float a) => (bool more, float next, {kept}) {{
      number = Cast <to = 1> (i)  next = Add (a, number)  more = Less (i, last)
      {steps}
    }}>
}}"""


def _loop(bound: str, shapes: Sequence[str], is_nested: bool) -> onnx.ModelProto:
    """Step i keeps x + i of each input x, of the shapes given; a nested loop of two steps at most adds what it kept itself.

    Where sizes are open it has one at least: sizes of no steps are 0.
    """
    steps = []
    for k, shape in enumerate(shapes):
        least = "one" if set(shape) & set("RC") else "zero"
        inner = _NESTED.format(k=k, shape=shape, least=least) if is_nested else f"kept{k} = Identity (base{k})"
        steps.append(f"base{k} = Add (x{k}, number)  {inner}")

    def listed(form: str) -> str:
        return ", ".join(form.format(k=k, shape=shape) for k, shape in enumerate(shapes))

    return _model(
        _OUTER.format(
            bound=_BOUNDS[bound],
            inputs=listed("float[{shape}] x{k}"),
            outputs=listed("float[K, {shape}] all{k}"),
            names=listed("all{k}"),
            kept=listed("float[{shape}] kept{k}"),
            steps="\n".join(steps),
        )
    )


_Built = tuple[dlc.CompiledModel, Any, ImportedModel]


@cache
def _built(bound: str, shapes: tuple[str, ...], is_nested: bool) -> _Built:
    model = _loop(bound, shapes, is_nested)
    session = reference_session(model)
    return dlc.compile(model), session, import_model(model, make_context())


def _check(bound: str, shapes: tuple[str, ...], is_nested: bool, most: int, steps: int, rows: int) -> None:
    compiled, session, imported = _built(bound, shapes, is_nested)
    generator = np.random.default_rng(steps)
    sizes = [[int(dim) if dim.strip().isdigit() else rows for dim in shape.split(",")] for shape in shapes]
    feeds = {f"x{k}": generator.standard_normal(shape).astype(np.float32) for k, shape in enumerate(sizes)}
    feeds = {"most": np.array(most), "last": np.array(steps - 1), **feeds}
    wanted, names = session.run(None, feeds), [f"output {index}" for index in range(len(shapes) + 1)]
    inputs = [feeds[entry.name] for entry in session.get_inputs()]
    for found in (compiled(feeds), interpret(imported.module, inputs, imported.params)):
        for name, have, want in zip(names, found, wanted, strict=True):
            if want.size:
                compare(np.asarray(have), want, name)
            else:
                assert have.shape[0] == want.shape[0], name


_SHAPES = [("2, 3",), ("3", "R, 2"), ("R, C", "1, 1")]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize("bound", _BOUNDS)
@pytest.mark.parametrize("shapes", _SHAPES)
def test_loops(shapes: tuple[str, ...], bound: str, is_nested: bool) -> None:
    """Any number of steps, ended by the condition or by the trip count; some are full rooms, and one more than that."""

    @settings(max_examples=examples(12), deadline=None)
    @given(most=st.integers(0, 70), steps=st.integers(1, 70) | st.sampled_from([16, 17, 32, 33, 64, 65]), rows=st.integers(1, 3))
    def check(most: int, steps: int, rows: int) -> None:
        _check(bound, shapes, is_nested, most, steps, rows)

    check()


_SCAN = """g (float[T, 3] x, int64[T] n) => (float[K, P, Q] all) <int64[1] zero = {{0}}, int64[1] one = {{1}}> {{
  all = Scan <num_scan_inputs = 2, scan_output_axes = [{axis}], scan_output_directions = [{back}],
    body = b (float[3] xt, int64 nt) => (float[P, 3] o) {{
      end = Reshape (nt, one)  cut = Slice (table, zero, end)  o = Add (cut, xt)
    }}> (x, n)
}}"""


def _scan(axis: int, back: int) -> onnx.ModelProto:
    """Step t keeps the first n[t] rows of a table, plus x[t]."""
    model = _model(_SCAN.format(axis=axis, back=back))
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    model.graph.initializer.append(onnx.numpy_helper.from_array(table, "table"))
    return model


@pytest.mark.parametrize("back", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_scan_of_sizes_that_steps_show(axis: int, back: int) -> None:
    model = _scan(axis, back)
    compiled, session = dlc.compile(model), reference_session(model)
    for steps, rows in ((1, 2), (5, 3), (40, 4)):
        feeds = {"x": np.random.default_rng(steps).standard_normal((steps, 3)).astype(np.float32), "n": np.full(steps, rows)}
        compare(compiled(feeds)[0], session.run(None, feeds)[0], "all")


def test_steps_of_several_sizes_are_refused() -> None:
    compiled = dlc.compile(_scan(0, 0))
    for last in (1, 3):
        with pytest.raises(dlc.InvalidInputError, match=f"dim 0 of what is written is {last} but dim 1 of its slice is 2"):
            compiled({"x": np.zeros((3, 3), np.float32), "n": np.array([2, 2, last])})


_KEPT_BYTES = 1024


def _long_loop(memory_limit: int | None = None) -> dlc.CompiledModel:
    return dlc.compile(_loop("none", ("1, 256",), False), memory_limit=memory_limit, num_threads=1)


def test_steps_take_linear_time() -> None:
    """A loop that copies all it has kept in each step would move 200 GB."""
    steps, compiled = 20_000, _long_loop()
    start = time.perf_counter()
    found = compiled({"most": np.array(0), "last": np.array(steps - 1), "x0": np.zeros((1, 256), np.float32)})
    assert time.perf_counter() - start < 5
    assert found[1].shape == (steps, 1, 256) and found[1][-1, 0, 0] == steps - 1


def test_memory_limit() -> None:
    """Room takes at most twice the bytes of the rows that are kept, and the result those once more."""
    steps, rows = 2000, np.zeros((1, 256), np.float32)
    feeds = {"most": np.array(0), "last": np.array(steps - 1), "x0": rows}
    _long_loop(4 * steps * _KEPT_BYTES)(feeds)
    compiled = _long_loop(steps * _KEPT_BYTES)
    with pytest.raises(dlc.OutOfMemoryError, match="raise memory_limit"):
        compiled(feeds)
    assert compiled(feeds | {"last": np.array(9)})[1].shape[0] == 10


def test_memory_stays_flat() -> None:
    """Room that was grown out of, and what is cut of the last one, is freed in each call."""
    compiled, rows = _long_loop(), np.zeros((1, 256), np.float32)
    calls = [{"most": np.array(0), "last": np.array(steps), "x0": rows} for steps in range(0, 100, 3)]
    for _ in range(3):
        before = int(Path("/proc/self/statm").read_text().split()[1]) * 4096
        for feeds in calls * 20:
            compiled(feeds)
    assert int(Path("/proc/self/statm").read_text().split()[1]) * 4096 - before < 4 << 20

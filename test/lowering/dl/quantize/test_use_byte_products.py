"""dl-use-byte-products is exact: any types of bytes, zero points per tensor, row and column, sizes that fill no block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sweeps import examples

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.dtypes import NUMPY_DTYPES
from dlc.lowering.pipeline import Pipeline
from dlc.targets.machine import host_facts, target_facts

BYTES = st.sampled_from(["i8", "ui8"])


def zero_points(random: np.random.Generator, form: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray | None:
    """Zero points as ONNX gives them: none, one for the tensor, or one for each row or column."""
    if form == "none":
        return None
    low = 0 if dtype == "ui8" else -128
    return random.integers(low, low + 256, () if form == "scalar" else shape).astype(np.int32)


def build(
    x: np.ndarray, w: np.ndarray, zeros: tuple[np.ndarray | None, np.ndarray | None], rows: int | str, dtypes: tuple[str, str]
) -> Graph:
    """matmul(i32(x) - zero, i32(w) - zero) with weights and zero points known."""
    with Graph() as graph:
        sides = [graph.input("x", (rows, *x.shape[1:]), dtypes[0]), graph.param("w", w)]
        wide = [dl.cast(side, to="i32") for side in sides]
        made = [side if zero is None else dl.sub(side, dl.constant(value=zero)) for side, zero in zip(wide, zeros, strict=True)]
        graph.output("y", dl.matmul(*made))
    return graph


@settings(max_examples=examples(25))
@given(
    m=st.integers(1, 19),
    n=st.integers(1, 140),
    k=st.integers(1, 70),
    left=BYTES,
    right=BYTES,
    forms=st.tuples(st.sampled_from(["none", "scalar", "vector"]), st.sampled_from(["none", "scalar", "vector"])),
    dynamic=st.booleans(),
    seed=st.integers(0, 9),
)
def test_products_of_bytes(m: int, n: int, k: int, left: str, right: str, forms: tuple[str, str], dynamic: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    dynamic &= forms[0] != "vector"
    x, w = (
        random.integers(*((0, 256) if dtype == "ui8" else (-128, 128)), shape).astype(NUMPY_DTYPES[dtype])
        for dtype, shape in ((left, (m, k)), (right, (k, n)))
    )
    zeros = zero_points(random, forms[0], left, (m, 1)), zero_points(random, forms[1], right, (n,))
    graph = build(x, w, zeros, "m" if dynamic else m, (left, right))
    sides = [side.astype(np.int64) - (0 if zero is None else zero) for side, zero in zip((x, w), zeros, strict=True)]
    want = np.matmul(*sides).astype(np.int32)
    np.testing.assert_array_equal(dlc.compile(graph.module, params=graph.params)(x)[0], want)
    Pipeline(["dl-use-byte-products", "dl-outline-constants"]).run(graph.module)
    assert "dl.vnni_matmul" in str(graph.module)
    np.testing.assert_array_equal(interpret(graph.module, [x], graph.params)[0], want)


@pytest.mark.parametrize("target", ["generic", "ivybridge", "haswell", "skylake-avx512", "cascadelake"])
def test_products_of_extreme_bytes(target: str) -> None:
    """The largest products of bytes do not saturate, whatever the target multiplies them with."""
    if target_facts(target).missing_in(host_facts()):
        pytest.skip(f"this machine cannot run code for {target}")
    x = np.full((7, 68), 255, np.uint8)
    w = np.where(np.arange(68 * 80).reshape(68, 80) % 3 == 0, -128, 127).astype(np.int8)
    graph = build(x, w, (None, None), 7, ("ui8", "i8"))
    model = dlc.compile(graph.module, params=graph.params, target=target)
    np.testing.assert_array_equal(model(x)[0], x.astype(np.int32) @ w.astype(np.int32))


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("dtypes", [("ui8", "i8"), ("i8", "ui8"), ("ui8", "ui8"), ("i8", "i8")])
@pytest.mark.parametrize("shape", [(1, 96, 13, 10, 32), (2, 900, 4, 4, 16), (1, 65, 16, 16, 48)])
@pytest.mark.parametrize("target", ["generic", "haswell", "skylake-avx512"])
def test_convolutions_of_extreme_bytes(dtypes: tuple[str, str], shape: tuple[int, ...], target: str) -> None:
    """Sums of 3x3 taps are exact, by Winograd's tiles too, whatever the bytes are."""
    if target_facts(target).missing_in(host_facts()):
        pytest.skip(f"this machine cannot run code for {target}")
    random = np.random.default_rng(0)
    batch, inner, height, width, out = shape
    edges = {"ui8": [0, 1, 255], "i8": [-128, -127, 0, 127]}
    x, w = (
        random.choice(edges[dtype], size).astype(NUMPY_DTYPES[dtype])
        for dtype, size in zip(dtypes, ((batch, inner, height, width), (out, inner, 3, 3)), strict=True)
    )
    x[:, :, :4, :4], w[0] = max(edges[dtypes[0]], key=abs), max(edges[dtypes[1]], key=abs)
    with Graph() as graph:
        image = dl.sub(dl.cast(graph.input("x", x.shape, dtypes[0]), to="i32"), dl.constant(value=np.array(7, np.int32)))
        found = dl.conv(image, dl.cast(graph.param("w", w), to="i32"), pads=[1, 1, 1, 1])
        graph.output("y", found)
    padded = np.pad(x.astype(np.int64) - 7, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    want = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64), optimize=True)
    model = dlc.compile(graph.module, params=graph.params, target=target)
    np.testing.assert_array_equal(model(x)[0], want.astype(np.int32))


@settings(max_examples=examples(25))
@given(
    channels=st.integers(1, 5),
    sizes=st.tuples(st.integers(4, 9), st.integers(4, 9)),
    taps=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    step=st.integers(1, 4),
    dilation=st.integers(1, 2),
    pads=st.tuples(*[st.integers(0, 2)] * 4),
    centered=st.booleans(),
    batch=st.sampled_from([1, "n"]),
)
def test_windows_of_bytes(
    channels: int,
    sizes: tuple[int, int],
    taps: tuple[int, int],
    step: int,
    dilation: int,
    pads: tuple[int, ...],
    centered: bool,
    batch: int | str,
) -> None:
    """Any window gives the sums that i32 gives, where rows of it are words of one another's channels too."""
    assume(
        all(
            size + low + high > dilation * (span - 1) for size, span, low, high in zip(sizes, taps, pads[:2], pads[2:], strict=True)
        )
    )
    random = np.random.default_rng(channels)
    x = random.integers(0, 256, (2, channels, *sizes)).astype(np.uint8)[: batch if isinstance(batch, int) else 2]
    w = random.integers(-128, 128, (5, channels, *taps)).astype(np.int8)
    zero = random.integers(-128, 128, (5, 1, 1, 1)).astype(np.int32)
    with Graph() as graph:
        image = dl.sub(dl.cast(graph.input("x", (batch, *x.shape[1:]), "ui8"), to="i32"), dl.constant(value=np.array(7, np.int32)))
        kernel = dl.cast(graph.param("w", w), to="i32")
        kernel = dl.sub(kernel, dl.constant(value=zero)) if centered else kernel
        graph.output("y", dl.conv(image, kernel, strides=[step] * 2, dilations=[dilation] * 2, pads=list(pads)))
    padded = np.pad(x.astype(np.int64) - 7, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    spans = [dilation * (span - 1) + 1 for span in taps]
    windows = np.lib.stride_tricks.sliding_window_view(padded, spans, axis=(2, 3))[:, :, ::step, ::step, ::dilation, ::dilation]
    want = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64) - (zero if centered else 0))
    np.testing.assert_array_equal(dlc.compile(graph.module, params=graph.params)(x)[0], want.astype(np.int32))

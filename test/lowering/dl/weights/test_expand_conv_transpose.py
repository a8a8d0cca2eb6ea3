"""Transposed convolutions with kernels of weights, compiled, against the op's NumPy reference."""

from __future__ import annotations

import numpy as np
import pytest

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.conv import ConvTranspose
from dlc.dialects.dl.graph import Graph

CASES = [
    # kernel, strides, pads, output_padding
    ((2, 2), (2, 2), (0, 0, 0, 0), (0, 0)),
    ((4, 4), (2, 2), (1, 1, 1, 1), (0, 0)),
    ((3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    ((3, 3), (1, 1), (0, 1, 2, 1), (0, 0)),
    ((5, 3), (3, 2), (2, 0, 1, 1), (1, 0)),
    ((2, 1), (3, 2), (0, 0, 0, 0), (2, 1)),
    ((4, 4), (2, 2), (3, 3, 3, 3), (0, 0)),
    ((4,), (2,), (1, 0), (1,)),
    ((2, 3, 2), (2, 1, 2), (0, 1, 0, 0, 1, 1), (0, 0, 1)),
]


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize(("kernel", "strides", "pads", "extra"), CASES)
@pytest.mark.parametrize("with_bias", [False, True])
def test_results(
    kernel: tuple[int, ...], strides: tuple[int, ...], pads: tuple[int, ...], extra: tuple[int, ...], with_bias: bool
) -> None:
    random = np.random.default_rng(0)
    sizes = (6, 5, 4)[: len(kernel)]
    x = random.standard_normal((2, 3, *sizes)).astype(np.float32)
    weight = random.standard_normal((3, 2, *kernel)).astype(np.float32)
    bias = random.standard_normal(2).astype(np.float32) if with_bias else None
    attributes = {"strides": strides, "pads": pads, "output_padding": extra}
    with Graph() as built:
        given = built.input("x", x.shape)
        shift = None if bias is None else built.param("b", bias)
        built.output("y", dl.conv_transpose(given, built.param("w", weight), shift, **attributes))
    want = ConvTranspose.reference(x, weight, bias, dilations=(), groups=1, channels_last=False, **attributes)
    got = dlc.compile(built.module, params=built.params)(x)[0]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("seed", range(12))
def test_phases(seed: int) -> None:
    """Any strides, dilations, pads and groups, with what follows element by element."""
    random = np.random.default_rng(seed)
    rank, groups = 1 + seed % 3, (1, 2)[seed % 2]
    sizes, kernel, strides, dilations = (tuple(map(int, random.integers(1, most, rank))) for most in (7, 5, 4, 4))
    extra = tuple(max(stride, dilation) - 1 for stride, dilation in zip(strides, dilations, strict=True))
    pads = tuple(
        int(random.integers(0, (size - 1) * dilation // 2 + 1))
        for _ in "ab"
        for size, dilation in zip(kernel, dilations, strict=True)
    )
    x = random.standard_normal((2, 4, *sizes)).astype(np.float32)
    weight = random.standard_normal((4, 16 if seed % 4 else 1, *kernel)).astype(np.float32)
    bias = random.standard_normal(groups * weight.shape[1]).astype(np.float32)
    scale = random.standard_normal((len(bias), *[1] * rank)).astype(np.float32)
    attributes = {"strides": strides, "pads": pads, "output_padding": extra, "dilations": dilations, "groups": groups}
    with Graph() as built:
        product = dl.conv_transpose(built.input("x", x.shape), built.param("w", weight), built.param("b", bias), **attributes)
        built.output("y", dl.mul(dl.relu(product), built.param("s", scale)))
    want = np.maximum(ConvTranspose.reference(x, weight, bias, channels_last=False, **attributes), 0) * scale
    got = dlc.compile(built.module, params=built.params)(x)[0]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)

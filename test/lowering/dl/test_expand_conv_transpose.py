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


@pytest.mark.parametrize(("kernel", "strides", "pads", "extra"), CASES)
@pytest.mark.parametrize("with_bias", [False, True])
def test_results(
    kernel: tuple[int, ...], strides: tuple[int, ...], pads: tuple[int, ...], extra: tuple[int, ...], with_bias: bool
) -> None:
    random = np.random.default_rng(0)
    sizes = (6, 5, 4)[: len(kernel)]
    x = random.standard_normal((2, 3, *sizes)).astype(np.float32)
    weight = random.standard_normal((3, 5, *kernel)).astype(np.float32)
    bias = random.standard_normal(5).astype(np.float32) if with_bias else None
    attributes = {"strides": strides, "pads": pads, "output_padding": extra}
    with Graph() as built:
        given = built.input("x", x.shape)
        shift = None if bias is None else built.param("b", bias)
        built.output("y", dl.conv_transpose(given, built.param("w", weight), shift, **attributes))
    want = ConvTranspose.reference(x, weight, bias, dilations=(), groups=1, channels_last=False, **attributes)
    got = dlc.compile(built.module, params=built.params)(x)[0]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)

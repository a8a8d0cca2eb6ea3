"""`precision="bf16"`: results near f32, results of exactly rounded weights, code with dot products, keys of the cache, errors."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeps import examples

import dlc
from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.dtypes import NUMPY_DTYPES
from dlc.lowering.dl.quantize.lower_precision import LowerPrecision
from dlc.lowering.pipeline import Pipeline
from dlc.targets.cpu.emit import emit_assembly
from dlc.targets.machine import Instruction, Machine, set_target, target_facts

BF16 = NUMPY_DTYPES["bf16"]


def product(m: int, k: int, n: int, seed: int = 0) -> tuple[Graph, np.ndarray, np.ndarray]:
    """relu(x @ w + 1) with its arrays; w is large enough to be packed."""
    random = np.random.default_rng(seed)
    x, w = (random.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n)))
    with Graph() as graph:
        value = dl.matmul(graph.input("x", x.shape, "f32"), graph.param("w", w))
        graph.output("y", dl.relu(dl.add(value, dl.constant(value=np.ones(n, np.float32)))))
    return graph, x, w


def with_free_widening(machine: Machine) -> Machine:
    """The machine with integers that cost nothing, so that weights of bf16 pay for any number of rows."""
    return machine.override(instructions=dataclasses.replace(machine.instructions, integer_i32=Instruction(1.0, 1e-6)))


def rounded(array: np.ndarray) -> np.ndarray:
    return array.astype(BF16).astype(np.float64)


@settings(max_examples=examples(12))
@given(m=st.integers(1, 20), k=st.integers(65, 150), n=st.integers(64, 220), seed=st.integers(0, 9), rounds=st.booleans())
def test_products(m: int, k: int, n: int, seed: int, rounds: bool) -> None:
    """Weights are rounded once, to nearest even; so is the other side for a target with dot products. Sums are of f32."""
    graph, x, w = product(m, k, n, seed)
    Pipeline(["dl-pack-weights", "dl-set-target{target=znver4}"]).run(graph.module)
    if not rounds:
        set_target(graph.module.operation, with_free_widening(target_facts("x86-64")))
    Pipeline([LowerPrecision("bf16"), "dl-set-target"]).run(graph.module)  # what these make for such a target, on this machine
    assert "dl.vnni_matmul" in str(graph.module)
    assert ("xbf16>" in str(graph.module)) == rounds
    found = dlc.compile(graph.module, params=graph.params)(x)[0]
    want = np.maximum((rounded(x) if rounds else x.astype(np.float64)) @ rounded(w) + 1, 0)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=2e-5 * np.sqrt(k))


@pytest.mark.parametrize("taps", [1, 3])
@pytest.mark.parametrize("channels", [32, 33])
def test_convolutions(taps: int, channels: int) -> None:
    """What the graph passes make of convolutions for a target with dot products, on this machine: operands are rounded once."""
    random = np.random.default_rng(taps)
    shapes = (2, channels, 9, 10), (64, channels, taps, taps), (64,)
    x, w, bias = (random.standard_normal(shape).astype(np.float32) for shape in shapes)
    with Graph() as graph:
        pads, strides = [taps // 2] * 4, [1, 1] if taps == 1 else [2, 1]
        operands = graph.input("x", x.shape, "f32"), graph.param("w", w), graph.param("b", bias)
        graph.output("y", dl.relu(dl.conv(*operands, pads=pads, strides=strides)))
    passes = ["dl-set-target{target=znver4}", "dl-assign-layouts{force}", LowerPrecision("bf16"), "dl-set-target"]
    Pipeline(passes).run(graph.module)
    assert ("dl.vnni_matmul" if taps == 1 else "dl.vnni_conv") in str(graph.module)
    with Graph() as same:
        given = same.input("x", x.shape, "f64"), same.param("w", rounded(w)), same.param("b", bias.astype(np.float64))
        same.output("y", dl.relu(dl.conv(*given, pads=pads, strides=strides)))
    (want,) = interpret(same.module, [rounded(x)], same.params)
    found = dlc.compile(graph.module, params=graph.params)(x)[0]
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-3)


def inverted_residual() -> tuple[Graph, np.ndarray]:
    """A block of MobileNetV2 with 24 channels outside and 48 inside, and its image."""
    random = np.random.default_rng(0)
    image = random.standard_normal((1, 24, 14, 15)).astype(np.float32)
    shapes = {"w": (48, 24, 1, 1), "d": (48, 1, 3, 3), "v": (24, 48, 1, 1)}
    with Graph() as graph:
        w, d, v = (
            graph.param(key, (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32))
            for key, shape in shapes.items()
        )
        x = dl.relu(graph.input("x", image.shape, "f32"))
        for _ in range(2):
            inner = dl.relu(dl.conv(dl.relu(dl.conv(x, w)), d, pads=[1] * 4, groups=48))
            x = dl.add(dl.conv(inner, v), x)
        graph.output("y", x)
    return graph, image


def test_images_between_convolutions() -> None:
    """Images are stored in bf16 by the kernels that compute them, and by no other; results are near those of f32."""
    graph, image = inverted_residual()
    text = str(dlc.lower(graph.module, "linalg", target="znver4", precision="bf16"))
    kernels = re.findall(r"func.func private @kernel_\d+_(\w+)\((.*)\) -> (.*) attributes", text)
    assert [name for name, _, _ in kernels if name == "cast"] == []
    assert [operands for name, operands, _ in kernels if name.startswith("conv") and "xbf16>" not in operands] == []
    assert ["xbf16>" in result for _, _, result in kernels] == [True] * 4 + [False] * 2  # the last sum and its transpose
    want, found = (dlc.compile(graph.module, params=graph.params, precision=precision)(image)[0] for precision in (None, "bf16"))
    assert np.abs(found - want).max() < 2e-2 * np.abs(want).max()


def test_f32_is_the_default_and_keys_differ(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path))
    graph, x, w = product(1, 1024, 1024)
    plain, same, narrow = (
        dlc.compile(graph.module, params=graph.params, precision=precision)(x)[0] for precision in (None, "f32", "bf16")
    )
    want = np.maximum(x.astype(np.float64) @ w + 1, 0)
    np.testing.assert_array_equal(plain, same)
    np.testing.assert_allclose(plain, want, rtol=1e-5, atol=1e-3)
    error = np.abs(narrow - want).max() / np.abs(want).max()
    assert 1e-5 < error < 1e-2


@pytest.mark.parametrize("m", [1, 128])
@pytest.mark.parametrize("target", ["znver4", "sapphirerapids"])
def test_code_with_dot_products(m: int, target: str) -> None:
    """The loops hold vdpbf16ps; none of them stores or loads a vector of the stack, or gathers words in vectors."""
    graph, _, _ = product(m, 768, 768)
    code = emit_assembly(dlc.lower(graph.module, target=target, precision="bf16"))
    assert "vdpbf16ps" in code
    lines = code.splitlines()
    dots = [index for index, line in enumerate(lines) if "vdpbf16ps" in line]
    loop = lines[dots[0] : dots[-1]]
    assert not [line for line in loop if "zmm" in line and "(%rsp" in line]
    assert not [line for line in loop if "vfmadd" in line or "vperm" in line or "vpshuf" in line]


def with_slow_dots(module: ir.Module) -> ir.Module:
    """The module for Zen 4 whose dot products of bf16 start every eighth cycle."""
    facts = target_facts("znver4")
    slow = dataclasses.replace(facts.instructions, dot_bf16=Instruction(12.0, 8.0))
    set_target(module.operation, facts.override(instructions=slow))
    return module


def test_slow_dot_products_are_not_taken() -> None:
    """Weights are bf16 in memory, and multiplied as f32; those of many rows stay f32."""
    graph, _, _ = product(1, 768, 768)
    code = emit_assembly(dlc.lower(with_slow_dots(graph.module), precision="bf16"))
    assert "vdpbf16ps" not in code
    assert "vfmadd" in code
    assert "vpslld" in code
    notes = dlc.explain(graph.module, precision="bf16").notes
    assert notes[1].startswith("the target's dot products of bf16 are slow: these weights take half the memory")
    many, _, _ = product(512, 768, 768)
    assert "vpslld" not in emit_assembly(dlc.lower(with_slow_dots(many.module), precision="bf16"))


def test_explain_says_what_it_comes_to() -> None:
    graph, _, _ = product(4, 96, 96)
    assert dlc.explain(graph.module).notes == ()
    with_dots, without = (dlc.explain(graph.module, target=target, precision="bf16").notes for target in ("znver4", "haswell"))
    assert with_dots == ("1 of 1 products and convolutions read their weights in bf16, the others compute in f32",)
    assert len(without) == 2 and "no dot products of bf16" in without[1]
    assert dlc.explain(graph.module, precision="tf32").notes[0].startswith("tf32 is for the tensor cores of a GPU")
    on_gpu = dlc.explain(graph.module, target="gpu:sm_80", precision="bf16").notes
    assert on_gpu[0] == "1 of 1 products and convolutions round their operands to bf16, results stay f32"
    assert not any("dot products" in note or "multiply-adds" in note for note in on_gpu)


def test_errors() -> None:
    graph, _, _ = product(4, 96, 96)
    with pytest.raises(dlc.InvalidInputError, match="precision must be one of f32, tf32, bf16, not 'f8'"):
        dlc.compile(graph.module, params=graph.params, precision="f8")  # type: ignore[arg-type]
    with pytest.raises(dlc.InvalidInputError, match="precision needs a model at level 'dl'"):
        dlc.compile(dlc.lower(graph.module, "linalg"), params=graph.params, precision="bf16")

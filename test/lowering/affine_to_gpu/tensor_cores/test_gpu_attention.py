"""Attention in one kernel on tensor cores, run lane by lane in shuffled order, computes what its reference says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from gpu_interpreter import program
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sweeps import examples

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.dialects.dl.attention import Attention
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.policy import policy, using

DTYPES: Mapping[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i1": np.bool_}
ROUNDING = {"f16": 2**-10, "bf16": 2**-7, "f32": 2**-19}
"""Of results below 4, whose weights and themselves are rounded to so many bits."""
_TILES: tuple[dict[str, Any], ...] = (
    {},
    {"mma_block_sides": (64, 32), "mma_warp_sides": (16,)},
    {"mma_block_sides": (32,), "mma_warp_sides": (32,)},
    {"mma_block_sides": (16,), "mma_warp_sides": (16,)},
)
"""Choices of tiles: all of them, and some with several warps, blocks and tiles of keys."""


@dataclass(frozen=True)
class Case:
    """Sizes of one attention, and its mask's shape and type."""

    batch: int = 1
    heads: int = 2
    kv_heads: int = 2
    queries: int = 64
    keys: int = 64
    size: int = 32
    value_size: int = 32
    mask: Sequence[int] = ()
    mask_dtype: str = ""
    attributes: str = ""

    def shapes(self) -> list[tuple[int, ...]]:
        """Those of queries, keys, values and mask."""
        kv = self.batch, self.kv_heads, self.keys
        found = [(self.batch, self.heads, self.queries, self.size), (*kv, self.size), (*kv, self.value_size)]
        return [*found, *([tuple(self.mask)] if self.mask else [])]

    def text(self, dtype: str) -> str:
        """A function of it."""
        dtypes = [dtype] * 3 + [self.mask_dtype or dtype]
        kinds = [_tensor(shape, kind) for shape, kind in zip(self.shapes(), dtypes, strict=False)]
        out = _tensor((self.batch, self.heads, self.queries, self.value_size), dtype)
        given = ", ".join(f"%a{place}" for place in range(len(kinds)))
        arguments = ", ".join(f"%a{place}: {kind}" for place, kind in enumerate(kinds))
        op = f'"dl.attention"({given}) {{{self.attributes}}} : ({", ".join(kinds)}) -> {out}'
        return f"func.func @main({arguments}) -> {out} {{\n%0 = {op}\nreturn %0 : {out} }}"

    def arrays(self, dtype: str, seed: int) -> list[np.ndarray]:
        """Random operands; a mask of truth values hides all keys of some queries."""
        random = np.random.default_rng(seed)
        found = [random.standard_normal(shape).astype(DTYPES[dtype]) for shape in self.shapes()]
        if self.mask_dtype == "i1":
            found[3] = random.random(self.mask) < 0.6
            found[3][..., : self.mask[-2] // 3, :] = self.mask[-2] == 1
        return found

    def expected(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """By the op's reference in f32."""
        wide = [array if array.dtype == np.bool_ else array.astype(np.float32) for array in arrays]
        flags = {name: f"{name} = true" in self.attributes for name in ("is_causal", "aligned_at_end")}
        found: np.ndarray = Attention.reference(*wide, *[None] * (4 - len(wide)), scale=None, **flags)
        return found


def _tensor(shape: Sequence[int], dtype: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{dtype}>"


CAUSAL, AT_END = "is_causal = true", "is_causal = true, aligned_at_end = true"
CASES: Mapping[str, Case] = {
    "plain": Case(),
    "causal": Case(queries=100, keys=100, attributes=CAUSAL),
    "causal behind a cache": Case(queries=40, keys=130, attributes=AT_END),
    "causal with more queries than keys": Case(queries=90, keys=40, attributes=AT_END),
    "ragged": Case(batch=2, heads=1, kv_heads=1, queries=37, keys=75, size=48, value_size=40),
    "padding mask": Case(batch=2, keys=72, mask=(2, 1, 1, 72)),
    "mask of each head": Case(queries=33, keys=41, mask=(1, 2, 33, 41)),
    "hidden queries": Case(queries=36, keys=50, mask=(36, 50), mask_dtype="i1"),
    "shared heads": Case(heads=6, queries=21, keys=50, mask=(1, 6, 21, 50)),
    "shared heads, causal": Case(heads=4, kv_heads=1, queries=40, keys=40, attributes=CAUSAL),
    "one query of a group": Case(heads=8, kv_heads=2, queries=1, keys=70),
    "two queries of a group": Case(heads=8, kv_heads=1, queries=2, keys=70),
    "heads of 80": Case(heads=1, kv_heads=1, queries=20, keys=40, size=80, value_size=80),
    "heads of 96": Case(heads=1, kv_heads=1, queries=20, keys=40, size=96, value_size=96),
    "heads of 128": Case(heads=1, kv_heads=1, queries=40, keys=70, size=128, value_size=128),
    "one query": Case(queries=1, keys=70, mask=(1, 2, 1, 70), attributes=AT_END),
    "one query of heads of 80": Case(queries=1, keys=300, size=80, value_size=48),
    "heads of odd sizes": Case(heads=1, kv_heads=1, queries=20, keys=33, size=33, value_size=17),
}
ONLY_F32 = {"heads of odd sizes"}
"""Tensor cores take no such heads."""


def lowered(text: str, tiles: Mapping[str, Any], gpu: str = "{}", precision: str = "f32") -> ir.Module:
    """A module of kernels; attention takes the kernel whatever it costs."""
    module = ir.Module.parse(text)
    module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(gpu)
    module.operation.attributes["dl.precision"] = ir.StringAttr.get(precision)
    with using(policy().override(mma_gain=1e6, **tiles)):
        Pipeline.parse("dl-to-linalg,linalg-to-affine,affine-to-gpu").run(module)
    return module


def check(case: Case, dtype: str, tiles: Mapping[str, Any], seed: int = 0) -> None:
    """One kernel, no scores in memory, and the results of the reference."""
    arrays = case.arrays(dtype, seed)
    with make_context(), ir.Location.unknown():
        module = lowered(case.text(dtype), tiles)
        assert str(module).count("gpu.func") == 1 and "nvvm.ex2" in str(module), str(module)
        assert str(module).count("memref.alloc") == 1  # the result
        run = program(module, seed=seed)
    (found,) = run.run("main", *arrays)
    expected = case.expected(arrays)
    limit = 4 * ROUNDING[dtype]
    np.testing.assert_allclose(found.reshape(expected.shape).astype(np.float32), expected, rtol=limit, atol=limit)


@pytest.mark.sweep(every=10)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("name", [name for name in CASES if name not in ONLY_F32])
def test_forms(name: str, dtype: str) -> None:
    """Tiles of 16 make many blocks and steps."""
    check(CASES[name], dtype, _TILES[3] if dtype == "f16" else _TILES[0])


@pytest.mark.sweep(every=10)
@pytest.mark.parametrize("name", CASES)
def test_forms_of_f32(name: str) -> None:
    """By multiply-adds, without rounding; some with several warps, some with several tiles of keys."""
    check(CASES[name], "f32", _TILES[3] if len(name) % 2 else {"mma_block_sides": (32,), "attention_thread_rows": (4,)})


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("name", ["causal", "ragged", "hidden queries", "heads of 80", "heads of odd sizes"])
def test_products_of_bf16(name: str) -> None:
    """Where the module's precision allows it, fragments of f32 are rounded; no kernel of multiply-adds fits these tiles."""
    case, tiles = CASES[name], {"mma_block_sides": (32,), "attention_thread_rows": (64,)}
    arrays = case.arrays("f32", 0)
    with make_context(), ir.Location.unknown():
        module = lowered(case.text("f32"), tiles, precision="bf16")
        assert "nvgpu.mma.sync" in str(module) and "nvvm.ex2" in str(module)
        assert "nvvm.ex2" not in str(lowered(case.text("f32"), tiles, precision="tf32"))
        (found,) = program(module).run("main", *arrays)
    expected = case.expected(arrays)
    difference = np.abs(found.reshape(expected.shape) - expected).max()
    assert ROUNDING["f32"] < difference < 4 * ROUNDING["bf16"]


@pytest.mark.parametrize("tiles", _TILES[1:3])
def test_several_warps_and_fragments(tiles: dict[str, Any]) -> None:
    check(replace(CASES["causal"], mask=(1, 1, 1, 100)), "f16", tiles, seed=1)


def test_dynamic_shared_memory() -> None:
    """A block that keeps more than what it has without asking the driver."""
    tiles = {"mma_block_sides": (128,), "mma_warp_sides": (16,), "attention_registers": 255}
    case = Case(heads=1, kv_heads=1, queries=130, keys=140, size=96, value_size=96)
    with make_context(), ir.Location.unknown():
        assert "gpu.dynamic_shared_memory" in str(lowered(case.text("f16"), tiles))
    check(case, "f16", tiles)


@pytest.mark.slow
def test_random_sizes() -> None:
    sizes = st.integers(2, 70)

    @settings(
        max_examples=examples(40), phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None, deadline=None
    )
    @given(sizes, sizes, st.integers(1, 40), st.sampled_from(["", CAUSAL, AT_END]), st.sampled_from(_TILES), st.booleans())
    def run(queries: int, keys: int, half: int, attributes: str, tiles: dict[str, Any], masked: bool) -> None:
        mask = (queries, keys) if masked else ()
        case = Case(1, 2, 1, queries, keys, 2 * half, 82 - 2 * half, mask, "i1" if masked else "", attributes)
        check(case, "f16", tiles, seed=queries)

    run()


def test_heads_of_one_projection() -> None:
    """Queries, keys and values are parts of each row of one buffer, and results go back to rows of all heads."""
    rows, split, heads = (_tensor(shape, "f16") for shape in ((1, 40, 64), (1, 40, 2, 32), (1, 2, 40, 32)))
    lines = [f"func.func @main(%x: tensor<1x40x192xf16>) -> {rows} {{"]
    for place, name in enumerate("qkv"):
        ends = (
            f"starts = array<i64: {64 * place}>, ends = array<i64: {64 * place + 64}>, axes = array<i64: 2>, steps = array<i64: 1>"
        )
        lines += [
            f'%{name} = "dl.slice"(%x) {{{ends}}} : (tensor<1x40x192xf16>) -> {rows}',
            f'%{name}_rows = "dl.reshape"(%{name}) {{shape = array<i64: 1, 40, 2, 32>}} : ({rows}) -> {split}',
            f'%{name}_heads = "dl.transpose"(%{name}_rows) {{perm = array<i64: 0, 2, 1, 3>}} : ({split}) -> {heads}',
        ]
    lines += [
        f'%a = "dl.attention"(%q_heads, %k_heads, %v_heads) : ({heads}, {heads}, {heads}) -> {heads}',
        f'%t = "dl.transpose"(%a) {{perm = array<i64: 0, 2, 1, 3>}} : ({heads}) -> {split}',
        f'%r = "dl.reshape"(%t) {{shape = array<i64: 1, 40, 64>}} : ({split}) -> {rows}',
        f"return %r : {rows} }}",
    ]
    x = np.random.default_rng(0).standard_normal((1, 40, 192)).astype(np.float16)
    with make_context(), ir.Location.unknown():
        module = lowered("\n".join(lines), {})
        assert "nvvm.ex2" in str(module) and str(module).count("gpu.func") == 1
        (found,) = program(module).run("main", x)
    q, k, v = (part.reshape(1, 40, 2, 32).transpose(0, 2, 1, 3) for part in np.split(x, 3, axis=2))
    expected = Case(queries=40, keys=40).expected([q, k, v]).transpose(0, 2, 1, 3).reshape(1, 40, 64)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, atol=4 * ROUNDING["f16"])


def _broken(pattern: str, replacement: str) -> float:
    """The largest difference from the right result of a kernel that lacks something; NaN counts as much."""
    case = Case(queries=64, keys=256)
    arrays = case.arrays("f16", 0)
    with make_context(), ir.Location.unknown():
        text, count = re.subn(pattern, replacement, str(lowered(case.text("f16"), _TILES[1])))
        assert count
        (found,) = program(ir.Module.parse(text)).run("main", *arrays)
    difference = np.abs(found.reshape(1, 2, 64, 32).astype(np.float32) - case.expected(arrays))
    return float(np.nan_to_num(difference, nan=np.inf).max())


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        ("nvvm.cp.async.wait.group .*", "nvvm.cp.async.wait.group 1"),
        ("gpu.barrier.*", ""),
        ("gpu.shuffle +xor", "gpu.shuffle idx"),
    ],
)
def test_what_a_kernel_needs(pattern: str, replacement: str) -> None:
    """Waits for all copies, barriers and exchanges between lanes: the interpreter sees that one is missing."""
    assert _broken("gpu.barrier", "gpu.barrier") < 4 * ROUNDING["f16"]
    assert _broken(pattern, replacement) > 1e-2

"""Contractions by `wgmma` on panels that TMA brings, run thread by thread, compute what NumPy says."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from gpu_contraction_nests import DTYPES, FORMS, Nest, lowered
from gpu_interpreter import Program, program
from gpu_tensor_maps import Barrier, TensorCopies, TensorMap

from dlc._mlir import ir
from dlc.dialects import make_context

_GPU = (
    '{chip = "sm_90", ptx = 80, multiprocessors = 8, shared_per_multiprocessor = 233472, '
    "warpgroup_rates = {f16 = 2048, bf16 = 2048, tf32 = 1024, i8 = 4096}}"
)
_TILES: dict[str, Any] = {"mma_block_sides": (16,), "mma_warp_sides": (32,), "mma_stages": (3, 2)}
"""No tile of `mma.sync` fits."""
_WIDE: dict[str, Any] = {"warpgroup_rows": (128,), "warpgroup_columns": (128,)}
_COPY = "nvvm.cp.async.bulk.tensor"


def _nest(form: str, m: int, n: int, k: int) -> Nest:
    """Operands by rows (`n`) or columns (`t`); with batches outermost, or between the rows (`heads`)."""
    plain = {
        "nn": Nest({"m": m, "n": n}, {"k": k}, ((m, k), "%m, %k"), ((k, n), "%k, %n"), ((m, n), "%m, %n")),
        "nt": Nest({"m": m, "n": n}, {"k": k}, ((m, k), "%m, %k"), ((n, k), "%n, %k"), ((m, n), "%m, %n")),
        "tn": Nest({"m": m, "n": n}, {"k": k}, ((k, m), "%k, %m"), ((k, n), "%k, %n"), ((m, n), "%m, %n")),
    }
    batches = {"b": 3, "m": m, "n": n}
    out = ((3, m, n), "%b, %m, %n")
    return (
        plain.get(form)
        or {
            "batched": Nest(batches, {"k": k}, ((3, m, k), "%b, %m, %k"), ((k, n), "%k, %n"), out),
            "heads": Nest(batches, {"k": k}, ((m, 3, k), "%m, %b, %k"), ((n, 3, k), "%n, %b, %k"), out),
        }[form]
    )


_MEANINGS = {"nn": "mk,kn->mn", "nt": "mk,nk->mn", "tn": "km,kn->mn", "batched": "bmk,kn->bmn", "heads": "mbk,nbk->bmn"}
_SIDES = {"warpgroup_rows": (64,), "warpgroup_columns": (64,)}


def _text(form: str, kind: str, sizes: tuple[int, int, int], tiles: dict[str, Any]) -> tuple[ir.Module, list[np.ndarray]]:
    """A contraction at level gpu, in the current context, and its arrays."""
    nest, (result, epilogue) = _nest(form, *sizes), FORMS[kind]
    numbers = np.random.default_rng(sum(sizes))
    arrays = [numbers.integers(-3, 4, shape).astype(DTYPES[dtype]) for (shape, _), dtype in nest.memrefs(kind, result)]
    return lowered(nest.text(kind, result, epilogue), _GPU, _TILES | tiles), arrays


def _meaning(form: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    wide = np.int32 if a.dtype == np.int8 else np.float32
    return np.einsum(_MEANINGS[form], a.astype(wide), b.astype(wide))


def _check(form: str, kind: str, sizes: tuple[int, int, int], tiles: dict[str, Any], seed: int = 0) -> None:
    with make_context(), ir.Location.unknown():
        module, (a, b, c) = _text(form, kind, sizes, tiles)
        assert _COPY in str(module) and "device_async_copy" not in str(module)
        run = program(module, seed)
    want = _meaning(form, a, b).astype(c.dtype) + (c if kind == "f16" else 0)
    run.run("f", a, b, c)
    np.testing.assert_array_equal(c, want)


_CASES = [(form, kind) for form in _MEANINGS for kind in FORMS if form in ("nt", "heads") or kind in ("f16", "bf16")]
"""`wgmma` transposes elements of two bytes alone; others come through registers, and not by TMA."""


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("form, kind", _CASES)
def test_ragged_sizes(form: str, kind: str) -> None:
    """Edges in both directions and along the sum; pitches are multiples of 16 bytes."""
    _check(form, kind, (72, 80, 176), _SIDES, seed=1)


@pytest.mark.parametrize("depth", [32, 64, 128])
@pytest.mark.parametrize("form", ["nn", "nt"])
def test_two_warpgroups_and_each_swizzle(form: str, depth: int) -> None:
    """Several boxes a panel, and stages that are used again, in other orders of the threads."""
    for seed in range(3):
        _check(form, "bf16", (128, 128, 256), _WIDE | {"mma_depths": (depth,)}, seed)


@pytest.mark.parametrize(
    "form, kind, sizes",
    [("nn", "f16", (64, 64, 68)), ("nn", "i8", (64, 64, 64)), ("tn", "bf16", (68, 64, 64)), ("heads", "f16", (64, 64, 4))],
)
def test_what_tma_cannot_describe_comes_otherwise(form: str, kind: str, sizes: tuple[int, int, int]) -> None:
    """A pitch that is no multiple of 16 bytes, and bytes that are transposed."""
    with make_context(), ir.Location.unknown():
        module, (a, b, c) = _text(form, kind, sizes, _SIDES)
        assert _COPY not in str(module) and "nvvm.wgmma.mma_async" in str(module)
        want = _meaning(form, a, b).astype(c.dtype) + (c if kind == "f16" else 0)
        program(module).run("f", a, b, c)
    np.testing.assert_array_equal(c, want)


def _broken(pattern: str, replacement: str) -> tuple[Program, list[np.ndarray]]:
    """A kernel with something else in the place of `pattern`."""
    with make_context(), ir.Location.unknown():
        module, arrays = _text("nn", "bf16", (128, 128, 512), _WIDE | {"mma_stages": (2,)})
        text, count = re.subn(pattern, replacement, str(module))
        assert count
        return program(ir.Module.parse(text)), arrays


_FULL, _EMPTY = r"(nvvm.wgmma.fence.aligned)", r"(nvvm.mbarrier.arrive.expect_tx)"


@pytest.mark.parametrize("next_op", [_FULL, _EMPTY])
def test_interpreter_finds_a_missing_wait(next_op: str) -> None:
    """Of the warpgroups, or of the producer: what stands before it."""
    run, (a, b, c) = _broken(r"nvvm.mbarrier.try_wait.parity[^\n]*\n((?:(?!try_wait)[^\n]*\n)*?\s*(?:%\S+ = )?)" + next_op, r"\1\2")
    with pytest.raises(AssertionError):
        run.run("f", a, b, c)
        np.testing.assert_array_equal(c, _meaning("nn", a, b))


@pytest.mark.parametrize(
    "pattern, replacement, message",
    [
        (r"%c32768_i32 = arith.constant 32768", "%c32768_i32 = arith.constant 32760", "phase does not end"),
        (r"%c8_i32 = arith.constant 8 : i32", "%c8_i32 = arith.constant 9 : i32", "phase does not end"),
        (
            r"%c8_i32 = arith.constant 8 : i32",
            "%c8_i32 = arith.constant 4 : i32",
            "more threads arrive at a barrier|Mismatched elements",
        ),
        (r"nvvm.fence.mbarrier.init", "", "does not see that a barrier has begun"),
        (r"gpu.barrier[^\n]*", "", "no barrier at byte|does not see"),
    ],
)
def test_interpreter_finds_wrong_barriers(pattern: str, replacement: str, message: str) -> None:
    run, (a, b, c) = _broken(pattern, replacement)
    with pytest.raises(AssertionError, match=message):
        run.run("f", a, b, c)
        np.testing.assert_array_equal(c, _meaning("nn", a, b))


def test_boxes_are_zero_outside_and_swizzled() -> None:
    source = np.arange(5 * 64, dtype=np.int8).reshape(5, 64)
    memory = np.full(2048, 99, np.int8), np.full(2048, 99, np.int8)
    copies, found = TensorCopies(memory), TensorMap(source, (8, 32), 32)
    copies.begin(2040, 1)
    copies.show()
    order = random.Random(0)
    copies.start(found, (48, 2), 1024, 2040, order)
    while copies.land(order):
        pass
    want = np.zeros((8, 2, 16), np.int8)
    want[:3, 0] = source[2:, 48:]
    want[4:] = want[4:, ::-1]  # rows of 32 bytes: chunks change places after 128
    np.testing.assert_array_equal(memory[0][1024:1280].reshape(8, 2, 16), want)
    np.testing.assert_array_equal(memory[0], memory[1])
    assert copies.barrier(2040).bytes == -256


def test_barriers_count_threads_and_bytes() -> None:
    barrier = Barrier(2)
    assert barrier.is_over(1) and not barrier.is_over(0)
    barrier.complete(16)
    barrier.arrive(32)
    barrier.arrive()
    assert not barrier.is_over(0)
    with pytest.raises(AssertionError, match="more threads arrive"):
        barrier.arrive()
    barrier.left = 0
    barrier.complete(16)
    assert barrier.is_over(0) and not barrier.is_over(1)


@pytest.mark.parametrize(
    "shape, box, swizzle, message",
    [((4, 60), (4, 32), 64, "strides"), ((4, 64), (512, 32), 64, "box"), ((4, 64), (4, 32), 128, "swizzled row")],
)
def test_maps_that_the_driver_refuses(shape: tuple[int, ...], box: tuple[int, ...], swizzle: int, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        TensorMap(np.zeros(shape, np.float16), box, swizzle)

"""Blocks for caches and panels: the same bits as without, and certified, for caches so small that tiny nests need blocks."""

from __future__ import annotations

import numpy as np
import pytest

from bench.generic import Nest, bound, channels_first, channels_last, product
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.affine.cost.references import Runs
from dlc.lowering.pipeline import Pipeline
from dlc.targets.machine import facts_of, set_target, target_facts

_AFTER = "canonicalize,cse,affine-promote-buffers,affine-contract-products,canonicalize,cse,affine-to-llvm"

_NESTS = (
    product(50, 100, 150, "f32"),
    product(50, 100, 150, "f64", right="t"),
    product(97, 64, 130, "f32", left="t"),
    channels_last(9, 40, 50),
    channels_first(20, 7, 9),
)

_WITH_PANELS = (product(20, 35, 70, "f64", right="t"), pytest.param(channels_last(9, 8, 50), marks=pytest.mark.slow))
_SMALL = {"l1_bytes": 2048, "l2_bytes": 8192}


class _SmallCaches(Nest):
    """A nest for a target with a first-level cache of 2 KiB and a second one of 8."""

    def text(self) -> str:
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(super().text())
            set_target(module.operation, facts_of(module.operation).override(**_SMALL))
            return str(module)


def _small(nest: Nest) -> Nest:
    return _SmallCaches(nest.name, nest.dtype, nest.loops, nest.left, nest.right, nest.out)


def _result(nest: Nest, options: str) -> np.ndarray:
    arguments = nest.arguments()
    bound(_small(nest), f"affine-polyhedral-schedule{{{options}}},{_AFTER}", arguments)()
    return arguments[2]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("nest", _NESTS, ids=lambda nest: nest.name)
def test_same_bits(nest: Nest) -> None:
    plain = _result(nest, "cache-tiles=false")
    assert plain.any()
    np.testing.assert_array_equal(_result(nest, "pack=false"), plain)
    np.testing.assert_array_equal(_result(nest, ""), plain)


@pytest.mark.parametrize("nest", _WITH_PANELS, ids=["product", "convolution"])
def test_panels_are_certified(nest: Nest) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(nest.text())
        set_target(module.operation, target_facts("skylake-avx512").override(**_SMALL))
        Pipeline.parse('affine-check-legality{pass="affine-polyhedral-schedule"}').run(module)
        assert "memref.alloc" in str(module)


def test_the_same_loops_each_time() -> None:
    texts = set()
    for _ in range(3):
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(_small(_NESTS[0]).text())
            Pipeline.parse("affine-polyhedral-schedule").run(module)
            texts.add(str(module))
    assert len(texts) == 1


def test_rows_a_page_apart_share_sets() -> None:
    assert Runs(8, 64, 4096).occupied(64) == 8 * 64
    assert Runs(8, 64, 4160).occupied(64) == 8
    assert Runs(1, 4096).units(64) == 64

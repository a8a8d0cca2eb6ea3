"""Code for an open batch is cut like code for a known one: the same register tiles, the same arrays between nests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import onnx
import pytest

import dlc
from bench.networks import gpt2, unet
from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.sources import read_source

_TARGET = "cpu:sapphirerapids"
"""Caches decide what is kept between nests: with 1 MiB of L2, U-Net's last tiles of an open batch are, of a known one not."""
_BATCH = 4
_IMAGE = 256

MODELS: Mapping[str, Callable[..., onnx.ModelProto]] = {
    "gpt2": partial(gpt2.build, layers=1, hidden=192, heads=3, vocab=500, context=128),
    "unet": partial(unet.build, image=_IMAGE, width=32, depth=1),
}


@pytest.mark.parametrize("name", MODELS)
def test_register_tiles_are_those_of_a_known_batch(name: str) -> None:
    known, unknown = _tiles(MODELS[name](batch=_BATCH)), _tiles(MODELS[name](dynamic_batch=True))
    assert known
    assert unknown == known


@pytest.mark.parametrize("name", MODELS)
def test_arrays_between_nests_are_those_of_a_known_batch(name: str) -> None:
    known, unknown = _arrays(MODELS[name](batch=_BATCH)), _arrays(MODELS[name](dynamic_batch=True))
    assert known
    assert unknown == known


def _is_product(kernel: str) -> bool:
    return "winograd" in kernel or "matmul" in kernel


def _tiles(model: onnx.ModelProto) -> dict[str, list[tuple[object, ...]]]:
    """The vectors and copies of each register tile, by kernel, of those that multiply matrices; two nests of one product once."""
    kernels = dlc.schedules_of(model).kernels
    return {
        name: list(dict.fromkeys((tile.vectors, tile.unroll_and_jam) for tile in tiles.values() if tile.code_generator == "tile"))
        for name, tiles in kernels.items()
        if _is_product(name)
    }


def _arrays(model: onnx.ModelProto) -> dict[str, int]:
    """How many arrays the whole of each kernel that multiplies matrices has for itself."""
    module = dlc.lower(read_source(model), "affine", target=_TARGET)
    functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    named = {ir.StringAttr(function.attributes["sym_name"]).value: function for function in functions}
    return {name: _own_arrays(function) for name, function in named.items() if _is_product(name)}


def _own_arrays(function: ir.Operation) -> int:
    body = function.regions[0].blocks[0]
    return sum(op.name.startswith("memref.alloc") and op.block == body for op in nested_ops(function))

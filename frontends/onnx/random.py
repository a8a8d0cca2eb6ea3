"""Importers of random numbers.

A node with a seed gives the same numbers in every model; without one they are chosen by the name of its output. Either way they
are the same in every call.
"""

from __future__ import annotations

import math
import struct
import zlib

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import FLOATS, dtype_of_numpy, type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_LEAST = 2.0**-24
"""Numbers from here on have finite logarithms; with it the largest of f32 does not round to 1."""


@importer("RandomUniform", "RandomUniformLike")
def import_random_uniform(node: NodeContext) -> ir.Value:
    low, high = float(node.attribute("low", 0.0)), float(node.attribute("high", 1.0))
    return dl.random_uniform(_shaped(node), to=_dtype(node), seed=_seed(node), low=low, high=high)


@importer("RandomNormal", "RandomNormalLike")
def import_random_normal(node: NodeContext) -> ir.Value:
    """Box and Muller's transform of two even numbers."""
    x, dtype = _shaped(node), _dtype(node)
    wide = dtype if dtype in ("f64", "f32") else "f32"
    distance = dl.random_uniform(x, to=wide, seed=_seed(node), low=_LEAST, high=1.0)
    angle = dl.random_uniform(x, to=wide, seed=_seed(node, 1), low=0.0, high=2 * math.pi)
    radius = dl.sqrt(dl.mul(dl.log(distance), node.constant_value(-2.0, wide)))
    scaled = dl.mul(dl.mul(radius, dl.cos(angle)), node.constant_value(float(node.attribute("scale", 1.0)), wide))
    found = dl.add(scaled, node.constant_value(float(node.attribute("mean", 0.0)), wide))
    return found if dtype == wide else dl.cast(found, to=dtype)


@importer("Bernoulli")
def import_bernoulli(node: NodeContext) -> ir.Value:
    """1 where an even number is less than the probability."""
    kind = node.type(0)
    wide = "f64" if kind.dtype == "f64" else "f32"
    probability = node.value(0) if kind.dtype == wide else dl.cast(node.value(0), to=wide)
    drawn = dl.less(dl.random_uniform(node.value(0), to=wide, seed=_seed(node)), probability)
    return dl.cast(drawn, to=_given_dtype(node) or kind.dtype)


@importer("Multinomial")
def import_multinomial(node: NodeContext) -> ir.Value:
    """The place of the largest sum of a logarithm of a probability and a number of Gumbel's distribution."""
    kind, count = node.type(0), int(node.attribute("sample_size", 1))
    if kind.rank != 2 or kind.dtype not in FLOATS:
        node.unsupported(f"its input is {kind}, but must be a matrix of floats")
    wide = "f64" if kind.dtype == "f64" else "f32"
    logits = dl.unsqueeze(dl.cast(node.value(0), to=wide), axes=[1])
    each = dl.tile(logits, repeats=[1, count, 1])
    even = dl.random_uniform(each, to=wide, seed=_seed(node), low=_LEAST, high=1.0)
    best = dl.add(each, dl.neg(dl.log(dl.neg(dl.log(even)))))
    found = dl.arg_max(best, axis=2, keepdims=False)
    dtype = _given_dtype(node) or "i32"
    return found if dtype == "i64" else dl.cast(found, to=dtype)


def dropped(node: NodeContext, ratio: np.ndarray | np.generic | None) -> list[ir.Value]:
    """Elements times 1 / (1 - ratio) where an even number is not less than the ratio, else 0; and whether they are kept.

    Dropout in training mode. A `ratio` that is not known is input 1.
    """
    kind = node.type(0)
    if ratio is not None and (np.size(ratio) != 1 or not 0 <= float(np.reshape(ratio, ())) < 1):
        node.unsupported(f"ratio is {np.asarray(ratio).tolist()}; give a number from 0 to less than 1")
    wide = "f64" if kind.dtype == "f64" else "f32"
    share = node.constant_value(0.5, wide) if not node.has_input(1) else dl.reshape(dl.cast(node.value(1), to=wide), shape=[])
    kept = dl.less_equal(share, dl.random_uniform(node.value(0), to=wide, seed=_seed(node)))
    scale = dl.div(node.constant_value(1.0, wide), dl.sub(node.constant_value(1.0, wide), share))
    scaled = dl.mul(dl.cast(node.value(0), to=wide), scale)
    return [dl.cast(dl.where(kept, scaled, node.constant_value(0.0, wide)), to=kind.dtype), kept]


def _shaped(node: NodeContext) -> ir.Value:
    """A value of the shape that the node asks for: its input, or zeros."""
    if node.num_inputs:
        return node.value(0)
    shape = [int(size) for size in node.attribute("shape", [])]
    return dl.expand(node.constant_value(np.zeros((), np.float32)), None, shape=shape)


def _given_dtype(node: NodeContext) -> str | None:
    """The element type that the node names, if it does."""
    given = node.attribute("dtype")
    if given is None:
        return None
    try:
        return dtype_of_numpy(onnx.helper.tensor_dtype_to_np_dtype(given))
    except (KeyError, TypeError):
        node.unsupported(f"element type {given} is not supported")


def _dtype(node: NodeContext) -> str:
    dtype = _given_dtype(node) or (type_of_value(node.value(0)).dtype if node.num_inputs else "f32")
    if dtype not in FLOATS:
        node.unsupported(f"random numbers of {dtype} are not supported; give a floating type as dtype")
    return dtype


def _seed(node: NodeContext, stream: int = 0) -> int:
    """A key of the node's seed, or of the name of its output; each stream has its own."""
    seed = node.attribute("seed")
    known = node.node.output[0].encode() if seed is None else struct.pack("<d", float(seed))
    return (zlib.crc32(known) << 31) ^ zlib.crc32(known, stream + 1)

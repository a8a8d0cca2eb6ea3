"""Sequences of tensors and tensors of strings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto

from bench.networks.builder import GraphBuilder
from bench.networks.transformer import linear

WORDS = (
    "the",
    "compiler",
    "of",
    "deep",
    "learning",
    "models",
    "reads",
    "a",
    "graph",
    "and",
    "writes",
    "fast",
    "code",
    "for",
    "every",
    "machine",
)


def text(words: int = 32) -> np.ndarray:
    """Strings [words] in mixed spelling, some of which no vocabulary has."""
    found = [WORDS[(7 * index) % len(WORDS)] for index in range(words)]
    found = [word.upper() if index % 3 == 0 else f"{word}x" if index % 11 == 5 else word for index, word in enumerate(found)]
    return np.array(found, object)


def normaliser(words: int = 32, hidden: int = 256, classes: int = 32, seed: int = 0) -> onnx.ModelProto:
    """Strings `words` [n] to f32 `logits` [classes] and strings `clean` [m]: lower case, no stop words, embeddings, a head."""
    g = GraphBuilder("normaliser", seed, 20)
    given = g.input("words", (words,), TensorProto.STRING)
    settings = {"case_change_action": "LOWER", "locale": "C", "is_case_sensitive": 1, "stopwords": ["the", "a", "of", "and"]}
    clean = g.op("StringNormalizer", given, **settings)
    keys = [word for word in WORDS if word not in settings["stopwords"]]  # type: ignore[operator]
    values = list(range(1, len(keys) + 1))
    ids = g.op("LabelEncoder", clean, domain="ai.onnx.ml", keys_strings=keys, values_int64s=values, default_int64=0)
    x = g.op("Gather", g.normal("vectors", (len(keys) + 1, hidden), 0.5), ids, axis=0)
    x = g.op("Relu", linear(g, g.op("ReduceMean", x, g.integers(0), keepdims=1), hidden, hidden, 2.0))
    g.output("logits", g.op("Squeeze", linear(g, x, hidden, classes), g.integers(0)), (classes,))
    g.output("clean", clean, ("m",), TensorProto.STRING)
    return g.model("ai.onnx.ml")


def chunks(sizes: Sequence[int] = (8, 24, 3, 16, 1, 12), width: int = 256, seed: int = 0) -> onnx.ModelProto:
    """f32 `x` [rows, width] to `y` [chunks, width]: chunks of several sizes, a loop over them, a list of results.

    So a list comprehension of PyTorch is exported: SplitToSequence, SequenceAt and SequenceInsert in a Loop, ConcatFromSequence.
    """
    g = GraphBuilder("chunks", seed)
    parts = g.op("SplitToSequence", g.input("x", (sum(sizes), width)), g.integers(*sizes), axis=0)
    empty = g.op("SequenceEmpty", dtype=TensorProto.FLOAT)
    weight = g.matrix("w", (width, width), width)
    with g.body("each") as body:
        number = body.input("number", (), TensorProto.INT64)
        body.input("going", (), TensorProto.BOOL)
        before = body.input_sequence("results", (width,))
        part = body.op("SequenceAt", parts, number)
        mean = body.op("ReduceMean", body.op("Tanh", body.op("MatMul", part, weight)), axes=[0], keepdims=0)
        body.output("more", body.constant(True, np.bool_), (), TensorProto.BOOL)
        body.output_sequence("results_out", body.op("SequenceInsert", before, mean), (width,))
    count = g.op("SequenceLength", parts)
    results = g.op("Loop", count, "", empty, body=body.graph())
    g.output("y", g.op("ConcatFromSequence", results, axis=0, new_axis=1), (len(sizes), width))
    return g.model()

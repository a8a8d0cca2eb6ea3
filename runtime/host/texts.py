"""Ops on words: normal forms, and counts of n-grams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from dlc.runtime.host.registry import HostNode, HostOpError, host_op
from dlc.runtime.host.strings import STRINGS

_CASES: Mapping[str, Callable[[str], str]] = {"LOWER": str.lower, "UPPER": str.upper, "NONE": str}


@host_op("StringNormalizer", STRINGS)
def string_normalizer(node: HostNode, x: np.ndarray) -> np.ndarray:
    """Words without `stopwords`, in one case (ONNX StringNormalizer). x is [C] or [1, C]; no words left give one ""."""
    if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[0] != 1):
        raise HostOpError(f"its input has the shape {list(x.shape)}; give [C] or [1, C]")
    change, fold, stopwords = node.once(_normal_form)
    words = x.reshape(-1).tolist()
    kept = [word for word in words if word not in stopwords] if fold is str else [w for w in words if fold(w) not in stopwords]
    kept = kept or [""]
    changed = np.fromiter(map(change, kept), object, len(kept))
    return changed if x.ndim == 1 else changed.reshape(1, -1)


def _normal_form(node: HostNode) -> tuple[Callable[[str], str], Callable[[str], str], Set[str]]:
    """The form of words, the form in which they are compared with stop words, and these in that."""
    action = node.get("case_change_action", "NONE")
    change = _CASES.get(action)
    if change is None:
        raise HostOpError(f"case_change_action is '{action}'; give LOWER, UPPER or NONE")
    fold = str if node.get("is_case_sensitive", 0) else str.lower
    return change, fold, frozenset(fold(word) for word in node.get("stopwords", ()))


Gram = tuple[Any, ...]


@host_op("TfIdfVectorizer", "counts of n-grams are looked up in a table")
def tf_idf_vectorizer(node: HostNode, x: np.ndarray) -> np.ndarray:
    """How often each n-gram of the pool is in a row, or weights of those that are, as f32 (ONNX TfIdfVectorizer).

    x is [C] or [B, C], of strings or integers.
    """
    if x.ndim > 2 or (x.ndim == 2 and not x.shape[0]):
        raise HostOpError(f"its input has the shape {list(x.shape)}; give [C], or [B, C] with rows")
    pool = node.once(_pool)
    rows = x.reshape(1, -1) if x.ndim < 2 else x
    indexes = node.get("ngram_indexes")
    counts = np.zeros((len(rows), max(indexes) + 1), np.float32)
    for row, values in zip(counts, rows.tolist(), strict=True):
        for gram in _grams(node, values):
            if gram in pool:
                row[indexes[pool[gram]]] += 1
    found = _weighted(node, counts)
    return found[0] if x.ndim < 2 else found


def _pool(node: HostNode) -> dict[Gram, int]:
    """Each n-gram with its number: those of one word first, then those of two."""
    words: Sequence[Any] = node.get("pool_strings") or node.get("pool_int64s") or ()
    starts = list(node.get("ngram_counts"))
    found: dict[Gram, int] = {}
    number = 0
    for size, (start, end) in enumerate(zip(starts, [*starts[1:], len(words)], strict=True), 1):
        for place in range(start, end - size + 1, size):
            found.setdefault(tuple(words[place : place + size]), number)
            number += 1
    return found


def _grams(node: HostNode, values: Sequence[Any]) -> Iterator[Gram]:
    """All n-grams of a row whose words are at most `max_skip_count` words apart; single words once."""
    least, most = node.get("min_gram_length"), node.get("max_gram_length")
    for skip in range(1, node.get("max_skip_count") + 2):
        for size in range(least if skip == 1 else max(least, 2), most + 1):
            for start in range(len(values) - skip * (size - 1)):
                yield tuple(values[start : start + skip * (size - 1) + 1 : skip])


def _weighted(node: HostNode, counts: np.ndarray) -> np.ndarray:
    mode, weights = node.get("mode"), node.get("weights")
    if mode not in ("TF", "IDF", "TFIDF"):
        raise HostOpError(f"mode is '{mode}'; give TF, IDF or TFIDF")
    if mode == "TF":
        return counts
    scale = np.ones(counts.shape[1], np.float32)
    if weights:
        scale[np.asarray(node.get("ngram_indexes"))] = weights
    return (np.minimum(counts, 1) if mode == "IDF" else counts) * scale

"""Attention: masks, causality, shared kv heads; rotary embedding in both layouts."""

from typing import Any

from case import Case, InputSpec, array, spec

_F32 = ("f32",)
_SOME_KEYS = [[[[i % 2 == 0 or i == b, i % 3 != 1, i > 1, i % 2 == 0, i != 1, False] for i in range(5)]] for b in range(2)]
"""A mask [batch, 1, queries, keys] that hides every key from query 1 of the first image."""


def attention(q: Any, k: Any, v: Any, mask: Any = None, dtypes: Any = _F32, **attributes: Any) -> Case:
    return Case("attention", (q, k, v, mask), attributes, dtypes, "masked" if isinstance(mask, InputSpec) else "")


CASES = [
    attention((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 4), (2, 3, 5, 7), dtypes=None),
    attention((1, 2, 17, 16), (1, 2, 17, 16), (1, 2, 17, 16), is_causal=True, dtypes=("f32", "f16")),
    attention((1, 2, 3, 4), (1, 2, 7, 4), (1, 2, 7, 4), is_causal=True, aligned_at_end=True),
    attention((1, 1, 5, 4), (1, 1, 3, 4), (1, 1, 3, 4), is_causal=True, aligned_at_end=True),
    attention((2, 2, 3, 4), (2, 2, 6, 4), (2, 2, 6, 4), is_causal=True, scale=0.5),
    attention((2, 4, 5, 8), (2, 2, 6, 8), (2, 2, 6, 8), array(_SOME_KEYS, dtype="i1"), dtypes=("f32", "bf16")),
    attention((2, 6, 3, 4), (2, 2, 5, 4), (2, 2, 5, 3), (3, 5)),
    attention((1, 4, 2, 4), (1, 1, 5, 4), (1, 1, 5, 4), (5,), is_causal=True),
    attention((2, 2, 1, 4), (2, 2, 9, 4), (2, 2, 9, 4), (2, 1, 1, 9)),
    attention((1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)),
    # Blocks of queries, and some left over.
    attention((1, 2, 150, 16), (1, 2, 150, 16), (1, 2, 150, 16), is_causal=True),
    attention((1, 4, 96, 8), (1, 2, 200, 8), (1, 2, 200, 8), (4, 96, 200), is_causal=True, aligned_at_end=True),
    Case("rotary_embedding", ((2, 3, 5, 8), (2, 5, 4), (2, 5, 4))),
    Case("rotary_embedding", ((2, 3, 5, 8), (2, 5, 4), (2, 5, 4)), {"interleaved": True}, ("f32", "f16")),
    Case("rotary_embedding", ((3, 2, 4, 6), (1, 4, 3), (1, 4, 3)), {}, _F32),
    Case("rotary_embedding", ((1, 1, 1, 2), (1, 1, 1), spec((1, 1, 1), -1, 1)), {"interleaved": True}, _F32),
]

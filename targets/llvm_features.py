"""The features of CPUs that code generation asks for."""

from __future__ import annotations

from collections.abc import Mapping

LLVM_FEATURES: Mapping[str, Mapping[str, str]] = {
    "x86_64": {
        "sse": "sse",
        "sse2": "sse2",
        "ssse3": "ssse3",
        "sse4_1": "sse4.1",
        "sse4_2": "sse4.2",
        "avx": "avx",
        "f16c": "f16c",
        "avx2": "avx2",
        "fma": "fma",
        "avx512f": "avx512f",
        "avx512cd": "avx512cd",
        "avx512bw": "avx512bw",
        "avx512dq": "avx512dq",
        "avx512vl": "avx512vl",
        "avx512vbmi": "avx512vbmi",
        "avx512_vnni": "avx512vnni",
        "avx512_bf16": "avx512bf16",
        "avx512_fp16": "avx512fp16",
        "avx_vnni": "avxvnni",
        "amx_tile": "amx-tile",
        "amx_int8": "amx-int8",
        "amx_bf16": "amx-bf16",
    },
    "aarch64": {
        "asimd": "neon",
        "asimdhp": "fullfp16",
        "asimddp": "dotprod",
        "i8mm": "i8mm",
        "bf16": "bf16",
        "sve": "sve",
    },
}
"""By architecture: the features as Linux names them, and LLVM's names of them."""

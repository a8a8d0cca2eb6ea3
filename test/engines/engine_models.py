"""Models whose engines are tested, and the parts of engine files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dlc
from bench.networks import mlp
from dlc.engines.saving import HEADER, MAGIC, read_manifest
from dlc.runtime.library import load_library

FEW = (12, 16, 5)


def small_model() -> dlc.CompiledModel:
    """Two layers, `x` f32 [N, 12] to `logits` [N, 5]."""
    return dlc.compile(mlp.build(widths=FEW, dynamic_batch=True), num_threads=1)


def small_input(rows: int = 3) -> np.ndarray:
    return np.random.default_rng(rows).standard_normal((rows, FEW[0])).astype(np.float32)


def with_manifest(content: bytes, change: Callable[[dict[str, Any]], None], text: bytes | None = None) -> bytes:
    """The engine with a changed manifest (or `text` in its place) and sums that fit it."""
    _, version, _, _, begin, *_ = HEADER.unpack_from(content)
    manifest = read_manifest(content)
    change(manifest)
    text = json.dumps(manifest).encode() if text is None else text
    return with_header(content[:begin] + text, version, begin, text)


def with_header(content: bytes, version: int, begin: int, text: bytes) -> bytes:
    """The engine with a header of this version that fits its bytes."""
    head = HEADER.pack(MAGIC, version, 0, len(content), begin, len(text), checksum(text), 0, 0, 0)
    return head + checksum(head).to_bytes(4, "little") + content[len(head) + 4 :]


def checksum(content: bytes) -> int:
    return load_library().crc32c(np.frombuffer(content, np.uint8))


def written(folder: Path, content: bytes, name: str = "changed.dlce") -> Path:
    file = folder / name
    file.write_bytes(content)
    return file

"""Builds the malformed models of this folder: `PYTHONPATH=test/frontends/onnx python -m malformed.build`.

Each breaks one rule.
"""

from __future__ import annotations

from pathlib import Path

from malformed import contradictions, functions, graphs, odd_numbers, signatures, tensors
from malformed.one_rule import MODELS

HERE = Path(__file__).parent
DECLARED = (graphs, tensors, signatures, contradictions, functions, odd_numbers)
"""The files that declare models, by importing which all are in `MODELS`."""


def content_of(name: str) -> bytes:
    """What the file of a model holds."""
    made = MODELS[name].build()
    return made if isinstance(made, bytes) else bytes(made.SerializeToString(deterministic=True))


def main() -> None:
    """Write every model to its file."""
    for name in MODELS:
        (HERE / f"{name}.onnx").write_bytes(content_of(name))


if __name__ == "__main__":
    main()

"""Named pipelines: ordered lists of passes, data without logic.

Each is an element of pipeline text and a flag of dlc-opt by its name. The pipeline between two neighbouring stages is
called `<stage>-to-<next stage>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STAGES = ("dl", "linalg", "affine", "llvm")
"""The levels that a model goes through on the way to machine code, in order."""


UNITS_AFTER = "linalg-insert-deallocs"
"""After this pass a module can be cut into its kernels and the entry, which go through the rest each on its own."""


@dataclass(frozen=True)
class NamedPipeline:
    """A list of pipeline elements (pipeline text) that goes by one name."""

    summary: str
    passes: tuple[str, ...]


PIPELINES: Mapping[str, NamedPipeline] = {
    "dl-optimize": NamedPipeline(
        "graph passes: a dl graph to calls of kernels",
        (
            "dl-fold-shapes",
            "dl-canonicalize",
            "dl-fold-constants",
            "cse",
            "dl-fuse-quantization",
            "dl-recompose-norms",
            "dl-recompose-activations",
            "dl-recompose-rotary-embedding",
            "dl-recompose-attention",
            "dl-fold-batch-norm",
            "dl-fold-scales",
            "dl-canonicalize",
            "dl-fold-constants",
            "cse",
            "dl-batch-products",
            "dl-fuse-siblings",
            "dl-expand-conv-transpose",
            "dl-split-pools",
            "dl-use-byte-products",
            "dl-assign-layouts",
            "dl-sink-transposes",
            "dl-canonicalize",
            "dl-fold-constants",
            "cse",
            "dl-use-winograd",
            "dl-pack-weights",
            "dl-pack-operands",
            "dl-lower-precision",
            "cse",
            "dl-outline-constants",
            "dl-fuse-kernels",
            "dl-outline-kernels",
        ),
    ),
    "dl-to-linalg": NamedPipeline(
        "dl ops to linalg on tensors",
        ("dl-optimize", "dl-bind-params", "convert-dl-to-linalg", "canonicalize", "cse"),
    ),
    "linalg-to-affine": NamedPipeline(
        "linalg on tensors to affine loops on buffers",
        (
            "linalg-fuse-elementwise",
            "linalg-reuse-operands",
            "eliminate-empty-tensors",
            "linalg-bufferize-tensors",
            "canonicalize",
            "linalg-pass-results",
            "canonicalize",
            "cse",
            "linalg-forward-copies",
            "linalg-hoist-checks",
            "linalg-materialize-copies",
            "linalg-outline-kernels",
            "linalg-plan-memory",
            "linalg-insert-deallocs",
            "linalg-collapse-dims",
            "convert-linalg-to-affine",
            "canonicalize",
            "cse",
            "affine-fold-index-order",
            "affine-unroll-choices",
            "affine-block-rows",
            "affine-fuse-nests",
            "affine-localize-padding",
            "canonicalize",
            "cse",
            "affine-skip-excluded",
        ),
    ),
    "affine-optimize": NamedPipeline(
        "affine loops in a better order, in vectors and register tiles, by the polyhedral model",
        (
            "affine-merge-rows",
            "affine-demote-values",
            "affine-accumulate-in-place",
            "affine-expand-buffers",
            "affine-privatize-buffers",
            "affine-polyhedral-schedule{leave-others=true}",
            "canonicalize",
            "cse",
            "affine-promote-buffers",
            "affine-contract-products",
            "affine-transpose-loads",
            "canonicalize",
            "cse",
        ),
    ),
    "affine-to-llvm": NamedPipeline(
        "affine loops to the llvm dialect",
        (
            "affine-assign-schedules",
            "affine-schedule-generic{select=reuse}",
            "affine-tile-windows",
            "affine-trim-fills",
            "affine-tile-registers",
            "affine-transpose-tiles",
            "affine-vectorize-loops",
            "affine-scan-lanes",
            "affine-schedule-generic",
            "affine-align-rows",
            "affine-share-vector-loads",
            "affine-stream-stores",
            "affine-use-dot-products",
            "affine-narrow-tails",
            "affine-outline-doacross",
            "affine-outline-parallel",
            "math-expand-functions",
            "expand-integer-division",
            "legalize-float-truncations",
            "split-masked-stores",
            "convert-affine-to-llvm",
        ),
    ),
    "affine-to-gpu": NamedPipeline(
        "affine loops to launches of kernels on a GPU",
        (
            "affine-split-reductions",
            "affine-demote-values",
            "affine-expand-buffers",
            "affine-map-to-gpu{leave-others=true}",
            "canonicalize",
            "cse",
            "affine-promote-buffers",
            "affine-contract-products",
            "canonicalize",
            "cse",
            "convert-affine-to-gpu",
            "canonicalize",
            "cse",
            "gpu-kernel-outlining",
            "canonicalize",
            "cse",
        ),
    ),
    "gpu-to-ptx": NamedPipeline(
        "kernels to PTX, the text that NVIDIA's driver compiles",
        (
            "math-expand-functions",
            "convert-kernels-to-nvvm",
            "gpu-module-to-ptx",
        ),
    ),
}

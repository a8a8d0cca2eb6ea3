"""Named pipelines: ordered lists of passes, data without logic.

Each is an element of pipeline text and a flag of dlc-opt by its name. The pipeline between two neighbouring stages is
called `<stage>-to-<next stage>`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dlc.errors import PassError

STAGES = ("dl", "linalg", "affine", "llvm")
"""The levels that a model goes through on the way to machine code, in order."""


@dataclass(frozen=True)
class Stage:
    """Passes that run one after the other under one name; what cuts a pipeline cuts it before a stage."""

    name: str
    passes: tuple[str, ...]


@dataclass(frozen=True)
class NamedPipeline:
    """Pipeline elements (pipeline text) that go by one name, in stages; a str stands for another named pipeline and its stages."""

    summary: str
    stages: tuple[Stage | str, ...]

    @property
    def passes(self) -> tuple[str, ...]:
        """The elements in order; other named pipelines by name."""
        return tuple(text for stage in self.stages for text in ((stage,) if isinstance(stage, str) else stage.passes))


PIPELINES: Mapping[str, NamedPipeline] = {
    "dl-optimize": NamedPipeline(
        "graph passes: a dl graph to calls of kernels",
        (
            Stage(
                "simplify",
                (
                    "dl-name-result-dims",
                    "dl-fold-shapes",
                    "dl-canonicalize",
                    "dl-fold-constants",
                    "dl-fold-branches",
                    "dl-count-loops",
                    "dl-unroll-loops",
                    "cse",
                    "dl-hoist-invariants",
                    "dl-sink-products",
                    "dl-outline-bodies",
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
                ),
            ),
            Stage(
                "winograd",
                (
                    "dl-version-convolutions",
                    "dl-use-winograd",
                    "dl-pack-weights",
                    "dl-pack-operands",
                    "dl-lower-precision",
                    "cse",
                    "dl-outline-constants",
                ),
            ),
            Stage("fuse", ("dl-fuse-kernels", "dl-outline-kernels", "dl-inline-bodies")),
        ),
    ),
    "dl-to-linalg": NamedPipeline(
        "dl ops to linalg on tensors",
        (
            "dl-optimize",
            Stage("bind", ("dl-bind-params", "convert-dl-to-linalg", "canonicalize", "cse")),
        ),
    ),
    "linalg-to-affine": NamedPipeline(
        "linalg on tensors to affine loops on buffers",
        (
            Stage(
                "bufferize",
                (
                    "linalg-outline-sizes",
                    "linalg-fold-add-into-dest",
                    "linalg-fuse-elementwise",
                    "linalg-reuse-operands",
                    "eliminate-empty-tensors",
                    "linalg-bufferize-tensors",
                    "canonicalize",
                    "linalg-pass-results",
                    "canonicalize",
                    "cse",
                    "linalg-share-branch-buffers",
                    "linalg-forward-copies",
                    "linalg-hoist-checks",
                    "linalg-materialize-copies",
                    "linalg-outline-kernels",
                    "linalg-place-carried-buffers",
                    "linalg-mark-collapsible-axes",
                ),
            ),
            Stage("plan-memory", ("linalg-plan-memory", "linalg-insert-deallocs")),
            Stage(
                "units",
                (
                    "linalg-collapse-dims",
                    "convert-linalg-to-affine",
                    "canonicalize",
                    "cse",
                    "affine-fold-index-order",
                    "affine-unroll-choices",
                    "affine-block-rows",
                    "affine-block-crops",
                    "affine-forward-transposes",
                    "affine-fuse-nests",
                    "affine-localize-padding",
                    "canonicalize",
                    "cse",
                    "affine-skip-excluded",
                    "affine-coalesce-loops",
                ),
            ),
        ),
    ),
    "affine-optimize": NamedPipeline(
        "affine loops in a better order, in vectors and register tiles, by the polyhedral model",
        (
            Stage(
                "optimize",
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
        ),
    ),
    "affine-to-llvm": NamedPipeline(
        "affine loops to the llvm dialect",
        (
            Stage(
                "schedule",
                (
                    "affine-apply-steps",
                    "affine-split-open-rows",
                    "affine-assign-schedules",
                    "affine-schedule-generic{select=reuse}",
                    "affine-tile-windows",
                    "affine-trim-fills",
                ),
            ),
            Stage(
                "tile",
                (
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
                ),
            ),
            Stage(
                "parallelize",
                (
                    "affine-outline-parallel",
                    "math-expand-functions",
                    "expand-integer-division",
                    "legalize-float-truncations",
                    "split-masked-stores",
                    "affine-flatten-accesses",
                    "convert-affine-to-llvm",
                ),
            ),
        ),
    ),
    "affine-to-gpu": NamedPipeline(
        "affine loops to launches of kernels on a GPU",
        (
            Stage(
                "map",
                (
                    "affine-outline-checks",
                    "canonicalize",
                    "affine-apply-steps",
                    "convert-attention-to-mma",
                    "convert-contractions-to-gemv",
                    "affine-transpose-operands",
                    "affine-split-contractions",
                    "convert-contractions-to-mma",
                    "convert-contractions-to-simt",
                    "affine-split-reductions",
                    "affine-demote-values",
                    "affine-accumulate-in-place",
                    "affine-expand-buffers{limit=2147483648}",
                    "affine-map-to-gpu{leave-others=true}",
                    "canonicalize",
                    "cse",
                    "affine-promote-buffers",
                    "affine-vectorize-accesses",
                    "canonicalize",
                    "affine-promote-buffers",
                    "affine-contract-products",
                    "canonicalize",
                    "cse",
                ),
            ),
            Stage(
                "outline",
                (
                    "affine-keep-checks",
                    "convert-affine-to-gpu",
                    "canonicalize",
                    "cse",
                    "gpu-shuffle-reductions",
                    "canonicalize",
                    "cse",
                    "gpu-privatize-buffers",
                    "gpu-keep-accesses",
                    "gpu-remove-barriers",
                    "canonicalize",
                    "cse",
                    "gpu-launch-sink-index-computations",
                    "gpu-kernel-outlining",
                    "canonicalize",
                    "cse",
                    "gpu-inline-mixed-functions",
                ),
            ),
        ),
    ),
    "gpu-to-nvvm": NamedPipeline(
        "kernels to the llvm and nvvm dialects",
        (Stage("nvvm-kernels", ("math-expand-functions", "convert-kernels-to-nvvm")),),
    ),
    "gpu-host-to-llvm": NamedPipeline(
        "the host's part of a module with kernels at level nvvm to the llvm dialect; its copies are placed before, at level gpu",
        (Stage("calls", ("convert-launches-to-calls", "canonicalize", "cse")), "affine-to-llvm"),
    ),
    "gpu-to-ptx": NamedPipeline(
        "kernels to PTX, the text that NVIDIA's driver compiles",
        ("gpu-to-nvvm", Stage("ptx", ("gpu-module-to-ptx",))),
    ),
}


def path(levels: Sequence[str], pipelines: Mapping[str, NamedPipeline] = PIPELINES) -> Iterator[Stage]:
    """The stages on the way through `levels`, in order, those of pipelines inside of pipelines too."""
    for level, following in pairwise(levels):
        yield from _stages_of(f"{level}-to-{following}", pipelines)


def _stages_of(name: str, pipelines: Mapping[str, NamedPipeline]) -> Iterator[Stage]:
    for stage in pipelines[name].stages:
        if isinstance(stage, Stage):
            yield stage
        else:
            yield from _stages_of(stage, pipelines)


def positions(levels: Sequence[str], pipelines: Mapping[str, NamedPipeline] = PIPELINES) -> dict[str, int]:
    """For each level and each stage on the way, how many stages come before it."""
    found: dict[str, int] = {levels[0]: 0}
    for level, following in pairwise(levels):
        first = found[level]
        names = [stage.name for stage in path((level, following), pipelines)]
        found |= {name: first + index for index, name in enumerate(names)}
        found[following] = first + len(names)
    return found


def later(first: str, second: str, levels: Sequence[str] = STAGES) -> str:
    """That of two levels or stages which comes later on the way; the first one where they are at the same place."""
    at = positions(levels)
    return second if at[second] > at[first] else first


def passes_between(
    start: str, end: str, levels: Sequence[str] = STAGES, pipelines: Mapping[str, NamedPipeline] = PIPELINES
) -> tuple[str, ...]:
    """The passes from `start` up to `end`, each of which is one of `levels` or a named stage between two of them, as text.

    None when they are the same; `PassError` for an unknown name, and where `end` comes first. Imports none of the passes.
    """
    at = positions(levels, pipelines)
    for stage in (start, end):
        if stage not in at:
            raise PassError(f"no stage is called '{stage}' (stages: {', '.join(levels)})")
    if at[start] > at[end]:
        raise PassError(f"can't go back from stage '{start}' to stage '{end}'")
    return tuple(text for stage in list(path(levels, pipelines))[at[start] : at[end]] for text in stage.passes)

"""Ops that move more than they compute: softmax, norms, activations, reductions, transposes; every other operator once.

python -m bench ops [name-part ...] [--vs onnxruntime,openvino]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from functools import partial

from bench import nodes, operators
from bench.cases import Case
from bench.comparing import run_table
from bench.options import read_settings
from dlc.measuring.contenders import Effort

ROWS = ((12, 64), (128, 128), (1536, 128), (128, 768), (512, 1024), (197, 333), (6144, 512), (1, 50257))
NORMS = ((1, 768), (128, 384), (128, 768), (197, 192), (512, 1024), (1024, 4096))
SHAPES = ((1, 768), (128, 768), (128, 3072), (1, 64, 56, 56), (1, 512, 7, 7), (1, 64, 224, 224))
REDUCED = (
    ((1536, 128), (1,)),
    ((1536, 128), (0,)),
    ((1000, 1000), (1,)),
    ((1000, 1000), (0,)),
    ((1, 512, 7, 7), (2, 3)),
    ((1, 64, 56, 56), (2, 3)),
    ((8, 197, 192), (1,)),
    ((1, 1000000), (1,)),
)
MOVED = (
    ((128, 768), (1, 0)),
    ((1024, 1024), (1, 0)),
    ((333, 517), (1, 0)),
    ((1, 64, 56, 56), (0, 2, 3, 1)),
    ((1, 56, 56, 64), (0, 3, 1, 2)),
    ((1, 128, 12, 64), (0, 2, 1, 3)),
    ((1, 128, 12, 64), (0, 2, 3, 1)),
    ((8, 197, 3, 64), (2, 0, 1, 3)),
)


def cases() -> Iterator[Case]:
    """Each op over its sizes; `moved` counts what is read and written once."""
    for shape in ROWS:
        for kind, name in (("Softmax", "softmax"), ("LogSoftmax", "log_softmax")):
            yield Case(f"{name} {_text(shape)}", partial(nodes.unary, kind, shape, axis=-1), moved=nodes.size_of(shape, shape))
    for rows, columns in NORMS:
        moved = nodes.size_of((rows, columns), (rows, columns), (2, columns))
        yield Case(f"layer_norm {rows}x{columns}", partial(nodes.layer_norm, rows, columns), moved=moved)
    for rows, columns in NORMS:
        moved = nodes.size_of((rows, columns), (rows, columns), (columns,))
        yield Case(f"rms_norm {rows}x{columns}", partial(nodes.rms_norm, rows, columns), moved=moved)
    yield from _elementwise()
    for shape, axes in REDUCED:
        kept = [size for axis, size in enumerate(shape) if axis not in axes]
        for kind in ("ReduceSum", "ReduceMax"):
            name = f"{kind} {_text(shape)} over {','.join(map(str, axes))}"
            yield Case(name, partial(nodes.reduce, kind, shape, axes), math.prod(shape), nodes.size_of(shape, kept))
    for shape, order in MOVED:
        name = f"transpose {_text(shape)} to {','.join(map(str, order))}"
        yield Case(name, partial(nodes.transpose, shape, order), moved=nodes.size_of(shape, shape))
    yield from operators.cases()


def _elementwise() -> Iterator[Case]:
    for shape in SHAPES:
        text, moved = _text(shape), nodes.size_of(shape, shape)
        yield Case(f"gelu {text}", partial(nodes.unary, "Gelu", shape), moved=moved)
        yield Case(f"gelu_tanh {text}", partial(nodes.unary, "Gelu", shape, approximate="tanh"), moved=moved)
        yield Case(f"silu {text}", partial(nodes.silu, shape), moved=moved)
        yield Case(f"add_relu {text}", partial(nodes.add_relu, shape), moved=nodes.size_of(shape, shape, shape))
        for kind in ("Exp", "Tanh", "Erf", "Sigmoid"):
            yield Case(f"{kind.lower()} {text}", partial(nodes.unary, kind, shape), moved=moved)


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def main() -> int:
    """Print the table; status 1 when a result is wrong."""
    about = (__doc__ or "").split("\n")[0]
    effort = Effort(rounds=15, slot=0.01, seconds=3.0)
    return run_table(list(cases()), read_settings("ops", about, "onnxruntime,openvino", effort, sys.argv[1:]), net=True)


if __name__ == "__main__":
    raise SystemExit(main())

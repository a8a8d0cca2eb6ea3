"""Products of matrices that are both given at the call, the right one as it is or transposed: against other engines.

python -m bench products [name-part ...] [--vs onnxruntime,openblas]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from functools import partial

from bench import nodes
from bench.cases import Case
from bench.comparing import run_table
from bench.options import read_settings
from dlc.measuring.contenders import Effort

SHAPES = (
    (128, 128, 128),
    (512, 512, 512),
    (1024, 1024, 1024),
    (128, 768, 768),
    (128, 3072, 768),
    (128, 768, 3072),
    (197, 192, 192),
    (64, 1024, 1024),
    (16, 768, 768),
    (1, 768, 768),
    (33, 65, 129),
    (96, 100, 100),
)
BATCHED = ((12, 128, 128, 64), (12, 128, 64, 128), (12, 1, 512, 64), (4, 64, 64, 64))


def cases() -> Iterator[Case]:
    """Each shape with the right side [k, n] and, transposed by the graph, [n, k]; rows of batches begin with `<batch>*`."""
    for *batch, m, n, k in (*SHAPES, *BATCHED):
        count = math.prod(batch)
        moved = count * nodes.size_of((m, k), (k, n), (m, n))
        name = f"{''.join(f'{size}*' for size in batch)}{m}x{n}x{k}"
        for is_transposed in (False, True):
            build = partial(nodes.product, batch, m, n, k, is_transposed)
            yield Case(f"{name} transposed" if is_transposed else name, build, 2.0 * count * m * n * k, moved)


def main() -> int:
    """Print the table; status 1 when a result is wrong."""
    about = (__doc__ or "").split("\n")[0]
    effort = Effort(rounds=15, slot=0.01, seconds=3.0)
    return run_table(tuple(cases()), read_settings("products", about, "onnxruntime,openblas", effort, sys.argv[1:]), with_peak=True)


if __name__ == "__main__":
    raise SystemExit(main())

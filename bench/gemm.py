"""Products of matrices, the right one constant: against other engines and OpenBLAS, and as a share of the measured peak.

python -m bench gemm [name-part ...] [--vs onnxruntime,openblas]
"""

from __future__ import annotations

import sys
from functools import partial

from bench import nodes
from bench.cases import Case
from bench.comparing import run_table
from bench.options import read_settings
from dlc.measuring.contenders import Effort

SQUARES = (32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 2048)
OF_NETWORKS = (
    (128, 768, 768),
    (128, 3072, 768),
    (128, 768, 3072),
    (128, 2304, 768),
    (196, 768, 768),
    (512, 768, 768),
    (49, 512, 2048),
    (3136, 64, 64),
    (12544, 64, 147),
    (784, 256, 128),
    (1, 3072, 768),
    (1, 768, 3072),
    (1, 1000, 2048),
    (4, 768, 768),
    (8, 3072, 768),
    (16, 768, 768),
    (64, 1024, 1024),
)
ODD = (
    (7, 13, 17),
    (33, 31, 65),
    (47, 129, 63),
    (50, 50, 50),
    (63, 65, 127),
    (77, 333, 211),
    (99, 101, 103),
    (100, 1000, 300),
    (127, 257, 511),
    (129, 255, 1023),
    (197, 192, 192),
    (197, 3072, 768),
    (211, 47, 997),
    (255, 1001, 129),
    (301, 17, 401),
    (333, 333, 333),
    (401, 601, 201),
    (515, 131, 259),
    (1, 333, 777),
    (1000, 10, 1000),
)


def case(m: int, n: int, k: int) -> Case:
    """The product of [m, k] and [k, n]."""
    moved = nodes.size_of((m, k), (k, n), (m, n))
    return Case(f"{m}x{n}x{k}", partial(nodes.matmul, m, n, k), 2.0 * m * n * k, moved)


CASES = tuple(case(*shape) for shape in (*((size,) * 3 for size in SQUARES), *OF_NETWORKS, *ODD))


def main() -> int:
    """Print the table; status 1 when a result is wrong."""
    about = (__doc__ or "").split("\n")[0]
    effort = Effort(rounds=15, slot=0.01, seconds=3.0)
    return run_table(CASES, read_settings("gemm", about, "onnxruntime,openblas", effort, sys.argv[1:]), with_peak=True, net=True)


if __name__ == "__main__":
    raise SystemExit(main())

"""`python -m bench [models|gemm|products|conv|ops|...] ...`: the speed tables, those of `_TABLES`; models by default."""

from __future__ import annotations

import runpy
import sys

_TABLES = (
    "models",
    "control",
    "recurrent",
    "gemm",
    "gpu",
    "gpu_code",
    "products",
    "conv",
    "ops",
    "profile",
    "scaling",
    "kernels",
    "compile",
    "dynamic",
    "driver",
    "engines",
    "serve",
    "polybench",
    "generic",
    "fit",
    "conformance",
)


def main() -> None:
    """Run the table that the first argument names, with the other arguments."""
    table, rest = ("models", sys.argv[1:])
    if rest and rest[0] in _TABLES:
        table, rest = rest[0], rest[1:]
    sys.argv = [f"python -m bench {table}", *rest]
    runpy.run_module(f"bench.{table}", run_name="__main__")


if __name__ == "__main__":
    main()

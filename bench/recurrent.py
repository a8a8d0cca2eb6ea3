"""LSTM and GRU of 128 inputs and 128 hidden values against other engines.

python -m bench recurrent [name-part ...] [--vs onnxruntime,openvino] [--threads 1] [--json FILE] [--plot FILE]

Rows have 16, 128 and 512 steps, one and both directions, batches of 1 and 16. "any" steps are a dynamic dim; "lengths" are those of
each row of the batch (`sequence_lens`), between a quarter of the steps and all of them.
"""

from __future__ import annotations

import itertools
import sys
from functools import partial

import numpy as np

from bench.cases import Case
from bench.comparing import run_table
from bench.networks import recurrent
from bench.options import read_settings
from dlc.measuring.contenders import Effort

_FORMS = ("", "any", "lengths")
_DIRECTIONS = {"forward": "", "bidirectional": "both ways"}


def _case(kind: str, steps: int, batch: int, direction: str, form: str) -> Case:
    name = " ".join(word for word in (kind, f"{steps} steps", f"batch {batch}", _DIRECTIONS[direction], form) if word)
    build = partial(recurrent.build, kind, steps, batch, direction, dynamic_steps=form == "any", lengths=form == "lengths")
    lengths = np.linspace(steps, steps // 4, batch).astype(np.int32)
    return Case(name, build, values={"lengths": lengths} if form == "lengths" else {}, sizes={"steps": steps})


CASES = tuple(_case(*parts) for parts in itertools.product(("LSTM", "GRU"), (16, 128, 512), (1, 16), _DIRECTIONS, _FORMS))


def main() -> int:
    """Print the table; status 1 when a result is wrong."""
    about = (__doc__ or "").split("\n")[0]
    return run_table(CASES, read_settings("recurrent", about, "onnxruntime,openvino", Effort(), sys.argv[1:]))


if __name__ == "__main__":
    raise SystemExit(main())

"""Networks with branches, loops and sizes that depend on data against other engines.

python -m bench control [name-part ...] [--vs onnxruntime,openvino] [--threads 1] [--json FILE] [--plot FILE]
"""

from __future__ import annotations

import sys

import numpy as np

from bench.cases import Case
from bench.comparing import run_table
from bench.networks.control import decoding, detecting, recurrences, selecting, texts
from bench.options import read_settings
from dlc.measuring.contenders import Effort

_LENGTHS = np.array([64, 48, 17, 5])
_MASK = (np.arange(128) % 7 == 3)[None]

CASES = (
    Case("greedy decode, 48 steps", decoding.greedy),
    Case("beam search, 32 steps of 4 beams", decoding.beam),
    Case("detector with NMS", detecting.detector),
    Case("masks of what NMS leaves", detecting.masks),
    Case("transducer, 40 frames", recurrences.transducer),
    Case("early exit after two of three", selecting.early_exit),
    Case("masked tokens by NonZero", selecting.masked_tokens, values={"mask": _MASK}),
    Case("mixture of 8 experts by TopK", selecting.experts),
    Case("list of chunks in sequences", texts.chunks),
    Case("text normaliser", texts.normaliser, inputs={"words": texts.text()}),
    Case("encoder of several lengths", recurrences.encoder, values={"lengths": _LENGTHS}),
    Case("fixed point, steps by data", recurrences.fixed_point),
    Case("state space by Scan", recurrences.state_space),
)


def main() -> int:
    """Print the table; status 1 when a result is wrong."""
    about = (__doc__ or "").split("\n")[0]
    return run_table(CASES, read_settings("control", about, "onnxruntime,openvino", Effort(), sys.argv[1:]))


if __name__ == "__main__":
    raise SystemExit(main())

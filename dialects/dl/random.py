"""Random numbers that depend on a seed and on their place alone."""

import numpy as np

from dlc.dialects.dl.attributes import DTypeAttr, FloatAttr, IntAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.types import FLOATS, NUMPY_DTYPES, TensorType, require

PARITY = 0x1BD11BDA
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
NUM_ROUNDS = 20


class RandomUniform(DLOp, name="random_uniform"):
    """Random numbers of x's shape, evenly distributed between two bounds. ONNX RandomUniform, RandomUniformLike.

    result[i] = low + u(i) * (high - low), with u(i) in [0, 1)

    u(i) is made of the bits that the generator Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as
    1, 2, 3", 2011) gives for the key `seed` and the counter i, the place in row-major order: the upper 24 bits of the
    first word, in f64 the upper 53 of both. So the numbers are the same in every call, and for every number of threads.
    f16 and bf16 are those of f32, rounded. The elements of x do not matter.

    c1: seed is not negative.    c2: `to` is a floating type.    c3: low is not more than high, and both are finite.
    """

    fusion_class = "opaque"
    x: Operand[Tensor]
    result: Result[Tensor]
    to = DTypeAttr(default="f32", doc="element type of the result")
    seed = IntAttr(doc="key of the generator")
    low = FloatAttr(default=0.0, doc="least number")
    high = FloatAttr(default=1.0, doc="bound of the numbers")

    @staticmethod
    def infer(x: TensorType, *, to: str, seed: int, low: float, high: float) -> TensorType:
        require("c1", seed >= 0, f"seed is {seed}")
        require("c2", to in FLOATS, f"to is {to}")
        require("c3", -np.inf < low <= high < np.inf, f"low is {low} and high is {high}")
        return x.with_dtype(to)

    @staticmethod
    def reference(x: np.ndarray, *, to: str, seed: int, low: float, high: float) -> np.ndarray:
        first, second = threefry(seed, np.arange(x.size, dtype=np.uint64))
        unit: np.ndarray
        if to == "f64":
            unit = (first >> np.uint32(6)).astype(np.float64) * 2.0**-26
            unit = unit + (second >> np.uint32(5)).astype(np.float64) * 2.0**-53
        else:
            unit = (first >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
        least, most = (np.asarray(bound, unit.dtype) for bound in (low, high))
        return np.asarray(least + unit * (most - least)).reshape(x.shape).astype(NUMPY_DTYPES[to])


def threefry(seed: int, counters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two words that the generator gives for each counter."""
    keys = [np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32)]
    keys.append(np.uint32(PARITY) ^ keys[0] ^ keys[1])
    words = [(counters & np.uint64(0xFFFFFFFF)).astype(np.uint32), (counters >> np.uint64(32)).astype(np.uint32)]
    with np.errstate(over="ignore"):
        words = [words[0] + keys[0], words[1] + keys[1]]
        for group in range(NUM_ROUNDS // 4):
            for turn in ROTATIONS[group % 2]:
                words[0] = words[0] + words[1]
                words[1] = ((words[1] << np.uint32(turn)) | (words[1] >> np.uint32(32 - turn))) ^ words[0]
            words[0] = words[0] + keys[(group + 1) % 3]
            words[1] = words[1] + keys[(group + 2) % 3] + np.uint32(group + 1)
    return words[0], words[1]

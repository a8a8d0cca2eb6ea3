"""A model's code as data, which a process loads and calls, or keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dlc.lowering.affine_to_llvm.interfaces import C_INTERFACE
from dlc.runtime.session import Session
from dlc.runtime.signature import Signature
from dlc.targets.registry import find_target

_PACKED = "_mlir_"
"""What the form of a function that takes one table of pointers is called, before its name."""


@dataclass(frozen=True)
class ModelCode:
    """The signature, and the objects of the entry and of its kernels, in the form that `target` loads.

    `profiled` names the kernels by rows of the runtime's profile, from row 1 on, if the code tells it its time.
    """

    signature: Signature
    objects: tuple[bytes, ...]
    profiled: tuple[str, ...] = ()
    target: str = "cpu"

    def session(self, params: Mapping[str, np.ndarray], num_threads: int | None = None, memory_limit: int | None = None) -> Session:
        """Load the code into this process and bind its parameters.

        `params` holds an array for each name in `signature.weights`; `memory_limit` bounds the bytes of a call. Raises
        `TargetError` when the code cannot be loaded, `InvalidInputError` when a parameter is missing or unfit.
        """
        entry, precompute, code = self._load()
        session = find_target(self.target).session
        return session(entry, self.signature, params, code, num_threads, precompute, memory_limit)

    def session_beside(self, other: Session) -> Session:
        """Load the code into this process for the parameters of another session of the same signature, in their memory."""
        return other.with_code(*self._load())

    def _load(self) -> tuple[int, int, object]:
        """Addresses of the entry and of the function that computes weights (0 for none), and what keeps the code."""
        computation = self.signature.precompute
        entries = [self.signature.entry, *([computation.entry] if computation else [])]
        addresses, code = find_target(self.target).load(self.objects, [packed_name(entry) for entry in entries])
        return addresses[0], addresses[1] if computation else 0, code


def packed_name(entry: str) -> str:
    """What the form of the public function `entry` that takes one table of pointers is called in objects."""
    return f"{_PACKED}{C_INTERFACE}{entry}"

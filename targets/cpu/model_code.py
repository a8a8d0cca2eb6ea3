"""A model's machine code as data, which a process links and calls, or keeps."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dlc.lowering.affine_to_llvm.interfaces import C_INTERFACE
from dlc.runtime.session import Session
from dlc.runtime.signature import Signature
from dlc.targets.cpu.facts import host_facts

_PACKED = "_mlir_"
"""What the form of a function that takes one table of pointers is called, before its name."""


@dataclass(frozen=True)
class ModelCode:
    """The signature, and the objects of the entry and of its kernels.

    `profiled` names the kernels by rows of the runtime's profile, from row 1 on, if the code tells it its time.
    """

    signature: Signature
    objects: tuple[bytes, ...]
    profiled: tuple[str, ...] = ()

    def session(self, params: Mapping[str, np.ndarray], num_threads: int | None = None, memory_limit: int | None = None) -> Session:
        """Link the code into this process and bind its parameters.

        `params` holds an array for each name in `signature.weights`; `memory_limit` bounds the bytes of a call. Raises
        `TargetError` when the code cannot be linked, `InvalidInputError` when a parameter is missing or unfit.
        """
        entry, precompute, code = self._link()
        return Session(entry, self.signature, params, code, num_threads, precompute, memory_limit)

    def session_beside(self, other: Session) -> Session:
        """Link the code into this process for the parameters of another session of the same signature, in their memory."""
        return other.with_code(*self._link())

    def _link(self) -> tuple[int, int, object]:
        """Addresses of the entry and of the function that computes weights (0 for none), and what keeps the code."""
        from dlc.targets.cpu.link import LinkedCode  # 35 ms, for what runs only

        computation = self.signature.precompute
        entries = [self.signature.entry, *([computation.entry] if computation else [])]
        functions = [f"{_PACKED}{C_INTERFACE}{entry}" for entry in entries]
        code = LinkedCode(self.objects, functions)
        addresses = [code.address(function) for function in functions]
        return addresses[0], addresses[1] if computation else 0, code


@functools.lru_cache(maxsize=1)
def machine_facts() -> dict[str, Any]:
    """What code depends on of this machine, as plain data."""
    from dlc.targets.cpu.link import host_processor

    facts = asdict(host_facts())
    return facts | {"features": sorted(facts["features"]), "processor": host_processor()}

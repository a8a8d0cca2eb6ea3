"""Whole models in the cache on disk: what compiling one made, under the sum of its module and of what the code depends on.

A hit runs no pass: the record holds the objects of entry and kernels together, the signature, and the function that computes
weights.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.dialects.dl import ops
from dlc.dialects.reading import parse_module
from dlc.lowering.pipelines import PIPELINES
from dlc.lowering.policy import policy
from dlc.lowering.registry import plugin_passes
from dlc.option_values import DEFAULT_TARGET
from dlc.runtime.signature import Computation, Signature, TensorSpec
from dlc.targets.fingerprint import compiler_fingerprint
from dlc.targets.model_code import ModelCode
from dlc.targets.registry import find_target
from dlc.weights import WeightRecipe

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class ModelRecord:
    """What compiling a model makes, but for its weights."""

    code: ModelCode
    recipe: WeightRecipe
    kernels: int

    def to_bytes(self) -> bytes:
        """The record as one byte string."""
        module = self.recipe.module
        parts = [*self.code.objects, *([bytecode_of(module)] if module else [])]
        head = {
            "signature": dataclasses.asdict(self.code.signature),
            "known": self.recipe.known,
            "needed": [dataclasses.asdict(spec) for spec in self.recipe.needed],
            "read": sorted(self.recipe.read),
            "kernels": self.kernels,
            "objects": len(self.code.objects),
            "profiled": self.code.profiled,
            "target": self.code.target,
            "sizes": [len(part) for part in parts],
        }
        text = json.dumps(head).encode()
        return b"".join([_LENGTH.pack(len(text)), text, *parts])

    @classmethod
    def of_bytes(cls, content: bytes) -> ModelRecord:
        """The record that `to_bytes` wrote."""
        (length,) = _LENGTH.unpack_from(content)
        start = _LENGTH.size + length
        head = json.loads(content[_LENGTH.size : start])
        parts = list(_cut(content, start, head["sizes"]))
        objects, modules = parts[: head["objects"]], parts[head["objects"] :]
        module = parse_module(modules[0], "<cache>", make_context()) if modules else None
        recipe = WeightRecipe(tuple(head["known"]), _specs(head["needed"]), frozenset(head["read"]), module)
        code = ModelCode(_signature(head["signature"]), tuple(objects), tuple(head["profiled"]), head["target"])
        return cls(code, recipe, head["kernels"])


def model_key(module: ir.Module, options: str, target: str = DEFAULT_TARGET) -> str | None:
    """The key of a module for a target and of all that code depends on; None where something takes part that is not dlc's own.

    Locations count: errors at run time name their nodes.
    """
    fingerprint, machine = compiler_fingerprint(), find_target(target).cache_key()
    if fingerprint is None or machine is None or plugin_passes() or not _is_own():
        return None
    settings = json.dumps([fingerprint, options, target, machine, str(PIPELINES), policy().text()], sort_keys=True)
    return hashlib.sha256(settings.encode() + b"\0" + bytecode_of(module)).hexdigest()


def _is_own() -> bool:
    """Whether dlc defines all ops and lowerings. Others' are registered only where the table's module was imported."""
    table = sys.modules.get("dlc.lowering.dl_to_linalg.building.lowerings")  # importing it takes 0.1 s, which a hit need not
    lowerings = table._LOWERINGS.values() if table else ()
    return all(item.__module__.startswith("dlc.") for item in (*ops().values(), *lowerings))


def bytecode_of(module: ir.Module) -> bytes:
    """The module as bytecode."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def _cut(content: bytes, start: int, sizes: Sequence[int]) -> Iterator[bytes]:
    for size in sizes:
        yield content[start : start + size]
        start += size


def _signature(entry: Mapping[str, Any]) -> Signature:
    computation = entry["precompute"]
    return Signature(
        entry["entry"],
        _specs(entry["inputs"]),
        _specs(entry["outputs"]),
        _specs(entry["params"]),
        computation and Computation(computation["entry"], _specs(computation["params"]), _specs(computation["results"])),
    )


def _specs(entries: Sequence[Mapping[str, Any]]) -> tuple[TensorSpec, ...]:
    return tuple(TensorSpec(**{**entry, "shape": tuple(entry["shape"])}) for entry in entries)

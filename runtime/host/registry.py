"""Host functions by the names of their ops."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

_MODULES = ("images", "labels", "maps", "moves", "optionals", "parts", "sequences", "slices", "strings", "texts")


_Made = TypeVar("_Made")


class HostOpError(ValueError):
    """Values that a host function does not take; the message says which, and what to give instead."""


@dataclass(frozen=True)
class HostNode:
    """What a host function knows of its node: attributes as Python values (texts as `str`), the opset, and how many outputs."""

    attributes: Mapping[str, Any]
    opset: int
    num_outputs: int
    _made: dict[Callable[[HostNode], Any], Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, make: Callable[[HostNode], _Made]) -> _Made:
        """What `make` gives for this node, made at the first call: tables and sets of what the attributes say."""
        if make not in self._made:
            self._made[make] = make(self)
        found: _Made = self._made[make]
        return found

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute, or `default` where the node has none such."""
        return self.attributes.get(name, default)


HostFunction = Callable[..., Any]
"""Takes a `HostNode` and a value (None: left out) for each input; returns the output, or a tuple of them."""
_Function = TypeVar("_Function", bound=HostFunction)


@dataclass(frozen=True)
class HostOp:
    """A host function, and why it is none of the compiler's. With `always`, no types make the op one for the compiler."""

    function: HostFunction
    reason: str
    always: bool


_OPS: dict[tuple[str, str], HostOp] = {}


def host_op(name: str, reason: str, *, domain: str = "", always: bool = True) -> Callable[[_Function], _Function]:
    """Register a function as the host's form of the op `name` of `domain`."""

    def register(function: _Function) -> _Function:
        _OPS[domain, name] = HostOp(function, reason, always)
        return function

    return register


@functools.cache
def host_ops() -> Mapping[tuple[str, str], HostOp]:
    """All host functions by domain and op."""
    for name in _MODULES:
        importlib.import_module(f"dlc.runtime.host.{name}")
    return _OPS

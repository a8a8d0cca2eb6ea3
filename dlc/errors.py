"""The one exception family of dlc. Catch `DLCError` to catch all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlc.diagnostics import Diagnostic


class DLCError(Exception):
    """Base of every error that dlc raises on purpose.

    `diagnostics` holds the located messages; `str(error)` shows them, with source lines where they are known.
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = (), source: str | None = None) -> None:
        self.message = message
        self.diagnostics = tuple(diagnostics)
        shown = [diagnostic.render(source) for diagnostic in self.diagnostics]
        super().__init__("\n".join([*([message] if message else []), *shown]))


class ParseError(DLCError):
    """Text or bytecode that is not valid MLIR, or a file that is not a valid model."""


class LenientWarning(UserWarning):
    """What is wrong with a model that `lenient` lets pass."""


class VerifyError(DLCError):
    """IR that parses but breaks an op's constraints."""


class PassError(DLCError):
    """A pass that failed, or was given an unknown name, option or unfit input."""


class ScheduleError(DLCError):
    """A step of a `dlc.Schedule` that is not legal, or names what does not exist: `reason` says why, `remedy` what to do."""

    def __init__(self, reason: str, remedy: str = "", diagnostics: Sequence[Diagnostic] = ()) -> None:
        self.reason = reason
        self.remedy = remedy
        text = f"{reason}; {remedy}" if remedy else reason
        super().__init__("" if diagnostics else text, diagnostics)


@dataclass(frozen=True)
class UnsupportedNode:
    """One model node that dlc can't compile: its name (or output), its op with domain, and why.

    It can be where the elements of the inputs `values` and the sizes of the inputs `shapes` are known.
    """

    name: str
    op: str
    reason: str
    values: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"node '{self.name}' ({self.op}): {self.reason}"


class UnsupportedError(DLCError):
    """A model uses ops or attributes that dlc can't compile; `nodes` lists every one of them."""

    def __init__(self, nodes: Sequence[UnsupportedNode], model: str = "model") -> None:
        self.nodes = tuple(nodes)
        listing = "\n".join(f"  {node}" for node in self.nodes)
        super().__init__(f"{model}: error: {self._summary(len(self.nodes))}:\n{listing}")

    def _summary(self, count: int) -> str:
        return f"{count} unsupported {'node' if count == 1 else 'nodes'}"


class ValuesNeededError(UnsupportedError):
    """A model that can be compiled where the elements of the inputs `values` and the sizes of the inputs `shapes` are known.

    `dlc.compile` makes a model of it that is specialised on them at its first call.
    """

    def __init__(self, nodes: Sequence[UnsupportedNode], model: str = "model") -> None:
        self.values = tuple(dict.fromkeys(name for node in nodes for name in node.values))
        self.shapes = tuple(dict.fromkeys(name for node in nodes for name in node.shapes))
        super().__init__(nodes, model)

    def _summary(self, count: int) -> str:
        return f"{count} {'node needs' if count == 1 else 'nodes need'} inputs that are known at compile time"


class InvalidInputError(DLCError, ValueError):
    """Arguments that do not fit the model's signature (count, name, shape or dtype), or unfit options."""


class OutOfMemoryError(DLCError, MemoryError):
    """A call that needs more memory than there is, or than its limit. The model stays usable.

    `bytes` is what it asked for last, `used` what it held then, and `limit` its `memory_limit` where that was the reason, else
    None.
    """

    def __init__(self, message: str, bytes: int = 0, used: int = 0, limit: int | None = None) -> None:
        self.bytes, self.used, self.limit = bytes, used, limit
        super().__init__(message)


class CancelledError(DLCError):
    """A call that another thread has ended by `CompiledModel.cancel`. The model stays usable."""


class CompileTimeoutError(DLCError, TimeoutError):
    """A compilation that its `timeout` has ended; `steps` are those that had begun, in order."""

    def __init__(self, message: str, steps: tuple[str, ...] = ()) -> None:
        self.steps = steps
        super().__init__(message)


class TargetError(DLCError):
    """A target that is unknown, or cannot be compiled for or run on here."""


class RuntimeLoadError(DLCError):
    """The native runtime library or a compiled object that is missing or cannot be loaded."""


def quoted(value: object) -> str:
    """A value that was given, as messages show it. Python does not write out numbers of thousands of digits."""
    try:
        return repr(value)
    except ValueError:
        return "a number of thousands of digits"

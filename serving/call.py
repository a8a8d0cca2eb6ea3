"""A request on its way through a model's queue, and what runs it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .faster_way import Way


class ModelRunner(Protocol):
    """A model: `runtime.engine.Engine`, such as."""

    def __call__(self, *arguments: list[np.ndarray]) -> list[np.ndarray]: ...

    def run_many(self, requests: Iterable[Any]) -> list[list[np.ndarray]]: ...

    def cancel(self) -> None: ...


@dataclass(frozen=True, eq=False)
class Runners:
    """A model that takes all its threads for a call, and the same that takes one."""

    all_threads: ModelRunner
    one_thread: ModelRunner

    def run(self, way: Way, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """One call."""
        return (self.one_thread if way is Way.ONE_THREAD else self.all_threads)(inputs)

    def cancel(self) -> None:
        """End what runs."""
        for runner in {self.all_threads, self.one_thread}:
            runner.cancel()


@dataclass(eq=False)
class Call:
    """One request: inputs in order, what they can be batched with (None: nothing), and where the outputs go."""

    runners: Runners
    inputs: list[np.ndarray]
    key: Hashable | None
    rows: int
    answer: asyncio.Future[list[np.ndarray]]
    since: float = field(default_factory=time.perf_counter)
    is_abandoned: bool = False


def fits(call: Call, first: Call) -> bool:
    """Whether `call` may be of the batch that begins with `first`."""
    return call.runners is first.runners and call.key is not None and call.key == first.key


def kind_of(first: Call, rows: int) -> Hashable:
    """Equal for calls that take as long: of the same shapes, or batches of like size that begin with a call like `first`."""
    return shapes_of(first.runners, first.inputs) if first.key is None else (id(first.runners), first.key, rows.bit_length())


def shapes_of(runners: Runners, inputs: Sequence[np.ndarray]) -> Hashable:
    """Equal for calls that are not batched and take as long."""
    return id(runners), *(array.shape for array in inputs)

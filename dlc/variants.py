"""Compiled models by what they are specialised on: each is built once, and the one that was used longest ago goes first."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from dlc.errors import CancelledError, InvalidInputError, quoted
from dlc.lowering.deadline import Progress
from dlc.option_values import whole_number
from dlc.targets.build_report import VariantCounters

if TYPE_CHECKING:
    from dlc.compiled_model import CompiledModel

VARIABLE = "DLC_MAX_SPECIALIZATIONS"
MOST_VARIANTS = 16
"""Variants that a model keeps where nobody says: the code of each is some hundred KB, weights that are equal are shared."""

Build = Callable[[Progress], "CompiledModel"]
"""Compiles one variant, and tells each step before it begins."""


def variant_limit(given: int | None) -> int:
    """The number of variants that a model keeps: `given`, else that of `DLC_MAX_SPECIALIZATIONS`, else `MOST_VARIANTS`."""
    subject, value = ("max_specializations", quoted(given)) if given is not None else (VARIABLE, os.environ.get(VARIABLE, ""))
    if given is None and not value:
        return MOST_VARIANTS
    if not (limit := whole_number(value)):
        raise InvalidInputError(f"{subject} is {value}; give a whole number from 1 on")
    return limit


class _Pending:
    """A variant that one thread builds and others wait for."""

    def __init__(self) -> None:
        self.future: Future[CompiledModel] = Future()
        self.is_cancelled = False

    def check(self, step: str) -> None:
        """Ends the build where it was cancelled; called before each step."""
        if self.is_cancelled:
            raise CancelledError(f"the call was cancelled while its code was compiled, before {step}")


class Variants:
    """An LRU of compiled models. Threads may use it at the same time; builds of different keys do not wait for each other."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, CompiledModel] = OrderedDict()
        self._pending: dict[Hashable, _Pending] = {}
        self._alive: weakref.WeakSet[CompiledModel] = weakref.WeakSet()
        """Those that calls may still run, kept or not."""
        self._hits = self._built = self._evicted = 0

    def get(self, key: Hashable) -> CompiledModel | None:
        """The variant of a key, if it is kept."""
        with self._lock:
            return self._used(key)

    def peek(self, key: Hashable) -> CompiledModel | None:
        """The variant of a key, if it is kept; that is no use of it."""
        with self._lock:
            return self._kept.get(key)

    def _used(self, key: Hashable) -> CompiledModel | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            self._hits += 1
        return found

    def find(self, key: Hashable, build: Build) -> CompiledModel:
        """The variant of a key, built where there is none; what `build` raises reaches all that wait for it."""
        with self._lock:
            found = self._used(key)
            if found is not None:
                return found
            pending = self._pending.get(key)
            is_mine = pending is None
            if pending is None:
                pending = self._pending[key] = _Pending()
        if is_mine:
            self._build(key, pending, build)
        return pending.future.result()

    def _build(self, key: Hashable, pending: _Pending, build: Build) -> None:
        try:
            variant = build(pending.check)
        except BaseException as error:
            is_plain = isinstance(error, Exception)
            pending.future.set_exception(error if is_plain else CancelledError("the thread that compiled its code was interrupted"))
            self._forget(key, pending)
            if not is_plain:
                raise
            return
        with self._lock:
            self._kept[key] = variant
            self._alive.add(variant)
            self._built += 1
            if len(self._kept) > self.limit:
                self._kept.popitem(last=False)
                self._evicted += 1
        self._forget(key, pending)
        pending.future.set_result(variant)

    def _forget(self, key: Hashable, pending: _Pending) -> None:
        with self._lock:
            if self._pending.get(key) is pending:
                del self._pending[key]

    def cancel(self) -> None:
        """End builds and calls that run now; those that begin later are not touched."""
        with self._lock:
            pending, self._pending = list(self._pending.values()), {}
            alive = list(self._alive)
        for each in pending:
            each.is_cancelled = True
        for variant in alive:
            variant.cancel()

    def mapped(self, change: Callable[[CompiledModel], CompiledModel]) -> Variants:
        """The same keys with other models, and new counters."""
        others = Variants(self.limit)
        with self._lock:
            kept = list(self._kept.items())
        for key, variant in kept:
            others._kept[key] = change(variant)
        others._alive.update(others._kept.values())
        return others

    def kept(self) -> list[CompiledModel]:
        """The variants that are there now, the one used longest ago first."""
        with self._lock:
            return list(self._kept.values())

    def counters(self) -> VariantCounters:
        """The counts up to now."""
        with self._lock:
            return VariantCounters(self._hits, self._built, self._evicted, len(self._kept), self.limit)

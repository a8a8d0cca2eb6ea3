"""Counts the sizes of calls, and has versions for frequent ones compiled in the background."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from dlc.errors import DLCError
from dlc.model_cache import ModelRecord, bytecode_of, model_key
from dlc.targets.build_report import BuildReport, VariantCounters
from dlc.variants import Variants
from dlc.versions.background import Background
from dlc.versions.reading import SizeKey, SizeReading, count_of

if TYPE_CHECKING:
    from dlc.compiled_model import CompiledModel
    from dlc.request import Request

_MOST_COUNTED = 1024
"""Sizes whose calls are counted; those that came first are forgotten first."""

BACKGROUND = Background()


class Specializer:
    """Makes versions for the sizes of frequent calls of a model; `general` is its version of all sizes.

    Threads may use it at the same time. No call waits for a version, and no error of one reaches a call.
    """

    def __init__(self, request: Request, general: CompiledModel, reading: SizeReading) -> None:
        assert request.specialize is not None
        self._request, self._general, self._reading = request, general, reading
        self._after = request.specialize
        self.variants = Variants(request.most_versions)
        self.repeated = itertools.count()
        """Calls of the version of the call before, which is not looked up again."""
        self.last: list[Any] = [None]
        """That version, for the model; it goes when versions come, which may have taken its place."""
        self._lock = threading.Lock()
        self._counts: dict[SizeKey, int] = {}
        self._waiting: set[SizeKey] = set()
        self._failed: OrderedDict[SizeKey, str] = OrderedDict()

    def find(self, key: SizeKey) -> CompiledModel | None:
        """The version for these sizes, if there is one; else their call is counted."""
        found = self.variants.get(key)
        if found is None and self._is_due(key):
            reference = weakref.ref(self)
            BACKGROUND.submit(lambda: _build(reference, key))
        return found

    def _is_due(self, key: SizeKey) -> bool:
        with self._lock:
            count = self._counts.get(key, 0) + 1
            self._counts[key] = count
            if len(self._counts) > _MOST_COUNTED:
                del self._counts[next(iter(self._counts))]
            if count < self._after or key in self._waiting or key in self._failed or not BACKGROUND.is_available:
                return False
            self._waiting.add(key)
            return True

    def build(self, key: SizeKey) -> None:
        """Compile the version for these sizes, in the process of the background, and load it. An error is noted."""
        failure = ""
        try:
            self.variants.find(key, lambda progress: self._built(key))
        except Exception as error:  # whatever it is, calls go on
            failure = f"{self._reading.show(key)}: {str(error) or type(error).__name__}"
        self.last[0] = None
        with self._lock:
            self._waiting.discard(key)
            self._counts.pop(key, None)
            if failure:
                self._failed[key] = failure
            if len(self._failed) > _MOST_COUNTED:
                self._failed.popitem(last=False)

    def _built(self, key: SizeKey) -> CompiledModel:
        general, options = self._general, self._request.options
        module = general._source.module
        if model_key(module, options.code.text(), options.target) is None:
            raise DLCError("ops, lowerings or passes that are not dlc's own are not known in the background")
        asked = {"name": general._source.name, "sizes": self._reading.sizes_of(key), "timeout": self._request.timeout}
        chosen = asdict(replace(options, measure=False, schedules=None))
        answer, content = BACKGROUND.compile(asked | {"options": chosen}, bytecode_of(module), self._request.timeout)
        record = ModelRecord.of_bytes(content)
        report = BuildReport(record.kernels, int(answer["compiled"]), bool(answer["whole"]))
        return general.with_code(record, report)

    def beside(self, general: CompiledModel, change: Callable[[CompiledModel], CompiledModel] | None) -> Specializer:
        """One for a changed model, with its versions changed likewise; None begins anew."""
        other = Specializer(replace(self._request, options=general.options), general, self._reading)
        if change is not None:
            other.variants = self.variants.mapped(change)
        return other

    def is_settled(self, key: SizeKey) -> bool:
        """Whether these sizes have their version, or got none. Waits while it is compiled."""
        with self._lock:
            is_due = key in self._waiting
        if is_due:
            BACKGROUND.wait()
        with self._lock:
            has_none = key in self._failed or not BACKGROUND.is_available
        return has_none or self.variants.peek(key) is not None

    def counters(self) -> tuple[VariantCounters, int, int, str]:
        """The counts up to now: versions, sizes that wait, sizes that got none, and why the last of these did not."""
        with self._lock:
            last = next(reversed(self._failed.values()), "")
            counters = self.variants.counters()
            hot = replace(counters, hits=counters.hits + count_of(self.repeated))
            return hot, len(self._waiting), len(self._failed), last


def _build(reference: weakref.ref[Any], key: SizeKey) -> None:
    specializer = reference()
    if specializer is not None:
        specializer.build(key)

"""A model with versions for sizes of dims: each call goes to the one that is made for its sizes, else to that of all sizes."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dlc.compiled_model import CompiledModel
from dlc.errors import InvalidInputError
from dlc.runtime.arguments import listed
from dlc.runtime.callable_model import Runner
from dlc.runtime.session import Session
from dlc.sources import ParamTable
from dlc.targets.build_report import BuildReport, VersionCounters
from dlc.versions.reading import SizeKey, SizeReading, count_of

if TYPE_CHECKING:
    import os

    from dlc.verification import Verdict
    from dlc.versions.specializer import Specializer


class _Last(NamedTuple):
    """The version of the last call, and what counts its calls."""

    session: Session
    calls: itertools.count[int]


class VersionedModel(CompiledModel):
    """Calls are those of `CompiledModel`; inputs, outputs and errors are those of the version of all sizes.

    `versions` are by the sizes of the dims `names`, in their order; `specializer` makes others for all sizes of frequent calls.
    A version has the same weights in the same memory; its sums may associate in another order, so that results differ within the
    tolerance of that.
    """

    def __init__(
        self,
        general: CompiledModel,
        reading: SizeReading,
        names: Sequence[str],
        versions: Mapping[SizeKey, CompiledModel],
        specializer: Specializer | None = None,
    ) -> None:
        self._take(general)
        self._reading, self._versions, self._specializer = reading, dict(versions), specializer
        self._at = [reading.names.index(name) for name in names]
        self._reads_all = self._at == list(range(len(reading.places)))
        self._is_donating = any(spec.donated for spec in general.inputs)
        self._begin()

    def _begin(self) -> None:
        """No calls yet. The version of the last call is tried before any other, as long as it is kept."""
        self._general_calls, self._version_calls = itertools.count(), itertools.count()
        self._last: list[_Last | None] = [None] if self._specializer is None else self._specializer.last

    def _take(self, general: CompiledModel) -> None:
        """Be the version of all sizes, for all that is not a call."""
        self._general = general
        super().__init__(
            general._source,
            general._session,
            general.options,
            general._recipe,
            general._report,
            general._code,
            general._verdicts,
            general._evaluate,
        )

    @property
    def build_report(self) -> BuildReport:
        """The kernels of all versions together, and what became of calls and versions."""
        reports = [version.build_report for version in self._all()]
        counters = VersionCounters(
            count_of(self._general_calls),
            count_of(self._version_calls),
            len(self._versions),
            *(self._specializer.counters() if self._specializer else ()),
        )
        return BuildReport(
            sum(each.kernels for each in reports),
            sum(each.compiled for each in reports),
            all(each.whole for each in reports),
            versions=counters,
        )

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Those of all versions."""
        return tuple(verdict for version in self._all() for verdict in version.verdicts)

    def version(self, *arguments: Any) -> CompiledModel:
        """The version that a call with these arguments runs now. This is no call: nothing is counted."""
        key = self._reading.key_of(arguments)
        if key is None:
            return self._general
        hot = self._specializer.variants.peek(key) if self._specializer is not None else None
        return hot or self._declared(key) or self._general

    def is_settled_for(self, *arguments: Any) -> bool:
        """Whether calls with these arguments get no other version any more. Waits for one that is compiled."""
        key = self._reading.key_of(arguments)
        return key is None or self._specializer is None or self._specializer.is_settled(key)

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        last = self._last[0]
        if last is not None:
            results = last.session._call_again(*arguments)  # refuses other sizes
            if results is not None:
                next(last.calls)
                return results if isinstance(results, list) else last.session._complete(results, arguments)
        version = self._chosen(arguments)
        try:
            return version._session(*arguments)
        except InvalidInputError as error:
            return self._again(version, error, lambda general: general(*arguments))

    def run(
        self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> list[np.ndarray]:
        """Run the model with results in the arrays `outputs`, see `CompiledModel.run`."""
        if outputs is None:
            return self(inputs)
        last = self._last[0]
        if last is not None:
            results = last.session._run_again(inputs, outputs)
            if results is not None:
                next(last.calls)
                return results if isinstance(results, list) else last.session._complete_run(results, inputs, outputs)
        version = self._chosen((inputs,))
        try:
            return version._session.run(inputs, outputs)
        except InvalidInputError as error:
            return self._again(version, error, lambda general: general.run(inputs, outputs))

    def _again(
        self, version: CompiledModel, error: InvalidInputError, call: Callable[[CompiledModel], list[np.ndarray]]
    ) -> list[np.ndarray]:
        """A call that a version refuses, on that of all sizes, whose words name the model's own dims."""
        if version is self._general or self._is_donating:  # a call may have written to donated inputs
            raise error
        return call(self._general)

    def run_many(self, requests: Iterable[Any]) -> list[list[np.ndarray]]:
        """The results for each of `requests`; neighbours of one version run several at a time."""
        return self._run_numbered(requests, 0)

    def _run_numbered(self, requests: Iterable[Any], first: int) -> list[list[np.ndarray]]:
        results: list[list[np.ndarray]] = []
        pairs = [(self._chosen((request,)), request) for request in listed(requests)]
        for version, group in itertools.groupby(pairs, key=lambda pair: pair[0]):
            given = [request for _, request in group]
            results += version._run_numbered(given, first + len(results))
        return results

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:  # type: ignore[override]
        """Refused: an engine has one code."""
        remedy = "save the model of `version(...)`, or compile without lists of sizes and specialize"
        raise InvalidInputError(f"'{self._source.name}' has code for each of several sizes, and an engine has one; {remedy}")

    def _runner(self) -> AbstractContextManager[Runner]:
        return nullcontext(self)

    def cancel(self) -> None:
        """End all calls that run now in other threads, see `CompiledModel.cancel`; what is compiled in the background goes on."""
        for version in self._all():
            version.cancel()

    def with_params(self, params: ParamTable) -> CompiledModel:
        """The same code with other weights, see `CompiledModel.with_params`."""
        return self._mapped(lambda version: version.with_params(params))

    def with_profile(self) -> CompiledModel:
        """The same model with the profile of `compile(..., profile=True)`; what the background compiles begins anew."""
        return self._mapped(lambda version: version.with_profile(), is_new_code=True)

    def _mapped(self, change: Callable[[CompiledModel], CompiledModel], is_new_code: bool = False) -> CompiledModel:
        changed = copy.copy(self)
        changed._take(change(self._general))
        changed._versions = {key: change(version) for key, version in self._versions.items()}
        if self._specializer is not None:
            changed._specializer = self._specializer.beside(changed._general, None if is_new_code else change)
        changed._begin()
        return changed

    def __repr__(self) -> str:
        return super().__repr__().replace("CompiledModel", "VersionedModel", 1)

    def _all(self) -> list[CompiledModel]:
        return [self._general, *self._versions.values(), *(self._specializer.variants.kept() if self._specializer else ())]

    def _declared(self, key: SizeKey) -> CompiledModel | None:
        return self._versions.get(key if self._reads_all else tuple([key[at] for at in self._at]))

    def _chosen(self, arguments: Sequence[Any]) -> CompiledModel:
        key = self._reading.key_of(arguments)
        if key is None:
            return self._general
        if self._specializer is not None:
            found = self._specializer.find(key)
            if found is not None:
                self._last[0] = _Last(found._session, self._specializer.repeated)
                return found
        version = self._declared(key)
        if version is None:
            next(self._general_calls)
            return self._general
        next(self._version_calls)
        if self._specializer is None:
            self._last[0] = _Last(version._session, self._version_calls)
        return version

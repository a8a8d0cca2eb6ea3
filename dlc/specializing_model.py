"""Models that read some inputs as values, such as axes: code is made for these values at the first call, and kept.

TensorRT calls such inputs shape tensors, JAX static arguments.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from dlc.compile_options import Stage
from dlc.compiled_model import CompiledModel
from dlc.errors import CancelledError, InvalidInputError, ParseError, PassError, UnsupportedError, ValuesNeededError, VerifyError
from dlc.given_values import check_table
from dlc.lowering.deadline import Progress
from dlc.runtime.arguments import bind_in_order, in_order, listed
from dlc.runtime.callable_model import Runner
from dlc.runtime.results import outputs_in_order
from dlc.runtime.signature import TensorSpec
from dlc.sources import ParamTable
from dlc.targets.build_report import BuildReport
from dlc.variants import Variants

if TYPE_CHECKING:
    import os

    from dlc.compile_options import CompileOptions
    from dlc.verification import Verdict

_MOST_SHOWN = 8


@dataclass(frozen=True)
class CallFacts:
    """What code is specialised on: elements of inputs, and shapes of others, by name."""

    values: Mapping[str, np.ndarray]
    shapes: Mapping[str, tuple[int, ...]]

    def __str__(self) -> str:
        shown = [f"input '{name}' as {_show(array)}" for name, array in self.values.items()]
        return ", ".join([*shown, *(f"input '{name}' of shape {list(shape)}" for name, shape in self.shapes.items())])


class Reading:
    """Which arguments a call reads, by their places, and how they make the key of a variant. Marks of specs are only ever added."""

    def __init__(self, specs: tuple[TensorSpec, ...]) -> None:
        self.specs = specs
        self.rest = [at for at, spec in enumerate(specs) if not spec.by_value]
        self._values = [(at, spec.numpy_dtype) for at, spec in enumerate(specs) if spec.by_value]
        self._shapes = [at for at, spec in enumerate(specs) if spec.by_shape and not spec.by_value]
        own = {dim for spec in specs if spec.by_value for dim in spec.shape if isinstance(dim, str)}
        self._is_apart = own.isdisjoint(dim for at in self.rest for dim in specs[at].shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reading) and self.specs == other.specs

    __hash__ = None  # type: ignore[assignment]

    def key_of(self, given: Sequence[Any]) -> Hashable | None:
        """The key of unchecked arguments: a variant of that key was made for such. None where they must be checked first."""
        if not self._is_apart:  # a size that a variant no longer sees binds other inputs
            return None
        for at, dtype in self._values:
            if type(given[at]) is not np.ndarray or given[at].dtype != dtype:
                return None
        if any(type(given[at]) is not np.ndarray for at in self._shapes):
            return None
        return self.exact_key_of(given)

    def exact_key_of(self, arrays: Sequence[np.ndarray]) -> Hashable:
        """Equal for arrays of equal facts."""
        values = [(arrays[at].shape, arrays[at].tobytes()) for at, _ in self._values]
        return (*values, *[arrays[at].shape for at in self._shapes])

    def facts_of(self, arrays: Sequence[np.ndarray]) -> CallFacts:
        """The same by name."""
        values = {self.specs[at].name: arrays[at] for at, _ in self._values}
        return CallFacts(values, {self.specs[at].name: arrays[at].shape for at in self._shapes})


def _show(array: np.ndarray) -> str:
    elements = array.reshape(-1)[:_MOST_SHOWN].tolist()
    more = ", ..." if array.size > _MOST_SHOWN else ""
    return str(elements[0]) if array.ndim == 0 else f"[{', '.join(map(str, elements))}{more}]"


BuildVariant = Callable[[CallFacts, Progress], CompiledModel]


class SpecializingModel(CompiledModel):
    """A model that is compiled at its calls, once for each value of the inputs that are read as values (`TensorSpec.by_value`).

    Calls are those of `CompiledModel`, and take all inputs. The variants are kept, `max_specializations` of them.
    `InvalidInputError` tells of values that the model cannot have.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        options: CompileOptions,
        build: BuildVariant,
        limit: int,
    ) -> None:
        self.options = options
        self._name = name
        self._reading, self._outputs = Reading(tuple(inputs)), tuple(outputs)
        self._build = build
        self._params: ParamTable = {}
        self._variants = Variants(limit)
        self._cancellations = 0

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each input, in order; `by_value` and `by_shape` mark those that code is specialised on.

        A call may find that it depends on more of them.
        """
        return self._reading.specs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each output as the model declares them; values may give others."""
        return self._outputs

    @property
    def build_report(self) -> BuildReport:
        """The kernels of all variants together, and what became of the variants."""
        reports = [variant.build_report for variant in self._variants.kept()]
        return BuildReport(
            sum(each.kernels for each in reports),
            sum(each.compiled for each in reports),
            bool(reports) and all(each.whole for each in reports),
            self._variants.counters(),
        )

    @property
    def profiled(self) -> tuple[str, ...]:
        """None: each variant has kernels of its own, see `specialize`."""
        return ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Those of all variants."""
        return tuple(verdict for variant in self._variants.kept() for verdict in variant.verdicts)

    def specialize(self, *arguments: Any) -> CompiledModel:
        """The model that a call with these arguments runs; it takes the inputs that are not read as values."""
        return self._variant(arguments)[0]

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        variant, rest = self._variant(arguments)
        return variant(rest)

    def run(
        self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> list[np.ndarray]:
        """Run the model with results in the arrays `outputs`, see `CompiledModel.run`."""
        variant, rest = self._variant((inputs,))
        return variant.run(rest, None if outputs is None else outputs_in_order(self._outputs, outputs))

    def run_many(self, requests: Iterable[Any]) -> list[list[np.ndarray]]:
        """The results for each of `requests`; neighbours with equal values run several at a time."""
        resolved = [self._numbered(number, request) for number, request in enumerate(listed(requests))]
        results: list[list[np.ndarray]] = []
        while len(results) < len(resolved):
            begin = len(results)
            variant = resolved[begin][0]
            end = next((at for at in range(begin, len(resolved)) if resolved[at][0] is not variant), len(resolved))
            results += variant._run_numbered([rest for _, rest in resolved[begin:end]], begin)
        return results

    def _numbered(self, number: int, request: Any) -> tuple[CompiledModel, Sequence[Any]]:
        try:
            return self._variant((request,))
        except InvalidInputError as error:
            raise InvalidInputError(f"request {number}: {error}") from error

    def cancel(self) -> None:
        """End all calls that run now in other threads, those that compile too, with `CancelledError`."""
        self._cancellations += 1
        self._variants.cancel()

    def with_params(self, params: ParamTable) -> CompiledModel:
        """The same code with other weights, now and in variants to come, see `CompiledModel.with_params`."""
        check_table("params", params)
        changed = copy.copy(self)
        changed._params = {**self._params, **params}
        changed._variants = self._variants.mapped(lambda variant: variant.with_params(params))
        return changed

    def with_profile(self) -> CompiledModel:
        """The same model with the profile of `compile(..., profile=True)`."""
        changed = copy.copy(self)
        changed.options = replace(self.options, profile=True)
        changed._build = lambda facts, progress: self._build(facts, progress).with_profile()
        changed._variants = self._variants.mapped(lambda variant: variant.with_profile())
        return changed

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:  # type: ignore[override]
        """Refused: an engine has one code."""
        remedy = "save the model of `specialize(...)`, or compile with values= (--value NAME=...)"
        raise InvalidInputError(f"'{self._name}' has code for each value of {self._listed()}, and an engine has one; {remedy}")

    def _runner(self) -> AbstractContextManager[Runner]:
        return nullcontext(self)

    def print_ir(self, stage: Stage = "dl", file: TextIO | None = None) -> str:
        """Refused: there is no one text; `specialize` gives a model that has one."""
        raise InvalidInputError(
            f"'{self._name}' has other code for each value of {self._listed()}; print that of `specialize(...)`"
        )

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, specs)) for specs in (self.inputs, self._outputs))
        return f"<dlc.SpecializingModel {self._name}: ({inputs}) -> ({outputs})>"

    def _listed(self) -> str:
        return ", ".join(f"'{spec.name}'" for spec in self.inputs if spec.by_value or spec.by_shape)

    def _variant(self, arguments: Sequence[Any]) -> tuple[CompiledModel, Sequence[Any]]:
        """The variant for the arguments of a call, and those that it takes."""
        cancellations = self._cancellations
        reading = self._reading
        given = in_order(reading.specs, arguments)
        key = reading.key_of(given)
        variant = self._variants.get(key) if key is not None else None
        if variant is None:
            given = bind_in_order(reading.specs, given)
            variant, reading = self._found(given)
        if self._cancellations != cancellations:
            raise CancelledError("the call was cancelled")
        return variant, [given[at] for at in reading.rest]

    def _found(self, arrays: Sequence[np.ndarray]) -> tuple[CompiledModel, Reading]:
        """The variant for the arrays of all inputs. What a build finds to depend on more inputs is looked for again."""
        while True:
            reading = self._reading
            build = functools.partial(self._built, reading.facts_of(arrays))
            try:
                return self._variants.find(reading.exact_key_of(arrays), build), reading
            except ValuesNeededError as needed:
                self._reading = Reading(marked(reading.specs, needed))
                if self._reading == reading:
                    raise

    def _built(self, facts: CallFacts, progress: Progress) -> CompiledModel:
        try:
            variant = self._build(facts, progress)
        except ValuesNeededError:
            raise
        except UnsupportedError as error:
            raise InvalidInputError(f"with {facts}: {'; '.join(map(str, error.nodes))}") from error
        except (ParseError, VerifyError, PassError) as error:
            raise InvalidInputError(f"with {facts}: {error}") from error
        return variant.with_params(self._params) if self._params else variant


def marked(specs: Sequence[TensorSpec], needed: ValuesNeededError) -> tuple[TensorSpec, ...]:
    """The specs with marks on what `needed` asks for, beside those that are there."""
    return tuple(
        replace(spec, by_value=spec.by_value or spec.name in needed.values, by_shape=spec.by_shape or spec.name in needed.shapes)
        for spec in specs
    )

"""Models that read some inputs as values, such as axes: code is made for these values at the first call, and kept.

TensorRT calls such inputs shape tensors, JAX static arguments.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from dlc.compiler import CompiledModel, Stage
from dlc.errors import CancelledError, InvalidInputError, ParseError, UnsupportedError, ValuesNeededError, VerifyError
from dlc.lowering.deadline import Progress
from dlc.runtime.arguments import bind_in_order, in_order
from dlc.runtime.results import outputs_in_order
from dlc.runtime.signature import TensorSpec
from dlc.sources import ParamTable
from dlc.targets.build_report import BuildReport
from dlc.variants import Variants

if TYPE_CHECKING:
    from dlc.compiler import CompileOptions
    from dlc.verification import Verdict

_MOST_SHOWN = 8


@dataclass(frozen=True)
class Facts:
    """What code is specialised on: elements of inputs, and shapes of others, by name."""

    values: Mapping[str, np.ndarray]
    shapes: Mapping[str, tuple[int, ...]]

    @property
    def key(self) -> Hashable:
        """Equal for equal facts."""
        values = tuple((name, array.shape, array.tobytes()) for name, array in self.values.items())
        return values, tuple(self.shapes.items())

    def __str__(self) -> str:
        shown = [f"input '{name}' as {_show(array)}" for name, array in self.values.items()]
        return ", ".join([*shown, *(f"input '{name}' of shape {list(shape)}" for name, shape in self.shapes.items())])


def _show(array: np.ndarray) -> str:
    elements = array.reshape(-1)[:_MOST_SHOWN].tolist()
    more = ", ..." if array.size > _MOST_SHOWN else ""
    return str(elements[0]) if array.ndim == 0 else f"[{', '.join(map(str, elements))}{more}]"


BuildVariant = Callable[[Facts, Progress], CompiledModel]


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
        self._specs, self._outputs = tuple(inputs), tuple(outputs)
        self._build = build
        self._params: ParamTable = {}
        self._variants = Variants(limit)
        self._cancellations = 0

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each input, in order; `by_value` and `by_shape` mark those that code is specialised on.

        A call may find that it depends on more of them.
        """
        return self._specs

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
        resolved = [self._numbered(number, request) for number, request in enumerate(requests)]
        results: list[list[np.ndarray]] = []
        while len(results) < len(resolved):
            begin = len(results)
            variant = resolved[begin][0]
            end = next((at for at in range(begin, len(resolved)) if resolved[at][0] is not variant), len(resolved))
            results += variant._session.run_many([rest for _, rest in resolved[begin:end]], begin)
        return results

    def _numbered(self, number: int, request: Any) -> tuple[CompiledModel, list[np.ndarray]]:
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

    def print_ir(self, stage: Stage = "dl", file: TextIO | None = None) -> str:
        """Refused: there is no one text; `specialize` gives a model that has one."""
        raise InvalidInputError(
            f"'{self._name}' has other code for each value of {self._listed()}; print that of `specialize(...)`"
        )

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, specs)) for specs in (self._specs, self._outputs))
        return f"<dlc.SpecializingModel {self._name}: ({inputs}) -> ({outputs})>"

    def _listed(self) -> str:
        return ", ".join(f"'{spec.name}'" for spec in self._specs if spec.by_value or spec.by_shape)

    def _variant(self, arguments: Sequence[Any]) -> tuple[CompiledModel, list[np.ndarray]]:
        """The variant for the arguments of a call, and the arrays that it takes."""
        cancellations = self._cancellations
        specs = self._specs
        arrays = bind_in_order(specs, in_order(specs, arguments))
        variant = self._found(arrays)
        if self._cancellations != cancellations:
            raise CancelledError("the call was cancelled")
        values = {spec.name for spec in self._specs if spec.by_value}
        return variant, [array for spec, array in zip(specs, arrays, strict=True) if spec.name not in values]

    def _found(self, arrays: Sequence[np.ndarray]) -> CompiledModel:
        """The variant for the arrays of all inputs. What a build finds to depend on more inputs is looked for again."""
        while True:
            specs = self._specs
            values = {spec.name: array for spec, array in zip(specs, arrays, strict=True) if spec.by_value}
            shapes = {spec.name: array.shape for spec, array in zip(specs, arrays, strict=True) if spec.by_shape}
            facts = Facts(values, shapes)
            try:
                return self._variants.find(facts.key, functools.partial(self._built, facts))
            except ValuesNeededError as needed:
                self._specs = marked(specs, needed)
                if self._specs == specs:
                    raise

    def _built(self, facts: Facts, progress: Progress) -> CompiledModel:
        try:
            variant = self._build(facts, progress)
        except ValuesNeededError:
            raise
        except UnsupportedError as error:
            raise InvalidInputError(f"with {facts}: {'; '.join(map(str, error.nodes))}") from error
        except (ParseError, VerifyError) as error:
            raise InvalidInputError(f"with {facts}: {error}") from error
        return variant.with_params(self._params) if self._params else variant


def marked(specs: Sequence[TensorSpec], needed: ValuesNeededError) -> tuple[TensorSpec, ...]:
    """The specs with marks on what `needed` asks for, beside those that are there."""
    return tuple(
        replace(spec, by_value=spec.by_value or spec.name in needed.values, by_shape=spec.by_shape or spec.name in needed.shapes)
        for spec in specs
    )

"""Models some of whose ops run on the host, with the interface of `CompiledModel`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from dlc.compile_options import Stage
from dlc.compiled_model import CompiledModel
from dlc.diagnostics import did_you_mean
from dlc.errors import CancelledError, InvalidInputError
from dlc.given_values import check_table
from dlc.hosting.graph import GraphSegment, HostGraph
from dlc.hosting.program import HostProgram
from dlc.hosting.segments import CompiledSegment, CompileModel
from dlc.hosting.types import ValueSpec, checked_value, spec_of, takes_list
from dlc.lowering.deadline import Progress
from dlc.runtime.arguments import in_order, listed
from dlc.runtime.callable_model import Runner
from dlc.runtime.results import outputs_in_order, unfit_output
from dlc.runtime.signature import TensorSpec, show_type
from dlc.sources import ParamTable
from dlc.targets.build_report import BuildReport
from dlc.variants import Variants

if TYPE_CHECKING:
    import os

    from dlc.compile_options import CompileOptions
    from dlc.verification import Verdict


class HostedModel(CompiledModel):
    """A model whose ops on strings, sequences, optionals and maps run on the host, between segments of compiled code.

    Calls are those of `CompiledModel`. Tensors of strings are arrays of `str` (dtype object), sequences lists, optionals their
    value or None, maps dictionaries.
    """

    def __init__(self, name: str, graph: HostGraph, options: CompileOptions, compile_segment: CompileModel, limit: int) -> None:
        self.options = options
        self.graph = graph
        self._name = name
        self._compiled = {id(segment): CompiledSegment(segment, compile_segment, Variants(limit)) for segment in graph.segments()}
        self._specs = tuple(spec_of(name, kind) for name, kind in graph.inputs.items())
        self._results = tuple(spec_of(name, kind) for name, kind in graph.outputs.items())
        self._names = frozenset(graph.inputs)
        self._takes_list = len(self._specs) == 1 and takes_list(self._specs[0])
        self._program = HostProgram(graph, self._run_segment)
        self._cancellations = 0

    def prepare(self, progress: Progress | None) -> None:
        """Compile the segments whose types are known."""
        for compiled in self._compiled.values():
            compiled.prepare(progress)

    @property
    def inputs(self) -> tuple[ValueSpec, ...]:  # type: ignore[override]
        """Name and type of each input, in order: a `TensorSpec` for tensors of numbers, else a `HostSpec`."""
        return self._specs

    @property
    def outputs(self) -> tuple[ValueSpec, ...]:  # type: ignore[override]
        """Name and type of each output, in order, as the model declares them."""
        return self._results

    @property
    def host_ops(self) -> tuple[tuple[str, str, str], ...]:
        """Node, op and reason of everything that the host computes."""
        return tuple((step.label, step.op, step.reason) for step in self.graph.host_steps())

    @property
    def build_report(self) -> BuildReport:
        """The kernels of all segments that are compiled by now."""
        reports = [variant.build_report for variant in self._models()]
        whole = bool(reports) and all(each.whole for each in reports)
        return BuildReport(sum(each.kernels for each in reports), sum(each.compiled for each in reports), whole)

    @property
    def profiled(self) -> tuple[str, ...]:
        """None: each segment has kernels of its own."""
        return ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Those of all segments that are compiled by now."""
        return tuple(verdict for variant in self._models() for verdict in variant.verdicts)

    def _models(self) -> list[CompiledModel]:
        return [variant for compiled in self._compiled.values() for variant in compiled.variants.kept()]

    def __call__(self, *arguments: Any) -> list[Any]:
        if len(arguments) == 1 and type(arguments[0]) is dict and arguments[0].keys() == self._names:
            values = {spec.name: checked_value(spec, arguments[0][spec.name]) for spec in self._specs}
        else:
            given = in_order(self._specs, self._wrapped(arguments))  # type: ignore[arg-type]
            values = {spec.name: checked_value(spec, value) for spec, value in zip(self._specs, given, strict=True)}
        return self._program.run(values, self._check_of_call())

    def _wrapped(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """The arguments of a call; a list for the only input, if that is a sequence, is no list of arguments."""
        if not self._takes_list or len(arguments) != 1:
            return arguments
        (given,) = arguments
        is_listed = isinstance(given, list | tuple) and len(given) == 1 and isinstance(given[0], list | tuple | None)
        return arguments if is_listed or isinstance(given, Mapping) else ([given],)

    def _run_segment(self, segment: GraphSegment, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return self._compiled[id(segment)](arrays)

    def _check_of_call(self) -> Callable[[], None]:
        begin = self._cancellations

        def check() -> None:
            if self._cancellations != begin:
                raise CancelledError("the call was cancelled")

        return check

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[Any] | Mapping[str, Any] | None = None) -> list[Any]:
        """Run the model; results that are tensors of numbers are copied into the arrays `outputs`, in order or by name."""
        results = self(inputs)
        if outputs is None:
            return results
        given = outputs_in_order(self._results, outputs)  # type: ignore[arg-type]
        if len(given) != len(results):
            raise InvalidInputError(f"expected {len(results)} output arrays but got {len(given)}")
        triples = zip(self._results, results, given, strict=True)
        return [result if array is None else _copied(spec, result, array) for spec, result, array in triples]

    def run_many(self, requests: Iterable[Any]) -> list[list[Any]]:
        """The results for each of `requests`, one after the other."""
        return [self._numbered(number, request) for number, request in enumerate(listed(requests))]

    def _numbered(self, number: int, request: Any) -> list[Any]:
        try:
            return self(request)
        except InvalidInputError as error:
            raise InvalidInputError(f"request {number}: {error}") from error

    def cancel(self) -> None:
        """End all calls that run now in other threads with `CancelledError`."""
        self._cancellations += 1
        for compiled in self._compiled.values():
            compiled.variants.cancel()

    def with_params(self, params: ParamTable) -> CompiledModel:
        """The same code with other weights, see `CompiledModel.with_params`."""
        check_table("params", params)
        known = {name for compiled in self._compiled.values() for name in compiled.weights()}
        unknown = next((key for key in params if key not in known), None)
        if unknown is not None:
            raise InvalidInputError(f"the model has no parameter '{unknown}'{did_you_mean(unknown, known)}")
        changed = copy.copy(self)
        changed._program = HostProgram(self.graph, changed._run_segment)
        changed._compiled = {key: compiled.with_params(params) for key, compiled in self._compiled.items()}
        return changed

    def with_profile(self) -> CompiledModel:
        """Refused: the profile is one of compiled code."""
        raise InvalidInputError(f"'{self._name}' runs partly on the host; profile its segments as models of their own")

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:  # type: ignore[override]
        """Refused: engines hold compiled code alone."""
        ops = ", ".join(sorted({op for _, op, _ in self.host_ops}))
        remedy = "cut the model, so that these are computed before or after it"
        raise InvalidInputError(f"'{self._name}' runs ops on the host ({ops}), which engines do not hold; {remedy}")

    def _runner(self) -> AbstractContextManager[Runner]:
        return nullcontext(self)

    def print_ir(self, stage: Stage = "dl", file: TextIO | None = None) -> str:
        """Refused: there is no one text."""
        raise InvalidInputError(f"'{self._name}' runs partly on the host, so that it has no one text; `host_ops` says what does")

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, specs)) for specs in (self._specs, self._results))
        return f"<dlc.HostedModel {self._name}: ({inputs}) -> ({outputs})>"


def _copied(spec: ValueSpec, result: Any, array: Any) -> np.ndarray:
    """The caller's array with a result in it."""
    if not isinstance(array, np.ndarray) or not isinstance(result, np.ndarray) or not isinstance(spec, TensorSpec):
        raise InvalidInputError(f"output '{spec.name}' is {spec}; only tensors of numbers go into arrays of the caller")
    if array.dtype != result.dtype or array.shape != result.shape:
        raise unfit_output(spec, array, show_type(spec.dtype, result.shape))
    np.copyto(array, result)
    return array

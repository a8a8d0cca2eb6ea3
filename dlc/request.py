"""What a compilation is asked for, and how a model is read for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dlc.accuracy import Precision, with_accuracy
from dlc.compile_options import CompileOptions
from dlc.compile_record import compile_record
from dlc.compiled_model import CompiledModel, Evaluate
from dlc.donation import donating
from dlc.errors import InvalidInputError
from dlc.lowering.deadline import Progress, timed
from dlc.sources import InputValues, ParamTable, ShapeOverrides, Source
from dlc.targets.registry import find_target
from dlc.variants import MOST_VARIANTS
from dlc.weights import WeightRecipe
from dlc.weights_ahead import WeightsAhead

if TYPE_CHECKING:
    from dlc.verification import Verdict


@dataclass(frozen=True)
class ReadOptions:
    """How a model is read: arguments of `compile`."""

    params: ParamTable | None = None
    shapes: ShapeOverrides | None = None
    lenient: bool = False
    values: InputValues | None = None


@dataclass(frozen=True)
class Request:
    """What a compilation is asked for, beside the model: the arguments of `compile`, checked."""

    options: CompileOptions
    donate: Sequence[str] = ()
    winograd: int | None = None
    precision: Precision | None = None
    timeout: float | None = None
    verify_schedules: bool = False
    evaluate: Evaluate = WeightRecipe.evaluate
    """Gives the arrays that code reads, for a recipe and the arrays of the model."""
    specialize: int | None = None
    """Calls of the same sizes after which these get a version, None for never."""
    must_specialize: bool = False
    """Whether a model that can have no versions for frequent sizes is an error."""
    most_versions: int = MOST_VARIANTS
    """Values that code is made for at calls, and frequent sizes, of which a model keeps the code."""

    def compile(
        self,
        source: Source,
        progress: Progress | None = None,
        begin: float | None = None,
        shapes: ShapeOverrides | None = None,
    ) -> CompiledModel:
        """Compile a source, with the versions that `shapes` and `specialize` ask for; the time that counts starts at `begin`."""
        if self.specialize is None and not shapes:
            return self.compile_alone(source, progress, begin)
        from dlc.versions.building import compile_versions  # what most models do without
        from dlc.versions.sizes import sizes_of_dims

        return compile_versions(self, source, sizes_of_dims(shapes, source), progress, begin)

    def compile_alone(self, source: Source, progress: Progress | None = None, begin: float | None = None) -> CompiledModel:
        """Compile a source, or find what was compiled before; the time that counts starts at `begin` of `time.monotonic`."""
        options = self.options
        progress = timed(self.timeout, source.name, progress, begin)
        source = self.applied(source)
        verdicts = _verified(source, options, progress) if self.verify_schedules else ()
        weights = WeightsAhead(self.evaluate, source.params)
        record, report = compile_record(source, options, progress, weights.begin)
        session = record.code.session(weights.by(record.recipe), options.num_threads, options.memory_limit)
        return CompiledModel(source, session, options, record.recipe, report, record.code, verdicts, self.evaluate)

    def applied(self, source: Source) -> Source:
        """The source with what is asked for written on its module; raises what is wrong with that for its inputs and target."""
        find_target(self.options.target).require_runnable(source.module, self.options.target)
        if self.donate:
            source = donating(source, self.donate)
        return with_accuracy(source, self.winograd, self.precision)


def _verified(source: Source, options: CompileOptions, progress: Progress | None) -> tuple[Verdict, ...]:
    """The verdicts on the schedules of all kernels."""
    from dlc.verification import verify_schedules  # brings isl, which compiling does without

    if options.measure:
        raise InvalidInputError("schedules that are measured cannot be verified; leave out measure or verify_schedules")
    return verify_schedules(source, options.target, schedule=options.schedules, progress=progress)

"""A model that this process has compiled."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

import numpy as np

from dlc.compile_options import CompileOptions, Stage, check_flags
from dlc.compile_record import compile_record
from dlc.diagnostics import did_you_mean
from dlc.errors import InvalidInputError
from dlc.given_values import check_names, check_stream, check_table, path_to_write, writing
from dlc.model_cache import ModelRecord
from dlc.runtime.callable_model import CallableModel
from dlc.runtime.session import Session
from dlc.sources import ParamTable, Source
from dlc.targets.build_report import BuildReport
from dlc.targets.model_code import ModelCode
from dlc.weights import WeightRecipe

if TYPE_CHECKING:
    from dlc.verification import Verdict

Evaluate = Callable[[WeightRecipe, ParamTable], dict[str, np.ndarray]]


class CompiledModel(CallableModel):
    """A model that this process has compiled. Call it with arrays by position, one list of arrays, or one dict by name.

    It returns a list of arrays in the model's order, which own their memory. Several threads may call it at once.
    """

    def __init__(
        self,
        source: Source,
        session: Session,
        options: CompileOptions,
        recipe: WeightRecipe,
        report: BuildReport,
        code: ModelCode,
        verdicts: tuple[Verdict, ...] = (),
        evaluate: Evaluate = WeightRecipe.evaluate,
    ) -> None:
        self._evaluate = evaluate
        self._source = source
        self._session = session
        self._recipe = recipe
        self._report, self._code, self._verdicts = report, code, verdicts
        self.options = options

    @property
    def build_report(self) -> BuildReport:
        """How many kernels it has, and how many of them were compiled for it."""
        return self._report

    @property
    def profiled(self) -> tuple[str, ...]:
        """Names of the kernels by rows of the runtime's profile, from row 1 on; row 0 is all else. None without `profile`."""
        return self._code.profiled

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What `verify_schedules` found out of each kernel; none without it."""
        return self._verdicts

    def with_params(self, params: ParamTable) -> CompiledModel:
        """The same code with other weights: `params` replaces arrays by key. Nothing is compiled.

        `InvalidInputError` names a key that the model does not have, or an array that does not fit.
        """
        check_table("params", params)
        known = self._recipe.known
        unknown = next((key for key in params if key not in known), None)
        if unknown is not None:
            hint = did_you_mean(unknown, known) or f" (parameters: {', '.join(known) or 'none'})"
            raise InvalidInputError(f"the model has no parameter '{unknown}'{hint}")
        source = replace(self._source, params={**self._source.params, **params})
        session = self._session.with_params(self._evaluate(self._recipe, source.params))
        return CompiledModel(source, session, self.options, self._recipe, self._report, self._code, evaluate=self._evaluate)

    def with_code(self, record: ModelRecord, report: BuildReport) -> CompiledModel:
        """The same model with code that was compiled for some of its sizes; weights that are equal are in memory once."""
        session = record.code.session(
            self._evaluate(record.recipe, self._source.params), self.options.num_threads, self.options.memory_limit
        )
        return CompiledModel(self._source, session, self.options, record.recipe, report, record.code, evaluate=self._evaluate)

    def with_profile(self) -> CompiledModel:
        """The same model, on the same weights in memory, with the profile of `compile(..., profile=True)`."""
        options = replace(self.options, profile=True)
        record, report = compile_record(self._source, options, None)
        session = record.code.session_beside(self._session)
        return CompiledModel(self._source, session, options, self._recipe, report, record.code, evaluate=self._evaluate)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        targets: Sequence[str] = (),
        separate_weights: bool = False,
        sign_key: str | os.PathLike[str] | None = None,
        keep: Sequence[str] = (),
    ) -> None:
        """Write the model to the engine file `path`, which `dlc.load`, `dlc_runtime.load` and C programs run without the compiler.

        `targets` (`cpu:x86-64-v3`, `gpu:sm_90`, ...) are what it holds code for, compiled here; none stands for the model's own.
        With `separate_weights` weights go to a file of their own beside it, `<stem>.weights`. Equal models and options give equal
        bytes. `sign_key`, a file with an Ed25519 private key (PEM), signs it for `dlc.load(verify_key=)`.
        `keep` names what it holds beside the code: `ir`, the module after graph passes, which `dlc.compile` and all commands read
        from the engine, and `explain`, what `dlc explain` says of it.
        Raises `TargetError` for a target that engines do not hold.
        """
        from dlc.engines.records import with_records
        from dlc.engines.saving import save_engine  # brings a reader of ELF, which others do without
        from dlc.engines.variants import build_variants, variant_of

        file = path_to_write(path)
        check_names("targets", targets)
        check_names("keep", keep)
        check_flags(separate_weights=separate_weights)
        if targets:
            variants = build_variants(self._source, self.options, targets, self._evaluate)
        else:
            variants = [variant_of(self._source, self.options, self._code, self._session.bound_params)]
        variants = with_records(variants, self._source, self.options, keep)
        with writing(file):
            save_engine(variants, self._source, self.options, file, separate_weights, sign_key)

    def print_ir(self, stage: Stage = "dl", file: TextIO | None = None) -> str:
        """Print the model's IR at a level to `file` (standard output by default) and return the text.

        The level must not be above the one the model came in at.
        """
        from dlc.compiler import lower  # it makes such models

        check_stream(file)
        text = str(lower(self._source, to=stage, target=self.options.target))
        print(text, file=file or sys.stdout)
        return text

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        outputs = ", ".join(map(str, self.outputs))
        return f"<dlc.CompiledModel {self._source.name}: ({inputs}) -> ({outputs})>"

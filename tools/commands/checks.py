"""Other implementations of a model, to compare results with: onnxruntime, ONNX's reference evaluator, the ops' `reference`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dlc.dialects.dl.interpreter import NotInterpretable, interpret
from dlc.errors import DLCError, InvalidInputError
from dlc.lowering.stages import stage_of
from dlc.sources import ShapeOverrides, Source

Arrays = Mapping[str, np.ndarray]
Oracle = Callable[[Arrays], list[np.ndarray]]
CHECKS = ("onnxruntime", "reference")


@dataclass(frozen=True)
class Difference:
    """How far a result is from the expected one.

    `relative` is the largest absolute difference divided by the largest expected magnitude: single elements near zero do not
    count for more than the result's scale. It is infinite where NaN or infinity stand in different places.
    """

    absolute: float
    relative: float

    def within(self, tolerance: float) -> bool:
        return self.relative <= tolerance


def difference(have: np.ndarray, want: np.ndarray) -> Difference:
    """Compare two arrays; differing shapes or dtypes are an infinite difference."""
    if have.shape != want.shape or have.dtype != want.dtype:
        return Difference(np.inf, np.inf)
    if have.size == 0:
        return Difference(0.0, 0.0)
    left, right = have.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(left) & np.isfinite(right)
    if not np.array_equal(left[~finite], right[~finite], equal_nan=True):
        return Difference(np.inf, np.inf)
    absolute = float(np.abs(left[finite] - right[finite]).max(initial=0.0))
    scale = float(np.abs(right[finite]).max(initial=0.0))
    return Difference(absolute, absolute / scale if scale else absolute)


def oracle(check: str, model: Path, source: Source, shapes: ShapeOverrides | None) -> Oracle:
    """A function from named inputs to expected outputs; `DLCError` where `check` can't serve this model."""
    if check == "onnxruntime":
        return _onnxruntime_oracle(model, shapes, source.values)
    level = stage_of(source.module)
    if level != "dl":
        raise InvalidInputError(f"--check=reference: error: '{model}' is at level '{level}'; give the model at level 'dl'")
    return lambda inputs: _by_reference(source, inputs)


def _by_reference(source: Source, inputs: Arrays) -> list[np.ndarray]:
    try:
        return interpret(source.module, list(inputs.values()), source.params)
    except NotInterpretable as error:
        raise DLCError(f"--check=reference: error: {error}") from None


def _onnxruntime_oracle(model: Path, shapes: ShapeOverrides | None, values: Arrays) -> Oracle:
    if model.suffix != ".onnx":
        raise InvalidInputError(f"--check=onnxruntime: error: '{model}' is no ONNX model; use --check=reference")
    try:
        import onnxruntime
    except ImportError:
        raise DLCError("--check=onnxruntime: error: onnxruntime is not installed; pip install onnxruntime") from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    content = _model_bytes(model, shapes)

    def run(inputs: Arrays) -> list[np.ndarray]:
        try:
            session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
            return [np.asarray(array) for array in session.run(None, {**inputs, **values})]
        except Exception as error:  # onnxruntime's own exception types are many
            raise DLCError(f"--check=onnxruntime: error: onnxruntime cannot run the model: {error}") from None

    return run


def _model_bytes(model: Path, shapes: ShapeOverrides | None) -> str | bytes:
    if not shapes:
        return str(model)
    from dlc.frontends.onnx.loader import load_model, override_shapes

    proto, _ = load_model(model)
    return bytes(override_shapes(proto, shapes).SerializeToString())

"""Other implementations of a model, to compare results with: onnxruntime, ONNX's reference evaluator, the ops' `reference`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dlc.dialects.dl.interpreter import NotInterpretable, interpret
from dlc.errors import DLCError, InvalidInputError
from dlc.lowering.stages import stage_of
from dlc.sources import ShapeOverrides, Source

Arrays = Mapping[str, Any]
Oracle = Callable[[Arrays], list[Any]]


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


def difference(have: Any, want: Any) -> Difference:
    """Compare two arrays, or lists of them by the largest difference; other shapes, dtypes, lengths or texts are infinitely far."""
    far = Difference(np.inf, np.inf)
    if not isinstance(have, np.ndarray) or not isinstance(want, np.ndarray):
        return _difference_of_others(have, want)
    if have.shape != want.shape or have.dtype != want.dtype:
        return far
    if have.dtype == object:
        return Difference(0.0, 0.0) if np.array_equal(have, want) else far
    if have.size == 0:
        return Difference(0.0, 0.0)
    left, right = have.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(left) & np.isfinite(right)
    if not np.array_equal(left[~finite], right[~finite], equal_nan=True):
        return Difference(np.inf, np.inf)
    absolute = float(np.abs(left[finite] - right[finite]).max(initial=0.0))
    scale = float(np.abs(right[finite]).max(initial=0.0))
    return Difference(absolute, absolute / scale if scale else absolute)


def _difference_of_others(have: Any, want: Any) -> Difference:
    """Of sequences, optionals and maps."""
    if not isinstance(have, list) or not isinstance(want, list):
        return Difference(0.0, 0.0) if have == want else Difference(np.inf, np.inf)
    if len(have) != len(want):
        return Difference(np.inf, np.inf)
    found = [difference(*pair) for pair in zip(have, want, strict=True)]
    return Difference(max((each.absolute for each in found), default=0.0), max((each.relative for each in found), default=0.0))


def oracle(check: str, model: Path, source: Source | None, shapes: ShapeOverrides | None, values: Arrays) -> Oracle:
    """A function from named inputs to expected outputs; `DLCError` where `check` can't serve this model.

    `source` is None for a model that runs partly on the host, `values` are inputs that are constants.
    """
    if check == "onnxruntime":
        return _onnxruntime_oracle(model, shapes, values)
    if source is None:
        raise InvalidInputError(f"--check=reference: error: '{model}' runs partly on the host; use --check=onnxruntime")
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

    def run(inputs: Arrays) -> list[Any]:
        try:
            session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
            return [each if isinstance(each, list) else np.asarray(each) for each in session.run(None, {**inputs, **values})]
        except Exception as error:  # onnxruntime's own exception types are many
            raise DLCError(f"--check=onnxruntime: error: onnxruntime cannot run the model: {error}") from None

    return run


def _model_bytes(model: Path, shapes: ShapeOverrides | None) -> str | bytes:
    if not shapes:
        return str(model)
    from dlc.frontends.onnx.input_shapes import input_shapes
    from dlc.frontends.onnx.loader import load_model, override_shapes

    proto, _ = load_model(model)
    return bytes(override_shapes(proto, input_shapes(proto, shapes) or {}).SerializeToString())

"""What becomes of a test in an engine, and whether its outputs are the right ones."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx

from bench.conformance.suite import Case, data_of, model_of
from dlc.option_values import DEFAULT_TARGET

STATUSES = ("passed", "refused", "wrong", "crash", "timeout", "traceback", "absent")
"""passed; refused with a message; other numbers, shapes or types; the process died; no end in time; another exception;
files that the package does not hold."""

_BFLOAT16_RTOL = 2**-6
"""Two units in the last place, as the suite's own runner has it."""


@dataclass(frozen=True)
class Outcome:
    """The fate of one test: a word of `STATUSES`, why, and the seconds that it took."""

    name: str
    kind: str
    status: str
    cause: str = ""
    seconds: float = 0.0


_RANDOM = frozenset({"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"})


def run_case(case: Case, engine: str, target: str = DEFAULT_TARGET) -> Outcome:
    """Run one test in this process; dlc compiles it for `target`."""
    if not case.is_here:
        return Outcome(case.name, case.kind, "absent", "its files would be downloaded")
    begin = time.perf_counter()
    status, cause = _fate(case, _RUNNERS[engine], target)
    return Outcome(case.name, case.kind, status, cause, round(time.perf_counter() - begin, 3))


def _fate(case: Case, runner: type[DlcRunner] | type[OrtRunner], target: str) -> tuple[str, str]:
    try:
        model = model_of(case)
        prepared = runner(model, target)
        for data in data_of(case, model):
            compared = replace(case, rtol=np.inf) if _is_random(model, data.inputs) else case
            difference = _difference(prepared.run(data.inputs), data.outputs, compared)
            if difference:
                return "wrong", difference
    except Exception as error:  # what an engine raises tells whether it refuses or fails
        return ("refused" if runner.refuses(error) else "traceback"), cause_of(error)
    return "passed", ""


class DlcRunner:
    """A model compiled by dlc for one thread, or for a GPU."""

    def __init__(self, model: onnx.ModelProto, target: str) -> None:
        import dlc

        self._model = dlc.compile(model, target, num_threads=1)

    def run(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """The outputs of one call; inputs that are weights with a default are left out."""
        return list(self._model(*inputs[: len(self._model.inputs)]))

    @staticmethod
    def refuses(error: Exception) -> bool:
        """Whether an exception is a message for the user."""
        import dlc

        return isinstance(error, dlc.DLCError)


class OrtRunner:
    """A session of onnxruntime on the CPU."""

    def __init__(self, model: onnx.ModelProto, target: str) -> None:
        import onnxruntime

        del target  # of dlc alone
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def run(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """The outputs of one call."""
        names = [entry.name for entry in self._session.get_inputs()]
        return list(self._session.run(None, dict(zip(names, inputs, strict=False))))

    @staticmethod
    def refuses(error: Exception) -> bool:
        """Whether an exception is the engine's own."""
        return isinstance(error, RuntimeError) or type(error).__module__.startswith("onnxruntime")


_RUNNERS: dict[str, type[DlcRunner] | type[OrtRunner]] = {"dlc": DlcRunner, "onnxruntime": OrtRunner}
ENGINES = tuple(_RUNNERS)


def _is_random(model: onnx.ModelProto, inputs: Sequence[Any]) -> bool:
    """Whether numbers are drawn: ONNX leaves open which, so that only types and shapes of results count."""
    known = dict(zip((entry.name for entry in model.graph.input), inputs, strict=False))
    return any(node.op_type in _RANDOM or _drops(node, known) for node in model.graph.node)


def _drops(node: onnx.NodeProto, known: Mapping[str, Any]) -> bool:
    """Whether a Dropout is in training mode; with a ratio of 0 it gives its input."""
    if node.op_type != "Dropout" or len(node.input) < 3:
        return False
    return bool(np.any(known.get(node.input[2], False))) and bool(np.any(known.get(node.input[1], 0.5)))


def _difference(have: Any, want: Any, case: Case) -> str:
    """How outputs differ from those of the suite; empty where they do not."""
    if isinstance(want, (list, tuple)):
        if not isinstance(have, (list, tuple)) or len(have) != len(want):
            return "another number of outputs"
        return next((found for left, right in zip(have, want, strict=True) if (found := _difference(left, right, case))), "")
    if want is None or have is None:
        return "" if have is want else "another kind of output"
    left, right = np.asarray(have), np.asarray(want)
    if left.shape != right.shape:
        return f"shape {left.shape}, not {right.shape}"
    if right.dtype == object or right.dtype.kind in "US":
        return "" if np.array_equal(left.astype(object), right.astype(object)) else "another text"
    if left.dtype != right.dtype:
        return f"element type {left.dtype}, not {right.dtype}"
    return "" if _is_close(left, right, case) else "another number"


def _is_close(left: np.ndarray, right: np.ndarray, case: Case) -> bool:
    if np.isinf(case.rtol):
        return True
    rtol = max(case.rtol, _BFLOAT16_RTOL) if right.dtype.name == "bfloat16" else case.rtol
    if right.dtype.kind not in "biufc":  # the types of ml_dtypes
        left, right = left.astype(np.float32), right.astype(np.float32)
    return bool(np.allclose(left, right, rtol=rtol, atol=case.atol, equal_nan=right.dtype.kind in "fc"))


def cause_of(error: Exception) -> str:
    """The kind of a message: its first reason, without names and numbers."""
    nodes = getattr(error, "nodes", ())
    if nodes:
        reason = nodes[0].reason
        return f"{nodes[0].op}: {reason}" if "op is not supported" in reason else _general(reason)
    lines = [line.strip() for line in str(error).strip().splitlines()] or ["no reason given"]
    first = lines[1] if lines[0].endswith(":") and len(lines) > 1 else lines[0]
    return _general(first if hasattr(error, "diagnostics") else f"{type(error).__name__}: {first}")


def _general(text: str) -> str:
    text = re.sub(r"^\S+: error: ", "", text)
    text = re.sub(r"'[^']*'", "'_'", text)
    text = re.sub(r"\(\d[^)]*\)|\[[^\]]*\]", "_", text)
    return re.sub(r"(?<![a-z0-9])-?\d+(\.\d+)?", "N", text)[:160]

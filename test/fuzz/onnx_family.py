"""Mutated ONNX files: imported, compiled, run, and compared with the reference implementations.

What dlc takes although neither onnx nor onnxruntime do is worth a look.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import onnx
from google.protobuf.message import DecodeError

import dlc
from dlc.errors import DLCError
from fuzz.cases import ACCEPTANCE, GOOD, Phase, Verdict
from fuzz.judging import judge, shape_of
from fuzz.numbers import compile_and_compare
from fuzz.onnx_corpus import all_models, small_models
from fuzz.onnx_edits import mutated
from fuzz.reducing import without_parts

_LISTS = ("node", "initializer", "value_info", "output", "input", "quantization_annotation", "sparse_initializer")


class OnnxFamily:
    """`small` takes the corpus that is built at once."""

    name, suffix, batch, weight = "onnx", ".onnx", 100, 20

    def __init__(self, small: bool = False) -> None:
        self._small = small
        self._corpus: Sequence[bytes] = ()

    def prepare(self) -> None:
        import onnx.checker
        import onnxruntime

        onnxruntime.set_default_logger_severity(4)
        self._corpus = small_models() if self._small else all_models()
        dlc.compile(onnx.ModelProto.FromString(self._corpus[0]), num_threads=1)  # imports what every case needs

    def make(self, random: Random) -> bytes:
        return mutated(random, self._corpus)

    def execute(self, payload: bytes, phase: Phase) -> Verdict:
        with tempfile.TemporaryDirectory(prefix="dlc-fuzz-") as folder:
            file = Path(folder) / "model.onnx"
            file.write_bytes(payload)
            return _execute(file, payload, phase)

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        model = _parsed(payload)
        if model is None:
            yield from (bytes(part) for part in without_parts(payload))
            return
        for name in _LISTS:
            yield from _without_items(model, ("graph", name))
        for name in ("opset_import", "functions", "metadata_props", "training_info"):
            yield from _without_items(model, (name,))
        for index, node in enumerate(model.graph.node):
            for name in ("attribute", "input", "output"):
                if len(getattr(node, name)):
                    yield from _without_items(model, ("graph", "node", index, name))


def _execute(file: Path, payload: bytes, phase: Phase) -> Verdict:
    phase("import")
    try:
        source = dlc.import_onnx(file)
        verdict = compile_and_compare(source, phase)
    except DLCError as error:
        return judge(error)
    if verdict.kind not in GOOD:
        return verdict
    phase("oracle: onnx and onnxruntime")
    refusal = _refusal(payload)
    return Verdict(ACCEPTANCE, shape_of(refusal), refusal) if refusal else verdict


def _refusal(payload: bytes) -> str:
    """Why neither onnx's checker nor onnxruntime take the model; empty if one does."""
    import onnxruntime

    try:
        onnx.checker.check_model(payload, full_check=True)
        return ""
    except Exception as error:
        reason = str(error)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        onnxruntime.InferenceSession(payload, options, providers=["CPUExecutionProvider"])
    except Exception:
        return reason
    return ""


def _parsed(payload: bytes) -> onnx.ModelProto | None:
    try:
        return onnx.ModelProto.FromString(payload)
    except DecodeError:
        return None


def _without_items(model: onnx.ModelProto, path: Sequence[str | int]) -> Iterator[bytes]:
    """Models without parts of one repeated field."""
    items = list(_at(model, path))
    for kept in without_parts(range(len(items))):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        target = _at(copy, path)
        for index in reversed(range(len(items))):
            if index not in kept:
                del target[index]
        yield copy.SerializeToString()


def _at(message: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        message = message[step] if isinstance(step, int) else getattr(message, step)
    return message

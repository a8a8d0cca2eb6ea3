"""The tests of `onnx.backend.test`: models with inputs, and the outputs that an engine must give."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.backend.test
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
"""The groups of the suite; `real` holds whole networks."""

_LIGHT = "onnx/backend/test/data/light/"
_DATA = Path(onnx.backend.test.__file__).parent / "data"


@dataclass(frozen=True)
class Case:
    """One test: its name and group, the tolerances of its numbers, and where model and data come from."""

    name: str
    kind: str
    rtol: float
    atol: float
    source: Any

    @property
    def is_here(self) -> bool:
        """Whether the package holds the test's files; the others would be downloaded."""
        return self.source.url is None or self.source.url.startswith(_LIGHT)


@dataclass(frozen=True)
class Data:
    """Inputs of one call in the model's order, and the outputs that belong to them."""

    inputs: Sequence[Any]
    outputs: Sequence[Any]


def load_cases(kinds: Sequence[str] = KINDS, pattern: str = "") -> list[Case]:
    """The tests of some groups whose names hold a match of `pattern`, those first that are quick."""
    found: list[Case] = []
    for kind in kinds:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            tests = load_model_tests(kind=kind)
        found += [Case(test.name, kind, test.rtol, test.atol, test) for test in tests if re.search(pattern, test.name)]
    return found


def model_of(case: Case) -> onnx.ModelProto:
    """The model of a test whose files are here."""
    if case.source.model is not None:
        return case.source.model
    return onnx.load(_light_model(case) if case.source.url else Path(case.source.model_dir) / "model.onnx")


def data_of(case: Case, model: onnx.ModelProto) -> Iterator[Data]:
    """Inputs and outputs of each call of a test."""
    if case.source.data_sets is not None:
        for inputs, outputs in case.source.data_sets:
            yield Data([_value(item) for item in inputs], [_value(item) for item in outputs])
        return
    if case.source.url:
        yield _light_data(case, model)
        return
    for folder in sorted(Path(case.source.model_dir).glob("test_data_set*")):
        yield Data(_read(folder, "input", model.graph.input), _read(folder, "output", model.graph.output))


def _light_model(case: Case) -> Path:
    return _DATA / "light" / case.source.url.removeprefix(_LIGHT)


def _light_data(case: Case, model: onnx.ModelProto) -> Data:
    """The ramps that the suite's own runner feeds to networks whose weights are made up, and what comes out."""
    weights = {entry.name for entry in model.graph.initializer}
    shapes = [_shape(entry) for entry in model.graph.input if entry.name not in weights]
    inputs = [(np.arange(np.prod(shape)).reshape(shape) / np.prod(shape)).astype(np.float32) for shape in shapes]
    stem = _light_model(case).with_suffix("")
    files = [stem.with_name(f"{stem.name}_output_{index}.pb") for index in range(len(model.graph.output))]
    return Data(inputs, [_read_value(file, entry) for file, entry in zip(files, model.graph.output, strict=True)])


def _shape(entry: onnx.ValueInfoProto) -> tuple[int, ...]:
    return tuple(dim.dim_value if dim.HasField("dim_value") else 1 for dim in entry.type.tensor_type.shape.dim)


def _read(folder: Path, what: str, entries: Sequence[onnx.ValueInfoProto]) -> list[Any]:
    count = len(list(folder.glob(f"{what}_*.pb")))
    return [_read_value(folder / f"{what}_{index}.pb", entries[index]) for index in range(count)]


def _read_value(file: Path, entry: onnx.ValueInfoProto) -> Any:
    kinds = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}
    proto = kinds.get(entry.type.WhichOneof("value") or "", onnx.TensorProto)()
    proto.ParseFromString(file.read_bytes())
    return _value(proto)


def _value(item: Any) -> Any:
    """An array, or a list of them or None for what is a sequence or optional."""
    if isinstance(item, onnx.TensorProto):
        return numpy_helper.to_array(item)
    if isinstance(item, onnx.SequenceProto):
        return numpy_helper.to_list(item)
    if isinstance(item, onnx.OptionalProto):
        return numpy_helper.to_optional(item)
    return np.asarray(item) if isinstance(item, np.generic) else item

"""What the tables measure: a model by name with its inputs, and what it computes and moves."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx

import dlc
from dlc.measuring.inputs import input_specs

_LARGE = 1 << 30
"""Bytes of weights from which a model goes to two files: a protobuf message ends at 2 GiB."""


@dataclass(frozen=True)
class Case:
    """A model of a table. `flops` and `moved` (bytes) are those of one call, 0 where nobody counts them.

    `values` are inputs that are not random (an array, or a number that fills the input); `sizes` are those of dynamic dims; dlc may
    write inputs that are in `donate`. `inputs` are all of a model that takes strings. `tolerance` is the largest relative
    difference of an output that is right, where it is more than that of the precision.
    """

    name: str
    build: Callable[[], onnx.ModelProto]
    flops: float = 0.0
    moved: float = 0.0
    values: Mapping[str, int | np.ndarray] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    donate: tuple[str, ...] = ()
    tolerance: float = 0.0
    inputs: Mapping[str, np.ndarray] | None = None

    @contextmanager
    def files(self) -> Iterator[tuple[Path, dict[str, np.ndarray]]]:
        """The model as a file that lives as long as the block, and arrays for its inputs."""
        with tempfile.TemporaryDirectory(prefix="dlc-bench-") as folder:
            file = Path(folder) / "model.onnx"
            model = self.build()
            specs = input_specs(model) if self.inputs is None else ()
            onnx.save(model, file, save_as_external_data=model.ByteSize() > _LARGE)
            del model
            inputs = dict(self.inputs or dlc.random_inputs(specs, sizes=self.sizes))
            yield file, inputs | {name: np.full_like(inputs[name], value) for name, value in self.values.items()}

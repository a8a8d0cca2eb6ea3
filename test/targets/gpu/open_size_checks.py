"""Models of open sizes on the fake GPU beside onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
import pytest
from reference_session import reference_session

import dlc

pytest.importorskip("onnxruntime")

Integers = Callable[[np.random.Generator, Mapping[str, int], str, Sequence[int]], np.ndarray]
"""Values of an input of integers, of random numbers, the sizes by name, and its name and shape."""


def check_sizes(
    model: onnx.ModelProto, sizes: Sequence[Mapping[str, int]], integers: Integers, tolerance: float
) -> dlc.CompiledModel:
    """The model compiled for `gpu`, whose results are onnxruntime's at all sizes; inputs of floats are random."""
    compiled = dlc.compile(model, "gpu", cache=False)
    session = reference_session(model)
    for seed, given in enumerate(sizes):
        random = np.random.default_rng(seed)
        inputs = {}
        for entry in model.graph.input:
            kind = entry.type.tensor_type
            shape = [dim.dim_value or given[dim.dim_param] for dim in kind.shape.dim]
            is_float = kind.elem_type == onnx.TensorProto.FLOAT
            values = random.standard_normal(shape) if is_float else integers(random, given, entry.name, shape)
            inputs[entry.name] = np.asarray(values, np.float32 if is_float else np.int64)
        for mine, theirs in zip(compiled.run(inputs), session.run(None, inputs), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance, err_msg=str(given))
    return compiled

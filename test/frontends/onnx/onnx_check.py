"""What the importer tests share: small models of a few nodes, compared with onnxruntime, and the onnx package's node tests."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from reference_session import reference_session

import dlc
from dlc.targets.machine import host_facts

OPSET = 21
_RTOL = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 2e-5, np.dtype(np.float16): 4e-3}
_NO_DTYPE = "element type"


def weight_limits(dtype: type) -> tuple[int, int]:
    """The least and the largest byte of weights of which onnxruntime computes exact products here.

    Without VNNI it adds pairs of products of unsigned and signed bytes in i16, with saturation, so those have 7 bits.
    """
    if dtype == np.int8 and not host_facts().prefers_vnni:
        return -64, 63
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def node(
    op: str, inputs: Sequence[str], outputs: Sequence[str] | None = None, domain: str = "", **attributes: Any
) -> onnx.NodeProto:
    """A node whose outputs are named by `outputs`, or by its op, inputs and attributes."""
    label = "_".join([op, *inputs, *(f"{key}_{value}" for key, value in attributes.items())])
    return helper.make_node(op, list(inputs), list(outputs or [label]), domain=domain, **attributes)


def build_model(
    nodes: Sequence[onnx.NodeProto],
    feeds: Mapping[str, np.ndarray],
    constants: Mapping[str, np.ndarray] | None = None,
    opset: int = OPSET,
    dynamic: bool = False,
) -> onnx.ModelProto:
    """A model of nodes whose outputs, where no other node reads them, are its outputs; `dynamic` leaves every dim open."""
    read = {name for item in nodes for name in item.input}
    made = [name for item in nodes for name in item.output if name and name not in read]
    inputs = [_value_info(name, array, dynamic) for name, array in feeds.items()]
    graph = helper.make_graph(
        list(nodes),
        "test",
        inputs,
        [onnx.ValueInfoProto(name=name) for name in made],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    domains = {item.domain for item in nodes if item.domain}
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in sorted(domains))]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    inferred = onnx.shape_inference.infer_shapes(model)
    return _with_output_types(inferred, feeds)


def check(
    nodes: Sequence[onnx.NodeProto],
    feeds: Mapping[str, np.ndarray],
    constants: Mapping[str, np.ndarray] | None = None,
    opset: int = OPSET,
    dynamic: bool | None = None,
    rtol: float | None = None,
) -> None:
    """Compare dlc with onnxruntime on a model of nodes; `dynamic` None tries static and open dims."""
    for open_dims in (False, True) if dynamic is None else (dynamic,):
        model = build_model(nodes, feeds, constants, opset, open_dims)
        session = reference_session(model)
        expected = session.run(None, dict(feeds))
        found = dlc.compile(model)(dict(feeds))
        for output, have, want in zip(model.graph.output, found, expected, strict=True):
            compare(have, np.asarray(want), output.name, rtol)


def compare(have: np.ndarray, want: np.ndarray, name: str, rtol: float | None = None, atol: float | None = None) -> None:
    """Equal for integers, close for floats; `rtol` and `atol` are at least these."""
    assert have.dtype == want.dtype and have.shape == want.shape, f"{name}: {have.dtype}{have.shape}, not {want.dtype}{want.shape}"
    if want.dtype.kind in "iub":
        np.testing.assert_array_equal(have, want, err_msg=name)
        return
    limit = max(_RTOL.get(want.dtype, 1.6e-2), rtol or 0.0)
    wide_have, wide_want = have.astype(np.float64), want.astype(np.float64)
    finite = np.abs(wide_want[np.isfinite(wide_want)])
    scale = max(limit * float(finite.mean()) if finite.size else 0.0, atol or 0.0)
    np.testing.assert_allclose(wide_have, wide_want, rtol=limit, atol=scale, err_msg=name)


def check_backend_cases(op: str) -> int:
    """Run the onnx package's node tests of one op; the number of those that dlc's element types allow.

    Raises AssertionError with every failure.
    """
    failures, passed = [], 0
    for case in _backend_cases().get(op, ()):
        try:
            passed += _run_backend_case(case)
        except Exception as error:  # all failures of the op are reported together
            failures.append(f"{case.name}: {type(error).__name__}: {str(error).strip()[:400]}")
    assert not failures, "\n".join(failures)
    return passed


def _run_backend_case(case: Any) -> bool:
    model = case.model
    names = [entry.name for entry in model.graph.input]
    for raw_inputs, raw_outputs in case.data_sets:
        inputs, outputs = ([_array(item) for item in group] for group in (raw_inputs, raw_outputs))
        if not all(isinstance(array, np.ndarray) for array in (*inputs, *outputs)):
            return False
        feeds = dict(zip(names, inputs, strict=True))
        try:
            compiled = dlc.compile(model)
        except dlc.UnsupportedError as error:
            if _NO_DTYPE in str(error):
                return False
            raise
        for have, want, entry in zip(compiled(feeds), outputs, model.graph.output, strict=True):
            compare(have, want, entry.name, case.rtol, case.atol)
    return True


def _array(item: Any) -> Any:
    """The array of a tensor; sequences and other values stay as they are."""
    return numpy_helper.to_array(item) if isinstance(item, onnx.TensorProto) else np.asarray(item) if np.isscalar(item) else item


@functools.lru_cache(maxsize=1)
def _backend_cases() -> Mapping[str, list[Any]]:
    """The node tests of single nodes by op; importing them takes seconds, so it waits until a test asks."""
    from onnx.backend.test.case.node import collect_testcases

    found: dict[str, list[Any]] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            if len(case.model.graph.node) == 1:
                found.setdefault(case.model.graph.node[0].op_type, []).append(case)
    return found


def _value_info(name: str, array: np.ndarray, dynamic: bool) -> onnx.ValueInfoProto:
    shape: list[int | str] = [f"{name}_{axis}" if dynamic else size for axis, size in enumerate(array.shape)]
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape)


def _with_output_types(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    """Give outputs that ONNX could not infer (ops of other domains) the first input's element type."""
    for entry in model.graph.output:
        if not entry.type.tensor_type.elem_type:
            first = next(iter(feeds.values()))
            entry.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(first.dtype)
    return model

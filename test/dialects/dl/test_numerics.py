"""Every dl op, compiled, against its reference implementation: each case in each dtype, static and with every dim dynamic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from _pytest.mark.structures import ParameterSet
from case import Case, all_cases

import dlc
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.dialects.dl import ops
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.storage import STORAGE
from dlc.dialects.dl.types import FLOATS, TensorType, mlir_type, type_of_array

_CASES = all_cases()
_RTOL = {"f64": 1e-12, "f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2}


@pytest.mark.parametrize("case", _CASES, ids=[case.label for case in _CASES])
def test_reference_has_the_inferred_type(case: Case) -> None:
    for dtype in case.run_dtypes():
        arrays = case.arrays(dtype)
        types = [_types(given, dynamic=False) for given in arrays]
        inferred = ops()[case.op].inferred_types(*types, **_attributes(case))
        for want, have in zip(inferred, _expected(case, arrays), strict=True):
            assert type_of_array(have).dtype == want.dtype
            known = [dim if dim is not None else size for dim, size in zip(want.shape, have.shape, strict=True)]
            assert tuple(known) == have.shape


_EVERY = 12
"""Of an op's static cases, `make check` compiles each so many-th."""


def _compilations() -> Iterator[ParameterSet]:
    """Every case in all its types, with static and with dynamic dims; `make check` has a part of them.

    It has an op's first and each `_EVERY`-th static case in each second type, ops taking turns, and its first with dynamic dims
    in two types. Those of more types are slow, and so are the other cases.
    """
    seen: Counter[str] = Counter()
    for case in _CASES:
        number, dtypes = seen[case.op], case.run_dtypes()
        turn = len(seen) % 2 if len(dtypes) > 1 else 0
        seen[case.op] += 1
        chosen = {"static": [] if number % _EVERY else dtypes[turn::2], "dynamic": [] if number else dtypes[:2]}
        for dims, some in chosen.items():
            if some:
                yield pytest.param(case, dims, some, id=f"{case.label}-{dims}-{'-'.join(some)}")
            if len(some) < len(dtypes):
                yield pytest.param(case, dims, dtypes, id=f"{case.label}-{dims}", marks=[pytest.mark.slow])


@pytest.mark.parametrize(("case", "dims", "dtypes"), list(_compilations()))
def test_compiled_op_matches_its_reference_implementation(case: Case, dims: str, dtypes: Sequence[str]) -> None:
    if dims == "dynamic" and not case.dynamic:
        pytest.skip(case.reason or "the op needs static dims")
    runs = {dtype: case.arrays(dtype) for dtype in dtypes}
    compiled = dlc.compile(_module(case, runs, dynamic=dims == "dynamic"))
    flat = [array for arrays in runs.values() for array in _flat(arrays)]
    results = iter(compiled(*flat))
    for dtype, arrays in runs.items():
        for want in _expected(case, arrays):
            _compare(case, dtype, next(results), want)


def _module(case: Case, runs: dict[str, list[Any]], dynamic: bool) -> ir.Module:
    """One function that applies the op once per dtype, so that one compilation covers them all."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.create()
        types = [mlir_type(_types(array, dynamic)) for arrays in runs.values() for array in _flat(arrays)]
        attributes: dict[str, ir.Attribute] = {"sym_name": ir.StringAttr.get("main_graph")}
        attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
        point = ir.InsertionPoint(module.body)
        function = ir.Operation.create("func.func", attributes=attributes, regions=1, ip=point)
        block = function.regions[0].blocks.append(*types, arg_locs=[ir.Location.unknown()] * len(types))
        arguments = iter(block.arguments)
        with ir.InsertionPoint(block):
            results: list[ir.Value] = []
            for arrays in runs.values():
                operands = [_take(given, arguments) for given in arrays]
                results.extend(ops()[case.op].create(*operands, **_attributes(case)).results)
            ir.Operation.create("func.return", operands=results)
        kind = ir.FunctionType.get(types, [value.type for value in results])
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
        module.operation.verify()
        return module


def _compare(case: Case, dtype: str, have: np.ndarray, want: np.ndarray) -> None:
    assert have.dtype == want.dtype and have.shape == want.shape, f"{dtype}: {have.dtype}{have.shape}"
    kind = type_of_array(want).dtype
    if kind in STORAGE:
        have, want, kind = have.astype(np.float32), want.astype(np.float32), ""
    if kind not in FLOATS:
        np.testing.assert_array_equal(have, want, err_msg=dtype)
        return
    wide_want, wide_have = want.astype(np.float64), have.astype(np.float64)
    finite = np.abs(wide_want[np.isfinite(wide_want)])
    rtol = case.rtol.get(dtype, _RTOL[kind])
    atol = case.atol.get(dtype, rtol * float(finite.mean()) if finite.size else 0.0)
    np.testing.assert_allclose(wide_have, wide_want, rtol=rtol, atol=atol, err_msg=dtype)


def _expected(case: Case, arrays: list[Any]) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        found = ops()[case.op].reference(*arrays, **_attributes(case))
    return list(found) if isinstance(found, tuple) else [found]


def _attributes(case: Case) -> dict[str, Any]:
    """Attributes with defaults filled in."""
    return ops()[case.op].bind_attributes(case.attributes)


def _types(given: Any, dynamic: bool) -> Any:
    if given is None:
        return None
    if isinstance(given, list):
        return tuple(_types(item, dynamic) for item in given)
    plain = type_of_array(given)
    return TensorType((None,) * plain.rank, plain.dtype) if dynamic else plain


def _take(given: Any, arguments: Any) -> Any:
    if given is None:
        return None
    return [next(arguments) for _ in given] if isinstance(given, list) else next(arguments)


def _flat(arrays: list[Any]) -> list[np.ndarray]:
    return [item for given in arrays for item in (given if isinstance(given, list) else [given]) if item is not None]


@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("op", ["arg_max", "arg_min"])
def test_place_in_rows_that_turn_out_empty_is_0(op: str, last: bool) -> None:
    with Graph() as graph:
        x = graph.input("x", ("rows", "columns"))
        graph.output("place", ops()[op].build(x, axis=1, select_last_index=last))
    empty = np.ones((2, 0), np.float32)
    (found,) = dlc.compile(graph.module, num_threads=1)(empty)
    np.testing.assert_array_equal(found, [0, 0])
    np.testing.assert_array_equal(ops()[op].reference(empty, axis=1, keepdims=False, select_last_index=last), [0, 0])

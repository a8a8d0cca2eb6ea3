"""ONNX matrix products against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx_check import build_model, check, check_backend_cases, node, weight_limits

import dlc
from dlc.dialects import make_context
from dlc.frontends.onnx.importer import import_model

_GENERATOR = np.random.default_rng(11)


def _random(*shape: int) -> np.ndarray:
    return _GENERATOR.standard_normal(shape).astype(np.float32)


def _bytes(*shape: int, dtype: type = np.uint8) -> np.ndarray:
    low, high = weight_limits(dtype)
    return _GENERATOR.integers(low, high, shape, endpoint=True).astype(dtype)


_RANKS = [((4,), (4,)), ((4,), (4, 3)), ((2, 4), (4,)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 1, 3, 4), (5, 4, 2))]


def test_ranks_of_matmul() -> None:
    feeds = {f"{name}{index}": _random(*shape) for index, pair in enumerate(_RANKS) for name, shape in zip("ab", pair, strict=True)}
    check([node("MatMul", [f"a{index}", f"b{index}"]) for index in range(len(_RANKS))], feeds)


def test_bias_of_gemm() -> None:
    shapes = [(3, 5), (5,), (3, 1), (1,), ()]
    biases = {f"c{index}": _random(*shape) for index, shape in enumerate(shapes)}
    check([node("Gemm", ["a", "b", name], beta=0.5) for name in biases], {"a": _random(3, 4), "b": _random(4, 5), **biases})


@pytest.mark.parametrize("opset", [7, 13])
def test_transposed_gemm(opset: int) -> None:
    a, b = _random(3, 4), _random(4, 5)
    arrays = {"a": a, "b": b, "at": a.T.copy(), "bt": b.T.copy(), "c": _random(5)}
    pairs = [(left, right) for left in ("a", "at") for right in ("b", "bt")]
    flags = [{"transA": int(left == "at"), "transB": int(right == "bt"), "alpha": 0.25} for left, right in pairs]
    nodes = [node("Gemm", [*pair, "c"], **flag) for pair, flag in zip(pairs, flags, strict=True)]
    check(nodes, arrays, opset=opset)
    weights = {name: arrays.pop(name) for name in ("b", "bt", "c")}
    check(nodes, arrays, weights, opset=opset, dynamic=False)


def test_constant_weights_are_transposed_at_import() -> None:
    model = build_model([node("Gemm", ["a", "b"], transB=1)], {"a": _random(3, 4)}, {"b": _random(50, 4)})
    imported = import_model(model, make_context())
    assert "dl.transpose" not in str(imported.module)
    assert [array.shape for array in imported.params.values()] == [(4, 50)]


_EQUATIONS = {
    "bhqd,bhkd->bhqk": ((2, 3, 4, 5), (2, 3, 6, 5)),
    "bhqk,bhkd->bqhd": ((2, 3, 4, 6), (2, 3, 6, 5)),
    "ij,jk": ((3, 4), (4, 5)),
    "abc,cd->abd": ((2, 3, 4), (4, 5)),
    "abc,cde->abde": ((2, 3, 4), (4, 5, 2)),
    "abcd,cde->eab": ((2, 3, 4, 2), (4, 2, 5)),
    "i,j->ij": ((3,), (4,)),
    "i,i->": ((3,), (3,)),
    "ij,ij->i": ((3, 4), (3, 4)),
    "ab,bc,cd->ad": ((2, 3), (3, 4), (4, 5)),
    "...ij,...jk->...ik": ((2, 1, 3, 4), (2, 5, 4, 2)),
    "ijk->kj": ((2, 3, 4),),
    "abc,ad->d": ((2, 3, 4), (2, 5)),
}


def test_einsum() -> None:
    nodes, feeds = [], {}
    for number, (equation, shapes) in enumerate(_EQUATIONS.items()):
        arrays = {f"x{number}_{index}": _random(*shape) for index, shape in enumerate(shapes)}
        nodes.append(node("Einsum", list(arrays), equation=equation))
        feeds |= arrays
    check(nodes, feeds)


def test_diagonals_of_einsum() -> None:
    check([node("Einsum", ["x"], equation=text) for text in ("iij->ij", "jii->j")], {"x": _random(3, 3, 3)}, dynamic=False)


def test_einsum_that_does_not_fit_is_reported() -> None:
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph([onnx.helper.make_node("Einsum", ["x"], ["y"], equation="abc->a")], "g", [x], [y])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)
    with pytest.raises(dlc.UnsupportedError, match="does not fit an input of rank 2"):
        dlc.compile(model)


@pytest.mark.parametrize("per_column", [False, True])
def test_matmul_of_bytes(per_column: bool) -> None:
    zeros = {"az": np.array(7, np.uint8), "bz": _bytes(5, dtype=np.int8) if per_column else np.array(-3, np.int8)}
    feeds = {"a": _bytes(2, 3, 4), "b": _bytes(4, 5, dtype=np.int8)}
    check([node("MatMulInteger", ["a", "b", "az", "bz"])], feeds, zeros)
    check([node("MatMulInteger", ["a", "b"])], feeds)


@pytest.mark.parametrize("shape", [(4, 4), (3, 2, 2), (2, 3, 17, 17)])
def test_determinants(shape: tuple[int, ...]) -> None:
    check([node("Det", ["x"])], {"x": _random(*shape)}, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["MatMul", "Gemm", "Einsum", "MatMulInteger", "Det"])
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)

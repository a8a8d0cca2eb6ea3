"""Importers of matrix products; `Einsum` is in `einsum.py`."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import FLOATS, TensorType, type_of_value
from dlc.frontends.onnx.activation import activated
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext


@importer("MatMul")
def import_matmul(node: NodeContext) -> ir.Value:
    return matmul(node.value(0), node.value(1))


def matmul(lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """NumPy's matmul: an operand of rank 1 is a row on the left, a column on the right."""
    is_row, is_column = lhs.type.rank == 1, rhs.type.rank == 1
    lhs = dl.unsqueeze(lhs, axes=[0]) if is_row else lhs
    rhs = dl.unsqueeze(rhs, axes=[1]) if is_column else rhs
    product = dl.matmul(lhs, rhs)
    gone = [*([-2] if is_row else []), *([-1] if is_column else [])]
    return dl.squeeze(product, axes=gone) if gone else product


@importer("Gemm")
def import_gemm(node: NodeContext) -> ir.Value:
    """alpha * A' @ B' + beta * C; constants are transposed at import."""
    operands = [_operand(node, index, name) for index, name in _SIDES]
    for index, kind in enumerate(map(type_of_value, operands)):
        if kind.rank != 2:
            node.unsupported(f"input {index} is {kind}, no matrix; MatMul multiplies other ranks")
    product = dl.matmul(*operands)
    product = _scaled(node, product, "alpha")
    beta = float(node.attribute("beta", 1.0))
    if not node.has_input(2) or beta == 0:
        return product
    _require_fit_of_summand(node, type_of_value(product))
    return dl.add(product, _scaled(node, node.value(2), "beta"))


def _require_fit_of_summand(node: NodeContext, product: TensorType) -> None:
    """Refuse a C that A' @ B' would have to be broadcast to."""
    summand = node.type(2)
    pairs = list(zip(reversed(summand.shape), reversed(product.shape), strict=False))
    fits = all(size == 1 or size == whole or not (isinstance(size, int) and isinstance(whole, int)) for size, whole in pairs)
    if summand.rank > product.rank or not fits:
        node.unsupported(f"C (input 2) is {summand}, which does not broadcast to the product, {product}")


@importer("FusedMatMul", domain="com.microsoft")
def import_fused_matmul(node: NodeContext) -> ir.Value:
    """onnxruntime's product of perhaps transposed matrices, times alpha."""
    if node.attribute("transBatchA", 0) or node.attribute("transBatchB", 0):
        node.unsupported("transposed batches are not supported")
    lhs, rhs = (_swapped(node.value(index)) if node.attribute(name, 0) else node.value(index) for index, name in _SIDES)
    return _scaled(node, matmul(lhs, rhs), "alpha")


_SIDES = ((0, "transA"), (1, "transB"))


def _swapped(x: ir.Value) -> ir.Value:
    """x with its last two axes exchanged; a vector as it is."""
    rank = x.type.rank
    return x if rank < 2 else dl.transpose(x, perm=[*range(rank - 2), rank - 1, rank - 2])


@importer("FusedGemm", domain="com.microsoft")
def import_fused_gemm(node: NodeContext) -> ir.Value:
    """Gemm and an activation."""
    parameters = {name: node.attribute(f"activation_{name}") for name in ("alpha", "beta", "gamma")}
    return activated(node, import_gemm(node), {key: value for key, value in parameters.items() if value is not None})


def _operand(node: NodeContext, index: int, attribute: str) -> ir.Value:
    if not node.attribute(attribute, 0):
        return node.value(index)
    array = node.constant(index)
    if array is not None:
        return node.new_param(np.ascontiguousarray(array.T), f"{node.node.input[index]}_transposed")
    return dl.transpose(node.value(index), perm=[1, 0])


def _scaled(node: NodeContext, value: ir.Value, attribute: str) -> ir.Value:
    factor = float(node.attribute(attribute, 1.0))
    if factor == 1:
        return value
    dtype = type_of_value(value).dtype
    if dtype not in FLOATS and not factor.is_integer():
        node.unsupported(f"{attribute} {factor} of integers is not supported")
    return dl.mul(value, node.constant_value(factor if dtype in FLOATS else int(factor), dtype))


@importer("Det")
def import_det(node: NodeContext) -> ir.Value:
    return dl.det(node.value(0))


@importer("MatMulInteger")
def import_matmul_integer(node: NodeContext) -> ir.Value:
    """A product of i32: the operands less their zero points, one per tensor, row of A or column of B."""
    return matmul(centered(node, 0, 2, axis=-2), centered(node, 1, 3, axis=-1))


def centered(node: NodeContext, index: int, zero_index: int, axis: int | None = None) -> ir.Value:
    """Input `index` less its zero point as i32; a zero point of rank 1 has one element, or one per index of `axis`."""
    x = dl.cast(node.value(index), to="i32")
    known = node.constant(zero_index) if node.has_input(zero_index) else np.zeros(())
    if known is not None and not known.any():
        return x
    zero = dl.cast(node.value(zero_index), to="i32")
    rank = type_of_value(x).rank
    if zero.type.rank == 1 and axis is not None:
        kept = axis % rank
        zero = dl.unsqueeze(zero, axes=list(range(1, rank - kept))) if rank - kept > 1 else zero
    return dl.sub(x, zero)

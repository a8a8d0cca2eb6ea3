"""Importer of products with weights of a few bits, which exported language models have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_WEIGHT, _SCALES, _ZEROS, _ORDER, _BIAS = range(1, 6)
_WIDTHS = (48, 64, 16)
"""Columns of a block: the first that divides the columns of the matrix, else one that it fills."""


@importer("MatMulNBits", domain="com.microsoft")
def import_matmul_nbits(node: NodeContext) -> ir.Value:
    """Weights become words of neighbours in a column, in blocks of columns; products unpack them in registers."""
    if node.has_input(_ORDER):
        node.unsupported("an order of rows (g_idx) is not supported; export the model without it")
    if node.attribute("weight_prepacked", 0):
        node.unsupported("weights that are packed for another engine (weight_prepacked) are not supported")
    matrix = _Matrix.of(node)
    x, kind = node.value(0), node.type(0)
    if kind.shape[-1] not in (matrix.rows, None):
        node.unsupported(f"its input is {kind}, but K is {matrix.rows}")
    missing = matrix.blocks * matrix.block - matrix.rows
    if missing:
        x = dl.pad(x, node.constant_value(0, kind.dtype), low=[0] * kind.rank, high=[*[0] * (kind.rank - 1), missing])
    result = dl.nbits_matmul(x, *matrix.tables(kind.dtype), bits=matrix.bits, columns=matrix.columns)
    return dl.add(result, node.value(_BIAS)) if node.has_input(_BIAS) else result


@dataclass(frozen=True)
class _Matrix:
    """The weight of a node: `rows` (K) times `columns` (N), with a scale for each of `blocks` of `block` rows of a column."""

    node: NodeContext
    rows: int
    columns: int
    block: int
    bits: int

    @staticmethod
    def of(node: NodeContext) -> _Matrix:
        rows, columns, block, bits = (
            int(node.attribute(name, 4 if name == "bits" else 0)) for name in ("K", "N", "block_size", "bits")
        )
        if bits not in (2, 4, 8) or block < 16 or block & (block - 1) or min(rows, columns) < 1:
            node.unsupported(f"weights of {rows} by {columns} numbers of {bits} bits in blocks of {block} are not supported")
        return _Matrix(node, rows, columns, block, bits)

    @property
    def blocks(self) -> int:
        """Blocks of a column."""
        return -(-self.rows // self.block)

    def tables(self, dtype: str) -> list[ir.Value]:
        """Words, scales and, where there are any, zeros, as `dl.nbits_matmul` has them; scales and zeros of `dtype`."""
        name = self.node.node.input[_WEIGHT]
        packed = self._known(_WEIGHT, "the weight", (self.columns, self.blocks, self.block * self.bits // 8))
        numbers = packed.reshape(self.columns, -1).view(np.uint8)
        flipped = numbers ^ self._middles()
        words = np.ascontiguousarray(flipped).view("<i4").astype(np.int32).T
        scales = self._known(_SCALES, "the scales", (self.columns, self.blocks)).T
        found = [self._in_blocks(words, f"{name}_words"), self._in_blocks(scales.astype(NUMPY_DTYPES[dtype]), f"{name}_scales")]
        if self.node.has_input(_ZEROS):
            zeros = self._zeros() - 2.0 ** (self.bits - 1)
            found.append(self._in_blocks(zeros.T.astype(NUMPY_DTYPES[dtype]), f"{name}_zeros"))
        return found

    def _middles(self) -> np.uint8:
        """A byte of numbers in the middle of their range: exclusive or with it gives two's complement of the distance to it."""
        return np.uint8(sum(1 << (self.bits - 1 + place) for place in range(0, 8, self.bits)))

    def _zeros(self) -> np.ndarray:
        """Zero points [columns, blocks], packed as the weight is, or floats."""
        given = self.node.required_constant(_ZEROS, "the zero points")
        if given.dtype != np.uint8:
            return self._known(_ZEROS, "the zero points", (self.columns, self.blocks)).astype(np.float32)
        width = -(-self.blocks * self.bits // 8)
        packed = self._known(_ZEROS, "the zero points", (self.columns, width))
        parts = [packed >> shift & (1 << self.bits) - 1 for shift in range(0, 8, self.bits)]
        return np.stack(parts, -1).reshape(self.columns, -1)[:, : self.blocks].astype(np.float32)

    def _known(self, index: int, what: str, shape: tuple[int, ...]) -> np.ndarray:
        """An input that must be known, in the shape that it must have (onnxruntime takes a flat one, too)."""
        array = self.node.required_constant(index, what)
        if array.size != int(np.prod(shape)):
            self.node.unsupported(f"input {index} has shape {list(array.shape)} instead of {list(shape)}")
        return array.reshape(shape)

    def _in_blocks(self, table: np.ndarray, name: str) -> ir.Value:
        """A table [rows, columns] as the weight [blocks of columns, rows, columns of a block], filled up with zeros."""
        whole = [width for width in _WIDTHS if self.columns % width == 0]
        width = whole[0] if whole else next((width for width in _WIDTHS if width <= self.columns), _WIDTHS[-1])
        filled = np.pad(table, ((0, 0), (0, -self.columns % width)))
        return self.node.new_param(np.moveaxis(filled.reshape(len(table), -1, width), 1, 0), name)

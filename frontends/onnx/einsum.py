"""Importer of Einsum: sums, transposes, products of matrices."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext


@dataclass(frozen=True)
class EinsumTerm:
    """A value and the label of each of its axes."""

    value: ir.Value
    labels: str

    def ordered(self, labels: str) -> EinsumTerm:
        """The same with the axes in the order of `labels`, a permutation of its own."""
        if labels == self.labels:
            return self
        return EinsumTerm(dl.transpose(self.value, perm=[self.labels.index(label) for label in labels]), labels)

    def summed(self, kept: str) -> EinsumTerm:
        """The sum over the axes whose label is not in `kept`."""
        axes = [axis for axis, label in enumerate(self.labels) if label not in kept]
        if not axes:
            return self
        labels = "".join(label for label in self.labels if label in kept)
        return EinsumTerm(dl.reduce_sum(self.value, axes=axes), labels)

    def aligned(self, labels: str) -> EinsumTerm:
        """The same with the axes of `labels`, of size 1 where it lacks one."""
        own = self.ordered("".join(label for label in labels if label in self.labels))
        missing = [axis for axis, label in enumerate(labels) if label not in self.labels]
        return EinsumTerm(dl.unsqueeze(own.value, axes=missing), labels) if missing else own


@importer("Einsum")
def import_einsum(node: NodeContext) -> ir.Value:
    """Operands are combined from left to right; a label leaves as soon as nothing after needs it."""
    ranks = [node.rank(index) for index in range(node.num_inputs)]
    inputs, output = _parse(node, node.attribute("equation"), ranks)
    terms = [_without_repeats(node, EinsumTerm(node.value(index), labels)) for index, labels in enumerate(inputs)]
    current = terms[0]
    for index, term in enumerate(terms[1:], 1):
        later = set(output).union(*(other.labels for other in terms[index + 1 :]))
        current = _combined(current, term, "".join(sorted(later)))
    return current.summed(output).ordered(output).value


def _without_repeats(node: NodeContext, term: EinsumTerm) -> EinsumTerm:
    """The diagonal of axes that share a label: elements off it become 0, then the last of the axes is summed away."""
    repeated = next((label for label in term.labels if term.labels.count(label) > 1), None)
    if repeated is None:
        return term
    first, last = term.labels.index(repeated), term.labels.rindex(repeated)
    kind = type_of_value(term.value)
    size = kind.shape[first]
    if not isinstance(size, int) or size != kind.shape[last]:
        node.unsupported("a diagonal needs dims that are equal and known at compile time")
    places = np.expand_dims(np.eye(size, dtype=np.bool_), list(range(1, last - first)))
    diagonal = node.constant_value(np.expand_dims(places, list(range(places.ndim, places.ndim + kind.rank - last - 1))))
    kept = dl.where(diagonal, term.value, node.constant_value(0, kind.dtype))
    shorter = EinsumTerm(dl.reduce_sum(kept, axes=[last]), term.labels[:last] + term.labels[last + 1 :])
    return _without_repeats(node, shorter)


def _parse(node: NodeContext, equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Labels of each input and of the output, with the axes of an ellipsis labelled, too."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    texts = left.split(",")
    if len(texts) != len(ranks):
        node.unsupported(f"equation '{equation}' has {len(texts)} terms for {len(ranks)} inputs")
    spare = [label for label in string.ascii_letters if label not in equation]
    widths = [rank - len(text.replace("...", "")) for text, rank in zip(texts, ranks, strict=True) if "..." in text]
    hidden = "".join(spare[: max(widths, default=0)])
    inputs = [_expanded(text, rank, hidden) for text, rank in zip(texts, ranks, strict=True)]
    if not arrow:
        seen = "".join(inputs)
        right = "..." + "".join(sorted(label for label in set(seen) - set(hidden) if seen.count(label) == 1))
    output = right.replace("...", hidden)
    for labels, rank in zip(inputs, ranks, strict=True):
        if len(labels) != rank:
            node.unsupported(f"equation '{equation}' does not fit an input of rank {rank}")
    if len(set(output)) != len(output) or not set(output) <= set("".join(inputs)):
        node.unsupported(f"equation '{equation}' has an output that its inputs do not give")
    return inputs, output


def _expanded(text: str, rank: int, hidden: str) -> str:
    """A term with its ellipsis replaced by the last of the hidden labels."""
    width = rank - len(text.replace("...", ""))
    return text.replace("...", hidden[len(hidden) - width :])


def _combined(lhs: EinsumTerm, rhs: EinsumTerm, later: str) -> EinsumTerm:
    """The product of two terms, summed over the labels that are not in `later`."""
    lhs = lhs.summed(later + rhs.labels)
    rhs = rhs.summed(later + lhs.labels)
    shared = [label for label in lhs.labels if label in rhs.labels]
    summed = "".join(label for label in shared if label not in later)
    batch = "".join(label for label in shared if label in later)
    rows = "".join(label for label in lhs.labels if label not in shared)
    columns = "".join(label for label in rhs.labels if label not in shared)
    if not summed:
        labels = batch + rows + columns
        return EinsumTerm(dl.mul(lhs.aligned(labels).value, rhs.aligned(labels).value), labels)
    # All rows but the last, and all columns but the last, are batch axes along which the other operand repeats.
    outer, m, n = batch + rows[:-1] + columns[:-1], rows[-1:], columns[-1:]
    left = _merged(lhs.ordered(batch + rows + summed), len(summed))
    right = _merged(rhs.ordered(batch + columns + summed), len(summed))
    left = EinsumTerm(left.value, batch + rows + "*").aligned(outer + m + "*")
    right = EinsumTerm(right.value, batch + columns + "*").aligned(outer + "*" + n)
    left_value = left.value if m else dl.unsqueeze(left.value, axes=[-2])
    right_value = right.value if n else dl.unsqueeze(right.value, axes=[-1])
    product = dl.matmul(left_value, right_value)
    gone = [*([] if m else [-2]), *([] if n else [-1])]
    return EinsumTerm(dl.squeeze(product, axes=gone) if gone else product, outer + m + n)


def _merged(term: EinsumTerm, count: int) -> EinsumTerm:
    """The term with its last `count` axes made one."""
    if count == 1:
        return term
    shape = type_of_value(term.value).shape
    kept, tail = shape[:-count], [dim for dim in shape[-count:] if isinstance(dim, int)]
    merged = math.prod(tail) if len(tail) == count else -1
    sizes = [dim if isinstance(dim, int) else -1 for dim in kept]
    copied = [-1 if isinstance(dim, int) else axis for axis, dim in enumerate(kept)]
    value = dl.reshape(term.value, shape=[*sizes, merged], copied=[*copied, -1])
    return EinsumTerm(value, term.labels[:-count] + "*")

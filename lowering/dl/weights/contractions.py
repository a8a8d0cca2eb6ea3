"""Contractions with a weight (conv, conv_transpose, matmul), and the same ones with other weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.window import Layout
from dlc.lowering.dl.matching import WeightFacts, attributes_of, groups_of, has_one_use, source, type_of

Combine = Callable[[ir.Value, ir.Value], ir.Value]
"""Builds an op on a weight and a factor, such as `dl.mul`."""

_CONVOLUTIONS = ("dl.conv", "dl.conv_transpose")


@dataclass(frozen=True)
class WeightContraction:
    """A conv, conv_transpose or matmul of a computed `x` and a `weight`, with its weight axes by what they follow.

    `outputs` is the axis of the weight that follows the result's axis `out_axis`, `inputs` the one that follows x's axis
    `in_axis`. Where there are groups, one of the two has a channel of one group only: it is `split`, the other one not.
    """

    op: ir.Operation
    x: ir.Value
    weight: ir.Value
    bias: ir.Value | None
    out_axis: int
    in_axis: int
    outputs: int
    inputs: int
    groups: int = 1
    split: str = ""
    weight_first: bool = False

    @classmethod
    def of(cls, op: ir.Operation | None, is_weight: WeightFacts) -> WeightContraction | None:
        """That of an op; None for another op, without a weight, or with one that is packed."""
        if op is None or op.name not in (*_CONVOLUTIONS, "dl.matmul"):
            return None
        return (_matmul if op.name == "dl.matmul" else _convolution)(op, is_weight)

    @classmethod
    def giving(cls, value: ir.Value, is_weight: WeightFacts) -> WeightContraction | None:
        """That whose result `value` is, where it is used once."""
        op = source(value)
        return cls.of(op, is_weight) if op is not None and op.name in (*_CONVOLUTIONS, "dl.matmul") and has_one_use(value) else None

    @property
    def has_bias(self) -> bool:
        """Whether the op takes a bias."""
        return self.op.name in _CONVOLUTIONS

    @property
    def has_padding(self) -> bool:
        """Whether the op reads zeros outside of x."""
        return self.op.name == "dl.conv_transpose" or any(attributes_of(self.op).get("pads", ()))

    @property
    def channels(self) -> int | None:
        """Size of the result's axis `out_axis`, where it is known."""
        size = type_of(self.op.results[0]).shape[self.out_axis]
        return size if isinstance(size, int) else None

    def times_outputs(self, factor: ir.Value, combine: Combine = dl.mul) -> WeightContraction:
        """The contraction whose result is `factor` times this one's: a scalar, or one number per output channel."""
        weight = self._along(factor, self.outputs, self.split == "outputs", combine)
        return replace(self, weight=weight, bias=None if self.bias is None else combine(self.bias, factor))

    def times_inputs(self, factor: ir.Value, combine: Combine = dl.mul) -> WeightContraction:
        """The contraction that multiplies x by `factor` first: a scalar, or one number per input channel."""
        return replace(self, weight=self._along(factor, self.inputs, self.split == "inputs", combine))

    def plus(self, shift: ir.Value) -> WeightContraction:
        """The contraction that adds `shift` to its result: a number per output channel."""
        return replace(self, bias=shift if self.bias is None else dl.add(self.bias, shift))

    def build(self) -> ir.Value:
        """The result of the op, at the insertion point; of the type that it has now."""
        found = dl.op_class(self.op.name)
        assert found is not None
        operands = [self.weight, self.x] if self.weight_first else [self.x, self.weight]
        given = {"bias": self.bias} if self.has_bias else {}
        kinds = [type_of(self.op.results[0])]
        created = found.create(*operands, **given, **attributes_of(self.op), result_types=kinds)
        value: ir.Value = created.results[0]
        return value

    def _along(self, factor: ir.Value, axis: int, split: bool, combine: Combine) -> ir.Value:
        """The weight combined with a scalar, or with a vector along an axis."""
        if type_of(factor).rank == 0:
            return combine(self.weight, factor)
        shape = _static(self.weight)
        if not split:
            return combine(self.weight, dl.reshape(factor, shape=_ones(len(shape), {axis: shape[axis]})))
        other = self.outputs if axis == self.inputs else self.inputs
        size = shape[other]
        apart = [*shape[:other], self.groups, size // self.groups, *shape[other + 1 :]]
        inner = axis if axis < other else axis + 1
        vector = dl.reshape(factor, shape=[self.groups, shape[axis]])
        if inner < other:
            vector = dl.transpose(vector, perm=[1, 0])
        vector = dl.reshape(vector, shape=_ones(len(apart), {other: self.groups, inner: shape[axis]}))
        return dl.reshape(combine(dl.reshape(self.weight, shape=apart), vector), shape=shape)


def _matmul(op: ir.Operation, is_weight: WeightFacts) -> WeightContraction | None:
    lhs, rhs = op.operands
    rank = type_of(op.results[0]).rank
    if is_weight(rhs) and not is_weight(lhs):
        last = type_of(rhs).rank
        return WeightContraction(op, lhs, rhs, None, rank - 1, type_of(lhs).rank - 1, last - 1, last - 2)
    if is_weight(lhs) and not is_weight(rhs):
        last = type_of(lhs).rank
        return WeightContraction(op, rhs, lhs, None, rank - 2, type_of(rhs).rank - 2, last - 2, last - 1, weight_first=True)
    return None


def _convolution(op: ir.Operation, is_weight: WeightFacts) -> WeightContraction | None:
    x, weight, bias = groups_of(op)
    attributes = attributes_of(op)
    kind = type_of(weight)
    if not kind.is_static or kind.rank != type_of(x).rank or is_weight(x) or not is_weight(weight):
        return None
    if bias is not None and not is_weight(bias):
        return None
    layout, groups = Layout(kind.rank - 2, attributes["channels_last"]), attributes["groups"]
    outputs, inputs, split = layout.kernel_out, layout.kernel_in, "inputs"
    if op.name == "dl.conv_transpose":
        outputs, inputs = (outputs, inputs) if layout.channels_last else (inputs, outputs)
        split = "outputs"
    return WeightContraction(
        op, x, weight, bias, layout.channel, layout.channel, outputs, inputs, groups, split if groups > 1 else ""
    )


def _static(value: ir.Value) -> list[int]:
    return [dim for dim in type_of(value).shape if isinstance(dim, int)]


def _ones(rank: int, sizes: dict[int, int]) -> list[int]:
    return [sizes.get(axis, 1) for axis in range(rank)]


def channel_vector(weight: ir.Value, rank: int, axis: int, size: int | None) -> ir.Value | None:
    """`weight`, combined with a tensor of `rank` axes, as a scalar or as a vector of `size` numbers along its `axis`.

    None where it is neither, or might change the tensor's shape. Builds a reshape at the insertion point where needed.
    """
    kind = type_of(weight)
    if not is_channel_vector(weight, rank, axis, size):
        return None
    if all(dim == 1 for dim in kind.shape):
        return weight if kind.rank == 0 else dl.reshape(weight, shape=[])
    return weight if kind.rank == 1 else dl.reshape(weight, shape=[size])


def is_channel_vector(weight: ir.Value, rank: int, axis: int, size: int | None) -> bool:
    """Whether `weight` is one, by `channel_vector`."""
    kind = type_of(weight)
    if kind.rank > rank:
        return False
    place = axis - (rank - kind.rank)
    return all(dim == 1 or (index == place and size is not None and dim == size) for index, dim in enumerate(kind.shape))


def per_channel(vector: ir.Value, rank: int, axis: int) -> ir.Value:
    """A vector shaped to combine with a tensor of `rank` axes along its `axis`; a scalar as it is."""
    kind = type_of(vector)
    if kind.rank == 0 or axis == rank - 1:
        return vector
    return dl.reshape(vector, shape=[*_static(vector), *[1] * (rank - 1 - axis)])

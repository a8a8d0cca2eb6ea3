"""`dl-fuse-siblings`: products and convolutions of one input become one, with their weights side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl import op_class, ops
from dlc.dialects.dl.window import Layout
from dlc.lowering.dl.matching import WeightFacts, attributes_of, functions, groups_of, has_one_use, is_weight, type_of, users
from dlc.lowering.dl.quantize.byte_operands import Centered
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy

_POINTWISE = frozenset({"elementwise", "elementary", "activation"})
_SLICE = ops()["slice"]


@dataclass(frozen=True)
class FuseSiblings(Pass):
    """Make one op of the matmuls, or of the convolutions with one window, that share an input and have weights.

    before: %q = dl.matmul(%x, %wq)   %1 = dl.add(%q, %bq)        %k = dl.matmul(%x, %wk)   %2 = dl.add(%k, %bk)
    after:  %w = dl.concat(%wq, %wk)  %b = dl.concat(%bq, %bk)    %0 = dl.matmul(%x, %w)    %3 = dl.add(%0, %b)
            %1 = dl.slice(%3)         %2 = dl.slice(%3)

    Biases and an activation that all of them have are applied to the one result, whose slices lie along its channels. The weights
    that are joined are weights themselves, computed before the first call. Convolutions are fused where one of them is narrow.
    Products of bytes stay apart: each is scaled and rounded by numbers of its own at once.
    """

    most_columns: int = option(32768, "largest number of output channels of a fused op")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module."""
        for function in functions(op):
            for block in _blocks(function):
                self._fuse_in(block)

    def _fuse_in(self, block: ir.Block) -> None:
        families = [found for found in _families(block) if self._pays(found)]
        if not families:
            return
        _hoist_weights(block)
        for family in families:
            _fuse(family)

    def _pays(self, family: Sequence[_Sibling]) -> bool:
        widths = [sibling.width for sibling in family]
        return sum(widths) <= self.most_columns and (
            family[0].op.name == "dl.matmul" or min(widths) < policy().graph.narrow_columns
        )


@dataclass(frozen=True)
class _Sibling:
    """A matmul or convolution with a weight, and the axes of its channels."""

    op: ir.Operation
    width: int
    weight_axis: int
    channel_axis: int
    key: Hashable


def _blocks(function: ir.Operation) -> list[ir.Block]:
    """The body of a function whose ops have no regions; none where some have."""
    block = function.regions[0].blocks[0]
    return [] if any(len(op.operation.regions) for op in block.operations) else [block]


def _families(block: ir.Block) -> list[list[_Sibling]]:
    """Siblings that can become one op, in order of the first of each."""
    found: dict[Hashable, list[_Sibling]] = defaultdict(list)
    facts = WeightFacts()
    for view in block.operations:
        sibling = _sibling(view.operation, facts)
        if sibling is not None:
            found[(sibling.op.operands[0], sibling.key)].append(sibling)
    return [family for family in found.values() if len(family) > 1]


def _sibling(op: ir.Operation, facts: WeightFacts) -> _Sibling | None:
    maker = {"dl.matmul": _matmul_sibling, "dl.conv": _conv_sibling}.get(op.name)
    return maker(op, facts) if maker and Centered.of(op.operands[1]) is None else None


def _matmul_sibling(op: ir.Operation, facts: WeightFacts) -> _Sibling | None:
    x, weight = op.operands
    kind = type_of(weight)
    width = kind.shape[-1]
    if kind.rank != 2 or not kind.is_static or not isinstance(width, int) or not facts(weight) or facts(x):
        return None
    return _Sibling(op, width, 1, type_of(op.results[0]).rank - 1, "matmul")


def _conv_sibling(op: ir.Operation, facts: WeightFacts) -> _Sibling | None:
    x, weight, bias = groups_of(op)
    found, kind = attributes_of(op), type_of(weight)
    if found["groups"] != 1 or not kind.is_static or not facts(weight) or (bias is not None and not facts(bias)):
        return None
    layout = Layout(type_of(x).rank - 2, found["channels_last"])
    blocked = kind.rank > type_of(x).rank
    axis = 0 if blocked else layout.kernel_out
    shape = [dim for dim in kind.shape if isinstance(dim, int)]
    width = shape[axis] * (shape[-1] if blocked else 1)
    others = tuple(dim for at, dim in enumerate(shape) if at != axis)
    key = (others, kind.dtype, axis, bias is None, *(str(value) for value in found.values()))
    return None if facts(x) else _Sibling(op, width, axis, layout.channel, key)


def _hoist_weights(block: ir.Block) -> None:
    """Move what depends on weights alone to the start, so that it comes before the first of any siblings."""
    weights: set[ir.Value] = set()
    front: ir.Operation | None = None
    for view in list(block.operations):
        op = view.operation
        if not op.name.startswith("dl.") or not all(operand in weights for operand in op.operands):
            front = front or op
            continue
        weights.update(op.results)
        if front is not None:
            op.move_before(front)


def _fuse(family: Sequence[_Sibling]) -> None:
    """Replace the siblings, and what all of them have after them, by one op and slices."""
    lines = [[sibling.op] for sibling in family]
    with ir.Location.fused([sibling.op.location for sibling in family]), ir.InsertionPoint(family[0].op):
        whole = _biased(family, lines, _joined(family))
        while (activated := _activated(lines, whole)) is not None:
            whole = activated
        _split(family, lines, whole)
    for line in lines:
        for op in reversed(line):
            op.erase()


def _joined(family: Sequence[_Sibling]) -> ir.Value:
    """The op on all weights, and biases where it has them as operands."""
    first = family[0].op
    operands = [first.operands[0], _concat([sibling.op.operands[1] for sibling in family], family[0].weight_axis)]
    if len(first.operands) > 2:
        operands.append(_concat([sibling.op.operands[2] for sibling in family], 0))
    kind = op_class(first.name)
    assert kind is not None
    found: ir.Value = kind.build(*operands, **attributes_of(first))
    return found


def _concat(values: Sequence[ir.Value], axis: int) -> ir.Value:
    joined = values[0]
    for value in values[1:]:
        joined = dl.concat(joined, value, axis=axis)
    return joined


def _biased(family: Sequence[_Sibling], lines: Sequence[list[ir.Operation]], whole: ir.Value) -> ir.Value:
    """The product with the biases that all siblings add to theirs, whose ops are put at the ends of `lines`."""
    found = [_bias(sibling) for sibling in family]
    pairs = [pair for pair in found if pair is not None]
    if len(pairs) < len(found):
        return whole
    for line, (add, _) in zip(lines, pairs, strict=True):
        line.append(add)
    flat = [dl.reshape(bias, shape=[sibling.width]) for sibling, (_, bias) in zip(family, pairs, strict=True)]
    found_sum: ir.Value = dl.add(whole, _concat(flat, 0))
    return found_sum


def _bias(sibling: _Sibling) -> tuple[ir.Operation, ir.Value] | None:
    """The addition of a weight along the columns, if it is all that a matmul's result is for, and the weight."""
    value = sibling.op.results[0]
    if sibling.op.name != "dl.matmul" or not has_one_use(value):
        return None
    add = next(users(value))
    if add.name != "dl.add":
        return None
    bias = add.operands[1] if add.operands[0] == value else add.operands[0]
    kind = type_of(bias)
    fits = kind.rank > 0 and kind.shape[-1] == sibling.width and all(dim == 1 for dim in kind.shape[:-1])
    return (add, bias) if fits and is_weight(bias) and type_of(add.results[0]) == type_of(value) else None


def _activated(lines: Sequence[list[ir.Operation]], whole: ir.Value) -> ir.Value | None:
    """`whole` after the op of one operand that stands at every end of `lines`, where it is put; None where they differ."""
    ends = [line[-1].results[0] for line in lines]
    if not all(has_one_use(end) for end in ends):
        return None
    found = [next(users(end)) for end in ends]
    kind = op_class(found[0].name)
    if kind is None or kind.__module__.rpartition(".")[2] not in _POINTWISE or any(len(op.operands) > 1 for op in found):
        return None
    if len({(op.name, str(op.opview.attribute_values())) for op in found}) > 1:
        return None
    for line, op in zip(lines, found, strict=True):
        line.append(op)
    activated: ir.Value = kind.build(whole, **attributes_of(found[0]))
    return activated


def _split(family: Sequence[_Sibling], lines: Sequence[list[ir.Operation]], whole: ir.Value) -> None:
    """Let slices of `whole` along the channels stand for the ends of `lines`."""
    start = 0
    for sibling, line in zip(family, lines, strict=True):
        end = start + sibling.width
        result = line[-1].results[0]
        ranges = {"starts": [start], "ends": [end], "axes": [sibling.channel_axis], "steps": [1]}
        with line[-1].location:
            part = _SLICE.create(whole, None, result_types=[type_of(result)], **ranges)
        result.replace_all_uses_with(part.results[0])
        start = end

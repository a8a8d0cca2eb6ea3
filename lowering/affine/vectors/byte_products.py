"""Recognises sums of products of groups: of four bytes or two numbers of i16, as the lowering of dl.vnni_matmul writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir

_WIDENS = {4: ("arith.extui", 8), 2: ("arith.extsi", 16)}
"""How the numbers that come so many to a group are widened, and their bits."""


@dataclass(frozen=True, eq=False)
class Dot:
    """`total` = accumulator + sum over i of (values[i], a number in all lanes) * (number i of the groups in the lanes of `packed`).

    Four values are unsigned bytes, times signed ones; two are of bf16, or of i16.
    """

    total: ir.Operation
    start: ir.Operation
    """The op that takes the accumulator: `total`, or the first of several multiply-adds."""
    position: int
    """Which operand of `start` the accumulator is."""
    values: tuple[ir.Value, ...]
    packed: ir.Value

    @property
    def accumulator(self) -> ir.Value:
        """What the products are added to; another value once the sum that gave it was replaced."""
        return self.start.operands[self.position]

    @property
    def lanes(self) -> int:
        """Lanes of the vectors."""
        return int(ir.VectorType(self.packed.type).shape[0])

    def erase(self) -> None:
        """Erase the unused sum, and what only it used."""
        pending = [self.total]
        while pending:
            op = pending.pop()
            operands = {hash(value): value for value in op.operands}
            op.erase()
            pending.extend(owner for value in operands.values() if (owner := _unused_owner(value)) is not None)


def _unused_owner(value: ir.Value) -> ir.Operation | None:
    """The computation that gives `value`, if nothing uses it."""
    owner = owner_of(value)
    if owner is None or not owner.name.startswith(("arith.", "vector.broadcast", "vector.fma")):
        return None
    return None if any(True for result in owner.results for _ in result.uses) else owner


def byte_dot_of(op: ir.Operation) -> Dot | None:
    """The sum that `op` completes, None where it is none."""
    kind = op.results[0].type if op.name == "arith.addi" else None
    if not isinstance(kind, ir.VectorType) or kind.element_type != ir.IntegerType.get_signless(32, kind.context):
        return None
    for position in (0, 1):
        products = _products(op.operands[1 - position])
        if products is not None:
            found = _bytes_of(products)
            return None if found is None else Dot(op, op, position, *found)
    return None


def _products(value: ir.Value) -> list[ir.Operation] | None:
    """The four products of (a + b) + (c + d), or the two of a + b."""
    sums = operands_of(value, "arith.addi") or []
    halves = [operands_of(half, "arith.addi") or [half] for half in sums]
    owners = [owner_of(leaf) for half in halves for leaf in half]
    products = [owner for owner in owners if owner is not None and owner.name == "arith.muli"]
    return products if len(products) == len(owners) and len(products) in _WIDENS else None


def _bytes_of(products: Sequence[ir.Operation]) -> tuple[tuple[ir.Value, ...], ir.Value] | None:
    """The numbers that are widened, and the value whose parts they are multiplied with, in order."""
    values, packed = [], None
    for place, product in enumerate(products):
        sides = list(product.operands)
        pair = _pair(sides, place, len(products)) or _pair(sides[::-1], place, len(products))
        if pair is None or (packed is not None and pair[1] != packed):
            return None
        values.append(pair[0])
        packed = pair[1]
    return None if packed is None else (tuple(values), packed)


def _pair(operands: Sequence[ir.Value], place: int, count: int) -> tuple[ir.Value, ir.Value] | None:
    spread, lanes = operands
    widen, bits = _WIDENS[count]
    scalar = operands_of(spread, "vector.broadcast")
    narrow = operands_of(scalar[0], widen) if scalar else None
    packed = _packed(lanes, place, count)
    if narrow is None or packed is None or narrow[0].type != ir.IntegerType.get_signless(bits, narrow[0].context):
        return None
    return narrow[0], packed


def _packed(value: ir.Value, place: int, count: int) -> ir.Value | None:
    """The value of whose `count` numbers `value` is number `place`, with its sign."""
    bits = _WIDENS[count][1]
    top = bits * (count - 1)
    inner = combined_with(value, "arith.shrsi", top)
    if inner is None or place == count - 1:
        return inner
    return combined_with(inner, "arith.shli", top - bits * place)


def combined_with(value: ir.Value, name: str, number: int) -> ir.Value | None:
    """The first operand of the op `name` that gives `value`, where the second one is `number` in all lanes."""
    operands = operands_of(value, name)
    constant = owner_of(operands[1]) if operands else None
    if operands is None or constant is None or constant.name != "arith.constant":
        return None
    splat = constant.attributes["value"]
    is_number = isinstance(splat, ir.DenseIntElementsAttr) and splat.is_splat and splat[0] == number
    return operands[0] if is_number else None


def operands_of(value: ir.Value, name: str) -> list[ir.Value] | None:
    """The operands of the op `name` that gives `value`, None where another one does."""
    owner = owner_of(value)
    return list(owner.operands) if owner is not None and owner.name == name else None


def owner_of(value: ir.Value) -> ir.Operation | None:
    """The op that gives `value`, None for an argument."""
    return None if isinstance(value.owner, ir.Block) else value.owner.operation

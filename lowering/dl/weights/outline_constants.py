"""`dl-outline-constants`: what depends on weights alone leaves the entry for a function that runs once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import tensor_type
from dlc.lowering.dl.matching import dl_ops, erase_unused, functions, is_entry, type_of, users
from dlc.lowering.dl.weights.precompute import Precompute, keys_read
from dlc.lowering.outlining import fresh_name
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy
from dlc.targets.machine import is_for_gpu

_LEAVES = frozenset({"dl.param", "dl.constant"})
_REPEATS = frozenset({"dl.expand", "dl.tile"})


@dataclass(frozen=True)
class OutlineConstants(Pass):
    """Move each computation of the entry that depends on weights and constants alone to `@precompute`.

    The function takes nothing, and gives one result for each such value that the entry reads. The result's attribute `dl.param` is
    a new key: that of the largest weight that it depends on, and the ops on the way. In the entry, a `dl.param` of the key stands
    for the value. An `expand` or `tile` that makes a weight large stays in the entry, since loops repeat for free. So does a cast
    of signed bytes to i32 for a GPU, since its tensor cores multiply bytes. Small results that no weight takes part in are left to
    dl-fold-constants. A later run adds to `@precompute`, and drops from it what the entry does not read any more. A module whose
    weights are bound (`dl.signature`) stays as it is.

    before:
        func.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
          %w = "dl.param"() {key = "w", ...} : () -> tensor<3x4xf32>
          %t = "dl.transpose"(%w) : (tensor<3x4xf32>) -> tensor<4x3xf32>
          %0 = "dl.matmul"(%x, %t) ...
    after:
        func.func @precompute() -> (tensor<4x3xf32> {dl.param = "w.transpose"}) attributes {dl.precompute} {
          %w = "dl.param"() {key = "w", ...} : () -> tensor<3x4xf32>
          %t = "dl.transpose"(%w) : (tensor<3x4xf32>) -> tensor<4x3xf32>
          return %t : tensor<4x3xf32>
        }
        func.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
          %t = "dl.param"() {key = "w.transpose", ...} : () -> tensor<4x3xf32>
          %0 = "dl.matmul"(%x, %t) ...
    """

    limit: int = option(1024, "most elements of a result without weights that is left to dl-fold-constants")

    def run(self, op: ir.Operation) -> None:
        """Rewrite the entries of the module `op`, and the bodies of their branches and loops."""
        if "dl.signature" in op.attributes:
            return
        precompute = Precompute.of(op)
        if precompute is not None:
            precompute.check()
        taken = set.union(*keys_read(op), precompute.keys() if precompute else ())
        for function in list(functions(op)):
            if not is_entry(function):
                continue
            known = _WeightOps(function)
            found = known.frontier(self.limit)
            if found:
                precompute = precompute or Precompute.create(op)
                _outline(found, known, precompute, taken)
        if precompute is not None:
            precompute.keep(keys_read(op)[1])


class _WeightOps:
    """The ops of a function that depend on weights alone, and what each of their results is made of."""

    def __init__(self, function: ir.Operation) -> None:
        self.keeps_bytes = is_for_gpu(function)
        self.ops: dict[ir.Operation, None] = {}
        self.origins: dict[ir.Value, _Origin] = {}
        for op in dl_ops(function):
            if self._is_known(op):
                self.ops[op] = None
                for result in op.results:
                    self.origins[result] = self._origin(op)

    def _is_known(self, op: ir.Operation) -> bool:
        """Whether the results are known before the first call, with their sizes."""
        if op.name in _LEAVES:
            return True
        if op.regions or not len(op.operands) or not len(op.results) or any(value not in self.origins for value in op.operands):
            return False
        kinds = [tensor_type(result.type) for result in op.results]
        return all(kind is not None and kind.is_static for kind in kinds) and not _is_too_large(op)

    def _origin(self, op: ir.Operation) -> _Origin:
        if op.name == "dl.param":
            return _Origin(type_of(op.results[0]).num_elements or 0, op.attributes["key"].value)
        word = op.name.removeprefix("dl.")
        largest = max((self.origins[value] for value in op.operands), key=lambda origin: origin.size, default=None)
        return _Origin() if largest is None else largest.through(word)

    def frontier(self, limit: int) -> list[ir.Value]:
        """The computed values that ops which stay in the function go on from, in program order."""
        moved, found = set(self.ops), []
        for op in reversed(self.ops):
            if op.name in _LEAVES:
                continue
            read = [result for result in op.results if any(user not in moved for user in users(result))]
            kept = [result for result in read if not self._is_repeated(op) and not self._is_small(result, limit)]
            found.extend(reversed(kept))
            if len(kept) < len(read):
                moved.discard(op)
        return found[::-1]

    def _is_repeated(self, op: ir.Operation) -> bool:
        if self.keeps_bytes and _widens_bytes(op):
            return True
        return op.name in _REPEATS and (type_of(op.results[0]).num_elements or 0) > policy().limits.repeated_weight_elements

    def _is_small(self, result: ir.Value, limit: int) -> bool:
        return not self.origins[result].key and (type_of(result).num_elements or 0) <= limit


def _widens_bytes(op: ir.Operation) -> bool:
    """Whether an op makes i32 of signed bytes."""
    return op.name == "dl.cast" and (type_of(op.operands[0]).dtype, type_of(op.results[0]).dtype) == ("i8", "i32")


def _is_too_large(op: ir.Operation) -> bool:
    """Whether an op makes so much more than it takes that it is better computed by the model."""
    made = sum(type_of(result).num_elements or 0 for result in op.results)
    return made - sum(type_of(value).num_elements or 0 for value in op.operands) > policy().limits.added_weight_elements


@dataclass(frozen=True)
class _Origin:
    """The largest weight that a value depends on (no key: none), and the last ops on the way from it."""

    size: int = -1
    key: str = ""
    names: tuple[str, ...] = ()

    def through(self, name: str) -> _Origin:
        """The origin of what the op called `name` makes of it."""
        names = self.names if self.names[-1:] == (name,) else (*self.names, name)[-policy().limits.shown_names :]
        return _Origin(self.size, self.key, names)

    def text(self) -> str:
        return ".".join((self.key or "constant", *self.names))


def _outline(found: Sequence[ir.Value], known: _WeightOps, precompute: Precompute, taken: set[str]) -> None:
    """Let `precompute` compute the values `found`, and params stand for them."""
    keys = [fresh_name(known.origins[value].text(), taken, ".") for value in found]
    precompute.add(dict(zip(keys, found, strict=True)), list(_needed(found, known)))
    for key, value in zip(keys, found, strict=True):
        kind, owner = type_of(value), value.owner.operation
        with owner.location, ir.InsertionPoint(_at_top(owner)):
            shape = tuple(dim for dim in kind.shape if isinstance(dim, int))
            value.replace_all_uses_with(dl.param(key=key, shape=shape, dtype=kind.dtype))
    erase_unused(list(known.ops))


def _needed(found: Sequence[ir.Value], known: _WeightOps) -> Iterator[ir.Operation]:
    """The ops that `found` are computed from, in program order."""
    wanted, pending = set(), [value.owner.operation for value in found]
    while pending:
        op = pending.pop()
        if op not in wanted:
            wanted.add(op)
            pending.extend(value.owner.operation for value in op.operands)
    return (op for op in known.ops if op in wanted)


def _at_top(op: ir.Operation) -> ir.Operation:
    """The op of the function's own block that `op` is or stands in."""
    while op.parent.name != "func.func":
        op = op.parent
    return op

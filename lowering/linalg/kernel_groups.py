"""Which ops of a block form a kernel: one computation, with the ops that initialise the buffers it works on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.buffers import (
    VIEW_OPS,
    inputs_of,
    is_allocation,
    is_linalg,
    is_memref,
    may_alias,
    nested_ops,
    outputs_of,
    root_of,
    touched_roots,
    written_roots,
)

_LOOPS = frozenset({"scf.for", "scf.while", "scf.forall", "scf.parallel", "affine.for", "affine.parallel"})
_BARRIERS = frozenset({"func.call", "memref.alloc", "memref.dealloc"})


@dataclass(frozen=True)
class OutlinedGroup:
    """Ops that move into one function, in order; the last one, the anchor, is the computation that names it."""

    ops: tuple[ir.Operation, ...]

    @property
    def anchor(self) -> ir.Operation:
        return self.ops[-1]


@dataclass
class _BlockFacts:
    """Per op of a block: the buffers it touches and writes. Per buffer: the positions of the ops that touch it."""

    ops: list[ir.Operation]
    touched: list[list[ir.Value]] = field(default_factory=list)
    written: list[list[ir.Value]] = field(default_factory=list)
    touchers: dict[ir.Value, list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for position, op in enumerate(self.ops):
            self.touched.append(touched_roots(op))
            self.written.append(written_roots(op))
            for root in self.touched[-1]:
                self.touchers[root].append(position)

    def is_written_between(self, root: ir.Value, first: int, last: int, ignored: set[int]) -> bool:
        """Whether an op strictly between the two positions may write `root`."""
        between = (k for k in range(first + 1, last) if k not in ignored)
        return any(may_alias(root, other) for k in between for other in self.written[k])


def kernel_groups(block: ir.Block) -> list[OutlinedGroup]:
    """The kernels of `block`, in order; ops of nested blocks belong to none of them unless a whole loop is a kernel."""
    facts = _BlockFacts([op.operation for op in block.operations])
    anchors = [k for k, op in enumerate(facts.ops) if is_computation(op)]
    taken: set[int] = set()
    grouped: dict[int, list[int]] = {}
    for anchor in sorted(anchors, key=lambda k: _rank(facts.ops[k])):
        if anchor not in taken:
            grouped[anchor] = _initialisers(facts, anchor, taken | grouped.keys())
            taken.update(grouped[anchor])
    return [OutlinedGroup(tuple(facts.ops[k] for k in [*grouped[anchor], anchor])) for anchor in sorted(grouped)]


def _rank(op: ir.Operation) -> int:
    """Order in which anchors choose their initialisers: computations first, then copies, and fills that nobody took."""
    if is_linalg(op) and _is_initialisation(op):
        return 2
    return 1 if _is_copy(op) else 0


def is_computation(op: ir.Operation) -> bool:
    """Whether `op` is work for a kernel: a linalg op, or a loop nest of plain loads and stores that gives no values."""
    if is_linalg(op):
        return True
    if op.name not in _LOOPS or len(op.results):
        return False
    inner = nested_ops(op)[1:]
    return not any(is_linalg(each) or each.name in _BARRIERS for each in inner)


def _is_initialisation(op: ir.Operation) -> bool:
    """Whether `op` only writes: a linalg op that reads no buffer."""
    return is_linalg(op) and not any(is_memref(value) for value in inputs_of(op))


def _initialisers(facts: _BlockFacts, anchor: int, taken: set[int]) -> list[int]:
    """Positions of the fills and copies that prepare the anchor's buffers and can move down to it, in order."""
    op = facts.ops[anchor]
    outputs = {root_of(value) for value in outputs_of(op) if is_memref(value)} if is_linalg(op) else set()
    found: set[int] = set()
    for root in facts.touched[anchor]:
        if not is_allocation(root) or (root not in outputs and not _is_private_to(facts, root, anchor)):
            continue
        for position in reversed([k for k in facts.touchers[root] if k < anchor]):
            if position in found:
                continue
            if position in taken or not _prepares(facts, position, root, anchor, found):
                break
            found.add(position)
    return sorted(found)


def _is_private_to(facts: _BlockFacts, root: ir.Value, anchor: int) -> bool:
    """Whether only the anchor reads `root`, a buffer of this block: all other ops that touch it only prepare it."""
    others = [k for k in facts.touchers[root] if k != anchor]
    return all(k < anchor and _writes_only(facts, k, root) for k in others)


def _prepares(facts: _BlockFacts, position: int, root: ir.Value, anchor: int, found: set[int]) -> bool:
    """Whether the op at `position` just sets `root`, from sources that still hold the same at the anchor."""
    if not _writes_only(facts, position, root):
        return False
    sources = [source for source in facts.touched[position] if source != root]
    return not any(facts.is_written_between(source, position, anchor, found) for source in sources)


def _writes_only(facts: _BlockFacts, position: int, root: ir.Value) -> bool:
    """Whether the op is a fill or a copy whose only written buffer is `root`, without reading it."""
    op = facts.ops[position]
    if facts.written[position] != [root]:
        return False
    if op.name == "memref.copy":
        return root_of(op.operands[0]) != root
    return _is_initialisation(op) or _is_copy(op)


def _is_copy(op: ir.Operation) -> bool:
    """Whether a linalg op just yields its input."""
    if op.name != "linalg.generic" or len(inputs_of(op)) != 1:
        return False
    body = op.regions[0].blocks[0]
    last = body.operations[len(body.operations) - 1].operation
    return len(body.operations) == 1 and list(last.operands) == [body.arguments[0]]


def local_views(ops: Sequence[ir.Operation], locals_: set[ir.Value]) -> list[ir.Operation]:
    """The view ops through which `ops` reach the buffers `locals_`, sources before their views."""
    ordered: dict[ir.Operation, None] = {}

    def visit(value: ir.Value) -> None:
        if isinstance(value, ir.BlockArgument) or root_of(value) not in locals_:
            return
        op = value.owner.operation
        if op.name in VIEW_OPS and op not in ordered:
            for operand in op.operands:
                visit(operand)
            if op.block == ops[0].block:  # one inside a loop moves with that
                ordered[op] = None

    for op in ops:
        for inner in nested_ops(op):
            for value in inner.operands:
                if is_memref(value):
                    visit(value)
    return list(ordered)

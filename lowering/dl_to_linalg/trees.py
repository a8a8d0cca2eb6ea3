"""Lowering of tree_walk: one element a walk, its steps unrolled, every step four reads and no branch."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.checks import require_same, size_of
from dlc.lowering.dl_to_linalg.building.indexing import clamped, element_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering


@lowering("tree_walk")
def lower_tree_walk(b: Builder, op: SourceOp) -> ir.Value:
    """Starts that are the same for all rows are read from their list."""
    x, nodes, *tables = op.operands
    for table in (3, 4):
        require_same(b, op, (2, 0), (table, 0))
    is_shared = op.types[1].rank == 1
    if not is_shared:
        require_same(b, op, (0, 0), (1, 0))
    shape = [b.dim(x, 0), b.dim(nodes, op.types[1].rank - 1)]
    if 0 in [size for size in shape if isinstance(size, int)]:
        return b.empty(shape, "i32")
    needed = b.extent("min", b.num_elements(shape), 1)
    for axis in ((0, 1), (2, 0)):
        b.require_at_most(("the least size for its walks", needed), size_of(b, op, axis))
    row, tree = ir.AffineExpr.get_dim(0), ir.AffineExpr.get_dim(1)
    starts = ir.AffineMap.get(2, 0, [tree] if is_shared else [row, tree])

    def body(start: ir.Value, _: ir.Value) -> ir.Value:
        at = clamped(b, b.index_cast(start, ir.IndexType.get()), b.dim(tables[0], 0))
        for _step in range(op["levels"]):
            at = _below(b, op, b.iteration(0), at)
        return b.index_cast(at, b.element("i32"))

    return b.generic([nodes], b.empty(shape, "i32"), [starts, ir.AffineMap.get_identity(2)], [PARALLEL] * 2, body)


def _below(b: Builder, op: SourceOp, row: ir.Value, at: ir.Value) -> ir.Value:
    """The node that a row goes to from the node `at`."""
    x, _, feature, split, below = op.operands
    index = ir.IndexType.get()
    column = clamped(b, b.index_cast(element_at(b, feature, [at]), index), b.dim(x, 1))
    value = b.widen(element_at(b, x, [row, column]), op.types[0].dtype)
    limit = b.widen(element_at(b, split, [at]), op.types[3].dtype)
    taken = b.convert(b.compare("le", value, limit, b.wide(op.types[0].dtype)), "i1", "i32")
    found = b.arith("add", element_at(b, below, [at]), taken, "i32")
    return clamped(b, b.index_cast(found, index), b.dim(feature, 0))

"""What an op does to buffers: which allocation a memref is a view of, who reads it and who writes it.

Answers are conservative: an op that is not known is taken to read and write every memref that it names.
"""

from __future__ import annotations

from collections.abc import Set

from dlc._mlir import ir

VIEW_OPS = frozenset(
    f"memref.{name}"
    for name in (
        "cast",
        "collapse_shape",
        "expand_shape",
        "extract_strided_metadata",
        "memory_space_cast",
        "reinterpret_cast",
        "reshape",
        "subview",
        "transpose",
        "view",
    )
)
"""Ops whose memref result shares the memory of their first operand."""

ALLOCATIONS = frozenset({"memref.alloc", "memref.alloca"})

_QUERIES = frozenset({"memref.dim", "memref.extract_aligned_pointer_as_index"})


def is_memref(value: ir.Value) -> bool:
    """Whether `value` is a ranked or unranked memref."""
    return isinstance(value.type, (ir.MemRefType, ir.UnrankedMemRefType))


def element_bytes(kind: ir.Type) -> int | None:
    """Bytes of an element in memory, where each takes whole ones (i1 takes one); None for types that are no plain numbers."""
    if isinstance(kind, ir.IndexType):
        return 8
    if isinstance(kind, ir.IntegerType | ir.FloatType):
        return (int(kind.width) + 7) // 8
    return None


def defining_op(value: ir.Value) -> ir.Operation | None:
    """The op whose result `value` is, or None for a block argument."""
    return None if isinstance(value, ir.BlockArgument) else value.owner.operation


def root_of(value: ir.Value, views: Set[str] = VIEW_OPS) -> ir.Value:
    """The memref that `value` is a view of, through any number of view ops; `value` itself when it is no view.

    `views` are names of ops, of tensors perhaps, whose result stands for their first operand.
    """
    op = defining_op(value)
    while op is not None and op.name in views:
        value = op.operands[0]
        op = defining_op(value)
    return value


def is_allocation(value: ir.Value) -> bool:
    """Whether `value` is fresh memory, the result of an allocating op."""
    op = defining_op(value)
    return op is not None and op.name in ALLOCATIONS


def is_unaliased(root: ir.Value) -> bool:
    """Whether `root` is an argument that its function states to share memory with no other while either is written."""
    marks = argument_marks(root)
    return marks is not None and ("llvm.noalias" in marks or "dl.result" in marks)


def argument_marks(value: ir.Value) -> ir.DictAttr | None:
    """What a function states of its argument `value`; None for other values and where it states nothing."""
    if not isinstance(value, ir.BlockArgument):
        return None
    function = value.owner.owner.operation
    is_argument = function.name == "func.func" and value.owner == function.regions[0].blocks[0]
    if not is_argument or "arg_attrs" not in function.attributes:
        return None
    return ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[value.arg_number])


def may_alias(a: ir.Value, b: ir.Value) -> bool:
    """Whether the roots `a` and `b` (see `root_of`) may share memory: fresh memory is not that of another root which is
    fresh too, a global, an argument of a function, or a block argument that existed before."""
    if a == b:
        return True
    return not ((is_allocation(a) and _is_apart(b, a)) or (is_allocation(b) and _is_apart(a, b)))


def _is_apart(root: ir.Value, fresh: ir.Value) -> bool:
    """Whether `root` cannot be the memory that `fresh`, another value, allocates."""
    op = defining_op(root)
    if op is not None:
        return op.name in ALLOCATIONS or op.name == "memref.get_global"
    inner: ir.Operation | None = fresh.owner.operation
    while inner is not None and inner.name != "builtin.module":
        if inner.block == root.owner:
            return True
        inner = inner.parent.operation if inner.parent is not None else None
    return False


def nested_ops(op: ir.Operation) -> list[ir.Operation]:
    """`op` and every op inside its regions, in order, listed before the first is looked at."""
    if not len(op.regions):
        return [op]
    found: list[ir.Operation] = []
    advance = ir.WalkResult.ADVANCE

    def visit(inner: ir.Operation) -> ir.WalkResult:
        found.append(inner)
        return advance

    op.walk(visit, ir.WalkOrder.PRE_ORDER)  # a third of the time of a generator for each level
    return found


def ancestor_in(op: ir.Operation, block: ir.Block) -> ir.Operation:
    """The op of `block` that is `op` or has it inside."""
    while op.block != block:
        op = op.parent.operation
    return op


def touched_roots(op: ir.Operation) -> list[ir.Value]:
    """Roots of the memrefs whose contents `op`, or an op inside it, reads or writes; in order, without repeats."""
    found: dict[ir.Value, None] = {}
    for inner in nested_ops(op):
        if inner.name not in VIEW_OPS and inner.name not in _QUERIES and inner.name not in ALLOCATIONS:
            found.update((root_of(value), None) for value in inner.operands if is_memref(value))
    return list(found)


def written_roots(op: ir.Operation) -> list[ir.Value]:
    """Roots of the memrefs that `op`, or an op inside it, may write."""
    found: dict[ir.Value, None] = {}
    for inner in nested_ops(op):
        found.update((root_of(value), None) for value in written_values(inner))
    return list(found)


def written_values(op: ir.Operation) -> list[ir.Value]:
    """The memref operands that `op` itself may write."""
    name = op.name
    if name in _NEVER_WRITES or (name.startswith(_WITHOUT_MEMREFS) and name != "arith.select"):
        return []
    if is_linalg(op):
        return [value for value in outputs_of(op) if is_memref(value)]
    if name in _WRITERS:
        return [op.operands[_WRITERS[name]]]
    return [value for value in op.operands if is_memref(value)]


_READERS = frozenset(
    {
        "memref.load",
        "affine.load",
        "affine.prefetch",
        "memref.prefetch",
        "vector.load",
        "affine.vector_load",
        "vector.maskedload",
        "vector.gather",
        "func.return",
        "scf.yield",
    }
)
_WITHOUT_MEMREFS = ("arith.", "math.", "vector.broadcast", "vector.fma")
_NEVER_WRITES = _READERS | VIEW_OPS | _QUERIES | ALLOCATIONS
_WRITERS = {
    "memref.copy": 1,
    "memref.store": 1,
    "affine.store": 1,
    "vector.store": 1,
    "affine.vector_store": 1,
    "vector.maskedstore": 0,
    "vector.scatter": 0,
}
"""Index of the operand that is written."""


def is_linalg(op: ir.Operation) -> bool:
    """Whether `op` is a linalg structured op."""
    return op.name.startswith("linalg.") and op.name not in ("linalg.yield", "linalg.index")


def inputs_of(op: ir.Operation) -> list[ir.Value]:
    """The `ins` of a linalg structured op."""
    return list(op.operands)[: len(op.operands) - _num_outputs(op)]


def outputs_of(op: ir.Operation) -> list[ir.Value]:
    """The `outs` of a linalg structured op."""
    return list(op.operands)[len(op.operands) - _num_outputs(op) :]


def _num_outputs(op: ir.Operation) -> int:
    """Ops without the attribute (`linalg.map`, `linalg.transpose`, ...) have one output, their last operand."""
    if "operandSegmentSizes" not in op.attributes:
        return 1
    return list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[1]


def strides_of(kind: ir.MemRefType) -> tuple[list[int], int]:
    """The strides and the offset of a memref, in elements; all dynamic where its layout has none (one in tiles, say)."""
    try:
        strides, offset = kind.get_strides_and_offset()
    except RuntimeError:
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        return [dynamic] * kind.rank, dynamic
    return list(strides), offset


def has_strides(kind: ir.MemRefType) -> bool:
    """Whether strides find the elements of a memref; no layout in tiles has such."""
    try:
        kind.get_strides_and_offset()
    except RuntimeError:
        return False
    return True


def overlaps_itself(kind: ir.MemRefType) -> bool:
    """Whether strides that are numbers bring two elements into one place; sizes that are not known count as 2."""
    strides, _ = strides_of(kind)
    sizes = [2 if kind.is_dynamic_dim(dim) else kind.shape[dim] for dim in range(kind.rank)]
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    reach = 0
    for stride, size in sorted((abs(stride), size) for stride, size in zip(strides, sizes, strict=True) if stride != dynamic):
        if size > 1 and stride <= reach:
            return True
        reach += stride * max(0, size - 1)
    return False


def is_row_major(kind: ir.MemRefType) -> bool:
    """Whether a memref type has no layout of its own: elements lie side by side from the start."""
    return isinstance(kind.layout, ir.AffineMapAttr) and bool(kind.affine_map == ir.AffineMap.get_identity(kind.rank))


def is_contiguous(kind: ir.MemRefType) -> bool:
    """Whether the elements of every memref of this type lie side by side in row-major order, at any offset."""
    strides, _ = strides_of(kind)
    expected: int | None = 1
    for axis in reversed(range(kind.rank)):
        if kind.is_static_dim(axis) and kind.shape[axis] == 1:
            continue
        if expected is None:
            return kind.affine_map == ir.AffineMap.get_identity(kind.rank)
        if strides[axis] != expected:
            return False
        expected = expected * kind.shape[axis] if kind.is_static_dim(axis) else None
    return True

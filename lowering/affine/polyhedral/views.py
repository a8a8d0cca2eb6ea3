"""Subscripts of views as subscripts of the memref that they are views of."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op
from dlc.lowering.affine.ir.element_relations import LoopVariable
from dlc.lowering.affine.polyhedral.index_texts import IndexTexts
from dlc.lowering.affine.polyhedral.model import ExtractionError

_SAME_SUBSCRIPTS = ("memref.cast", "memref.memory_space_cast")


def at_root(
    memref: ir.Value,
    subscripts: Sequence[str],
    loops: Sequence[LoopVariable],
    texts: IndexTexts,
    user: ir.Operation,
    *,
    keeps_reshapes: bool = False,
) -> tuple[ir.Value, list[str]]:
    """The root of `memref` (see `root_of`) and the subscripts there of its element at `subscripts`.

    Raises ExtractionError at `user` where they are not affine. With `keeps_reshapes`, the last view through which they are stands
    for the root: axes that are joined or divided at sizes which only run time knows have no subscripts in each other's terms.
    """
    found = list(subscripts)
    op = defining_op(memref)
    while op is not None and op.name in VIEW_OPS and not (keeps_reshapes and _is_open_reshape(op)):
        found = _through(op, found, loops, texts, user)
        memref = op.operands[0]
        op = defining_op(memref)
    return memref, found


def _through(
    op: ir.Operation, subscripts: list[str], loops: Sequence[LoopVariable], texts: IndexTexts, user: ir.Operation
) -> list[str]:
    """The subscripts of `op`'s operand for those of its result."""
    if op.name in _SAME_SUBSCRIPTS and isinstance(op.operands[0].type, ir.MemRefType):
        return subscripts
    if op.name == "memref.subview":
        return _of_subview(op, subscripts, loops, texts, user)
    if op.name == "memref.transpose":
        places = [result.maybe_downcast().position for result in op.attributes["permutation"].value.results]
        return [subscripts[places.index(axis)] for axis in range(len(places))]
    if op.name == "memref.collapse_shape":
        return _of_collapsed(op, subscripts, user)
    if op.name == "memref.expand_shape":
        return _of_expanded(op, subscripts, user)
    remedy = "run --fold-memref-alias-ops first, or index the memref itself"
    raise ExtractionError(user, f"it reads or writes through '{op.name}', whose elements the model cannot tell apart", remedy)


def _of_subview(
    op: ir.Operation, subscripts: list[str], loops: Sequence[LoopVariable], texts: IndexTexts, user: ir.Operation
) -> list[str]:
    """`offset + stride * subscript` on the axes that the view keeps, `offset` on those that it drops."""
    offsets, strides = (_mixed(op, name, loops, texts, user) for name in ("offsets", "strides"))
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
    shape = list(ir.MemRefType(op.results[0].type).shape)
    found = []
    for axis, (offset, stride) in enumerate(zip(offsets, strides, strict=True)):
        at = len(subscripts) - len(shape)
        is_dropped = len(sizes) - axis > len(shape) and sizes[axis] == 1 and shape[:1] != [1]
        if is_dropped:
            found.append(offset)
            continue
        if not stride.lstrip("-").isdigit():
            raise ExtractionError(user, "it touches a memref through a view of dynamic stride", "make the stride static")
        found.append(f"({offset} + {stride} * {subscripts[at]})")
        shape.pop(0)
    return found


def _mixed(op: ir.Operation, name: str, loops: Sequence[LoopVariable], texts: IndexTexts, user: ir.Operation) -> list[str]:
    """The static and dynamic `offsets` or `strides` of a subview."""
    counts = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    segment = ("source", "offsets", "sizes", "strides").index(name)
    start = sum(counts[:segment])
    operands = iter(list(op.operands)[start : start + counts[segment]])
    dynamic = ir.ShapedType.get_dynamic_size()
    static = ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"])
    return [texts.value(next(operands), loops, user) if value == dynamic else str(value) for value in static]


def _of_collapsed(op: ir.Operation, subscripts: list[str], user: ir.Operation) -> list[str]:
    """The position in each group of axes, divided up among them."""
    shape = ir.MemRefType(op.operands[0].type).shape
    if not subscripts:  # the only element
        return ["0"] * len(shape)
    found: list[str] = []
    for group, position in zip(_groups(op), subscripts, strict=True):
        inner = 1
        parts: list[str] = []
        for axis in reversed(group):
            whole = f"floor(({position})/{inner})" if inner != 1 else position
            is_outermost = axis == group[0] or all(shape[other] == 1 for other in group if other < axis)
            parts.append("0" if shape[axis] == 1 else whole if is_outermost else f"(({whole}) mod {_static(shape[axis], user)})")
            inner *= 1 if is_outermost else shape[axis]
        found += reversed(parts)
    return found


def _of_expanded(op: ir.Operation, subscripts: list[str], user: ir.Operation) -> list[str]:
    """The subscripts of each group of axes as one position."""
    shape = ir.MemRefType(op.results[0].type).shape
    found = []
    for group in _groups(op):
        inner, terms = 1, []
        for axis in reversed(group):
            terms.append(f"{inner} * {subscripts[axis]}")
            inner *= 1 if axis == group[0] else _static(shape[axis], user)
        found.append(f"({' + '.join(reversed(terms))})")
    return found


def _is_open_reshape(op: ir.Operation) -> bool:
    """Whether subscripts on one side of a reshape take products of sizes, or quotients by sizes, that run time knows."""
    if op.name not in ("memref.collapse_shape", "memref.expand_shape"):
        return False
    shape = ir.MemRefType(op.operands[0].type if op.name == "memref.collapse_shape" else op.results[0].type).shape
    inner = [axis for group in _groups(op) for axis in group[1:] if any(shape[other] != 1 for other in group if other < axis)]
    return any(shape[axis] == ir.ShapedType.get_dynamic_size() for axis in inner)


def _groups(op: ir.Operation) -> list[list[int]]:
    return [[ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)] for group in ir.ArrayAttr(op.attributes["reassociation"])]


def _static(size: int, user: ir.Operation) -> int:
    if size == ir.ShapedType.get_dynamic_size():
        raise ExtractionError(user, "it touches a memref reshaped with dynamic inner sizes", "make these sizes static")
    return size

"""From tensors to buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops, root_of
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import Pass, PassFailure

_LOOPS = ("scf.for", "scf.while")
_WRITABLE = "bufferization.writable"
_DONATED = "dl.donated"
_RESHAPES = ("memref.collapse_shape", "memref.expand_shape")
_ONE_SHOT = (
    "one-shot-bufferize{bufferize-function-boundaries=true allow-return-allocs-from-loops=true "
    "function-boundary-type-conversion=identity-layout-map buffer-alignment=0}"
)


@dataclass(frozen=True)
class BufferizeTensors(Pass):
    """Turn tensors into memrefs; public functions own what they return and never write their arguments.

    Every function keeps plain row-major (identity layout) memrefs at its boundary. A result of a public function is
    memory that it, or a function that it calls, allocated: one that would be an argument, a constant or another result is
    copied first. A private function returns an argument as it is, but no part of one. Arguments with the attribute
    `dl.donated` may be written, and be the memory of one result each.

    before:
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %e = tensor.empty() : tensor<4xf32>
          %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
          return %y : tensor<4xf32>
        }
    after:
        func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
          %y = memref.alloc() : memref<4xf32>
          linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
          return %y : memref<4xf32>
        }
    """

    def run(self, op: ir.Operation) -> None:
        _require_no_dl(op)
        for function in _public_functions(op):
            _forbid_writes_to_arguments(function)
        for loop in [inner for inner in nested_ops(op) if inner.name in _LOOPS]:
            _start_apart(loop)
        run_native(op, _ONE_SHOT)
        for cast in [inner for inner in nested_ops(op) if inner.name == "memref.cast"]:
            _keep_rows_apart(cast)
        if any(_donates(function) for function in _public_functions(op)):
            # A call or a loop that hands a donated buffer on then names it.
            run_native(op, "canonicalize", "drop-equivalent-buffer-results", "canonicalize")
        for function in op.regions[0].blocks[0].operations:
            if _is_private(function.operation):
                _copy_views(function)
        for function in _public_functions(op):
            _own_results(function)


def _require_no_dl(module: ir.Operation) -> None:
    for op in nested_ops(module):
        if op.name.startswith("dl."):
            raise PassFailure(op, f"needs linalg on tensors, found '{op.name}'", "run convert-dl-to-linalg first")


def _start_apart(loop: ir.Operation) -> None:
    """Give each value that a loop carries, and that starts as an empty tensor, one of its own.

    One-shot bufferization sees no write of another user between iterations, as nothing defines what an empty tensor holds.
    """
    for index, value in enumerate(loop.operands):
        empty = defining_op(value)
        if empty is not None and empty.name == "tensor.empty" and len(list(value.uses)) > 1:
            loop.operands[index] = empty.clone(ip=ir.InsertionPoint(empty)).operation.result


def _public_functions(module: ir.Operation) -> Iterator[ir.OpView]:
    """Functions with a body that the outside can call."""
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "func.func" and not op.is_external and "sym_visibility" not in op.attributes:
            yield op


def _forbid_writes_to_arguments(function: ir.OpView) -> None:
    """Mark tensor arguments read-only for the analysis, which drops the mark again."""
    marked, kinds = [], function.type.inputs
    given = list(function.arg_attrs) if "arg_attrs" in function.attributes else [ir.DictAttr.get({})] * len(kinds)
    for kind, attributes in zip(kinds, given, strict=True):
        named = {entry.name: entry.attr for entry in ir.DictAttr(attributes)}
        if isinstance(kind, ir.RankedTensorType) and _DONATED not in named:
            named[_WRITABLE] = ir.BoolAttr.get(False)
        marked.append(ir.DictAttr.get(named))
    function.arg_attrs = ir.ArrayAttr.get(marked)


def _own_results(function: ir.OpView) -> None:
    """Copy each returned memref that is not fresh memory of its own."""
    body = function.regions[0].blocks[0]
    terminator = body.operations[len(body.operations) - 1].operation
    taken: set[ir.Value] = set()
    for index, value in enumerate(terminator.operands):
        if not isinstance(value.type, ir.MemRefType):
            continue
        root = root_of(value)
        owned = _is_allocated_in(root, body) or _is_fresh_result(root, body) or _is_donated(root, function)
        if root not in taken and owned:
            taken.add(root)
            continue
        with ir.InsertionPoint(terminator), terminator.location:
            terminator.operands[index] = _copy_of(value)


def _is_private(operation: ir.Operation) -> bool:
    is_function = operation.name == "func.func" and bool(operation.regions[0].blocks)
    return is_function and "sym_visibility" in operation.attributes


def _copy_views(function: ir.Operation) -> None:
    """Copy each returned view of an argument: callers take memory that they did not give for their own."""
    body = function.regions[0].blocks[0]
    terminator = body.operations[len(body.operations) - 1].operation
    for index, value in enumerate(terminator.operands):
        if not isinstance(value.type, ir.MemRefType) or root_of(value) == value or root_of(value).owner != body:
            continue
        with ir.InsertionPoint(terminator), terminator.location:
            terminator.operands[index] = root_of(value) if _is_whole(value) else _copy_of(value)


def _is_whole(view: ir.Value) -> bool:
    """Whether `view` is a plain buffer, reshaped any number of times and back."""
    value, op = view, defining_op(view)
    while op is not None and op.name in _RESHAPES and not isinstance(ir.MemRefType(value.type).layout, ir.StridedLayoutAttr):
        value = op.operands[0]
        op = defining_op(value)
    return value == root_of(view) and value.type == view.type


def _keep_rows_apart(cast: ir.Operation) -> None:
    """Copy what is cast to rows that follow each other, where run time alone knows how far apart they are.

    One-shot bufferization takes any unknown distance for any other.
    """
    source, kind = cast.operands[0], cast.results[0].type
    given = source.type
    if not all(isinstance(each, ir.MemRefType) for each in (given, kind)) or not isinstance(given.layout, ir.StridedLayoutAttr):
        return
    strides, _ = given.get_strides_and_offset()
    is_open = ir.ShapedType.get_dynamic_stride_or_offset() in strides
    if isinstance(kind.layout, ir.StridedLayoutAttr) or not is_open or _has_whole_rows(source):
        return
    with ir.InsertionPoint(cast), cast.location:
        cast.results[0].replace_all_uses_with(_copy_of(source))
    cast.erase()


def _has_whole_rows(value: ir.Value) -> bool:
    """Whether `value` is some rows of a plain buffer, cut along no other axis than the first of more than one element."""
    view = defining_op(value)
    if view is None or view.name != "memref.subview":
        return False
    source, sizes = ir.MemRefType(view.operands[0].type), list(view.attributes["static_sizes"])
    is_plain = not isinstance(source.layout, ir.StridedLayoutAttr) and source.rank == ir.MemRefType(value.type).rank
    first = next((axis for axis, size in enumerate(sizes) if size != 1), len(sizes))
    inner = range(first + 1, source.rank)
    return is_plain and all(not source.is_dynamic_dim(axis) and source.get_dim_size(axis) == sizes[axis] for axis in inner)


def _donates(function: ir.OpView) -> bool:
    given = list(function.arg_attrs) if "arg_attrs" in function.attributes else []
    return any(_DONATED in ir.DictAttr(attributes) for attributes in given)


def _is_donated(root: ir.Value, function: ir.OpView) -> bool:
    """Whether `root` is an argument that the caller gives away."""
    if root.owner != function.regions[0].blocks[0] or "arg_attrs" not in function.attributes:
        return False
    return _DONATED in ir.DictAttr(function.arg_attrs[ir.BlockArgument(root).arg_number])


def _is_allocated_in(root: ir.Value, block: ir.Block) -> bool:
    op = defining_op(root)
    return op is not None and op.name == "memref.alloc" and op.block == block


def _is_fresh_result(root: ir.Value, block: ir.Block) -> bool:
    """Whether `root` is memory that a function called in `block` allocates and returns once."""
    call = defining_op(root)
    if call is None or call.name != "func.call" or call.block != block:
        return False
    callee = _function_named(call, ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
    if callee is None or len(callee.regions[0].blocks) != 1:
        return False
    body = callee.regions[0].blocks[0]
    returned = [_carried_root(value) for value in body.operations[len(body.operations) - 1].operation.operands]
    source = returned[ir.OpResult(root).result_number]
    return returned.count(source) == 1 and _is_allocated_in(source, body)


def _carried_root(value: ir.Value) -> ir.Value:
    """The root of a memref, before the loops that carry it from one iteration to the next as it is."""
    root = root_of(value)
    loop = defining_op(root)
    while loop is not None and loop.name == "scf.for":
        index = ir.OpResult(root).result_number
        body = loop.regions[0].blocks[0]
        handed_on = body.operations[len(body.operations) - 1].operation.operands[index]
        if _carried_root(handed_on) != body.arguments[1 + index]:
            return root
        root = root_of(loop.operands[3 + index])
        loop = defining_op(root)
    return root


def _function_named(op: ir.Operation, name: str) -> ir.Operation | None:
    while op.name != "builtin.module":
        op = op.parent.operation
    for item in op.regions[0].blocks[0].operations:
        named = item.operation.attributes
        if "sym_name" in named and ir.StringAttr(named["sym_name"]).value == name:
            return item.operation
    return None


def _copy_of(value: ir.Value) -> ir.Value:
    """A new row-major buffer with the contents of `value`."""
    kind = ir.MemRefType(value.type)
    plain = ir.MemRefType.get(kind.shape, kind.element_type)
    sizes = [_dim(value, axis) for axis in range(kind.rank) if kind.is_dynamic_dim(axis)]
    segments = ir.DenseI32ArrayAttr.get([len(sizes), 0])
    buffer = ir.Operation.create(
        "memref.alloc", results=[plain], operands=sizes, attributes={"operandSegmentSizes": segments}
    ).result
    ir.Operation.create("memref.copy", operands=[value, buffer])
    return buffer


def _dim(value: ir.Value, axis: int) -> ir.Value:
    index = ir.IndexType.get()
    position = ir.Operation.create("arith.constant", results=[index], attributes={"value": ir.IntegerAttr.get(index, axis)}).result
    return ir.Operation.create("memref.dim", results=[index], operands=[value, position]).result

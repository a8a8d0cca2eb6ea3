"""C interfaces: the functions through which callers reach a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlc._mlir import ir
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine_to_llvm.result_memory import take_result_memory

C_INTERFACE = "_mlir_ciface_"


def merge_interfaces(module: ir.Operation) -> None:
    """Inline the function that each C interface of an llvm-dialect module calls. The interface then reads only the fields of
    descriptors that are used. Memory of results comes from the runtime, which may have it from the caller.

    The upstream lowering reads whole descriptors, calls the function with all their fields and leaves it to LLVM to inline
    that. Several of LLVM's passes are quadratic in the fields: 20 s for ResNet-50, 6 s for DenseNet-121 where sizes and
    strides are not used. Argument attributes of the interface go, since `dl.signature` names the arguments and the
    translation to LLVM IR is quadratic in them: 15 s for the 841 weights of DenseNet-121.
    """
    functions = {symbol_name(op): op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "llvm.func"}
    for name, interface in functions.items():
        target = functions.get(name.removeprefix(C_INTERFACE))
        if name.startswith(C_INTERFACE) and target is not None:
            _merge(interface, target)


def _merge(interface: ir.Operation, target: ir.Operation) -> None:
    """Make `target` the interface; the op `interface` goes."""
    outer = interface.regions[0].blocks[0]
    ops = [op.operation for op in outer.operations]
    call = next(op for op in ops if op.name == "llvm.call")
    stored = next((op for op in ops if op.name == "llvm.store"), None)
    result = None if stored is None else list(outer.arguments).index(stored.operands[1])
    entry = target.regions[0].blocks[0]
    old = list(entry.arguments)
    new = [entry.add_argument(argument.type, argument.location) for argument in outer.arguments]
    renamed = dict(zip(outer.arguments, new, strict=True))
    _return_through(target, None if result is None else new[result])
    _move(ops[: ops.index(call)], entry, renamed)
    for argument, value in zip(old, list(call.operands), strict=True):
        argument.replace_all_uses_with(renamed.get(value, value))
    for position in reversed(range(len(old))):
        entry.erase_argument(position)
    attributes = {key: interface.attributes[key] for key in ("function_type", "sym_name")}
    interface.erase()  # and the call in it, which uses every field
    for argument in list(entry.arguments):
        for use in list(argument.uses):
            _load_fields(use.owner.operation)
    for key, value in attributes.items():
        target.attributes[key] = value
    _clean(target)
    if result is not None:
        take_result_memory(target)


def _return_through(function: ir.Operation, place: ir.Value | None) -> None:
    """Let `function` store its result at `place` instead of returning it."""
    if place is None:
        return
    for block in function.regions[0].blocks:
        end = block.operations[len(block.operations) - 1].operation
        if end.name == "llvm.return":
            with ir.InsertionPoint(end), end.location:
                ir.Operation.create("llvm.store", operands=[end.operands[0], place])
                ir.Operation.create("llvm.return")
            end.erase()


def _move(ops: Sequence[ir.Operation], block: ir.Block, arguments: Mapping[ir.Value, ir.Value]) -> None:
    """Move `ops` to the start of `block`; they use `arguments` by their new values then."""
    first = block.operations[0]
    for op in ops:
        for index, operand in enumerate(op.operands):
            if operand in arguments:
                op.operands[index] = arguments[operand]
        op.move_before(first)


def _load_fields(load: ir.Operation) -> None:
    """Replace the load of a descriptor, of which single fields are extracted, by loads of these."""
    if load.name != "llvm.load" or not str(load.results[0].type).startswith("!llvm.struct"):
        return
    users = [use.owner.operation for use in load.results[0].uses]
    if any(user.name != "llvm.extractvalue" for user in users):
        return
    pointer = load.operands[0]
    for user in sorted(users, key=lambda user: list(ir.DenseI64ArrayAttr(user.attributes["position"]))):
        if next(iter(user.results[0].uses), None) is not None:
            with ir.InsertionPoint(load), user.location:
                field = _load_field(pointer, load.results[0].type, user)
            user.results[0].replace_all_uses_with(field)
        user.erase()
    load.erase()


def _load_field(pointer: ir.Value, struct: ir.Type, extract: ir.Operation) -> ir.Value:
    position = list(ir.DenseI64ArrayAttr(extract.attributes["position"]))
    attributes = {
        "rawConstantIndices": ir.DenseI32ArrayAttr.get([0, *position]),
        "elem_type": ir.TypeAttr.get(struct),
    }
    address = ir.Operation.create("llvm.getelementptr", results=[pointer.type], operands=[pointer], attributes=attributes)
    return ir.Operation.create("llvm.load", results=[extract.results[0].type], operands=[address.result]).result


def _clean(function: ir.Operation) -> None:
    """Make the function external, and drop what concerned its old arguments."""
    for key in ("arg_attrs", "res_attrs", "sym_visibility"):
        if key in function.attributes:
            del function.attributes[key]
    function.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>", function.context)
    function.attributes["no_inline"] = ir.UnitAttr.get(function.context)

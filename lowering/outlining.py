"""Moving ops into a function of their own: what it takes, how it is built, and which of its arguments are alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, is_memref, is_unaliased, may_alias, nested_ops, root_of, written_roots
from dlc.analysis.symbols import symbol_name


def symbols_in(module: ir.Operation) -> set[str]:
    """The names that ops of a module's body have."""
    attributes = (op.operation.attributes for op in module.regions[0].blocks[0].operations)
    return {ir.StringAttr(each["sym_name"]).value for each in attributes if "sym_name" in each}


def clone_in_terms(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Clone `op` at the insertion point with `values` in place of its operands, and note its results there."""
    copy = op.clone().operation
    for place, operand in enumerate(op.operands):
        copy.operands[place] = values[operand]
    values.update(zip(op.results, copy.results, strict=True))


def clone_replacing(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> ir.Operation:
    """Clone `op` at the insertion point; it and ops inside it read those of `values`, where its results are noted."""
    copy = op.clone().operation
    for inner in nested_ops(copy):
        for place, operand in enumerate(inner.operands):
            if operand in values:
                inner.operands[place] = values[operand]
    values.update(zip(op.results, copy.results, strict=True))
    return copy


def free_numbers(taken: Set[str], prefixes: Sequence[str]) -> Iterator[int]:
    """0, 1, ... without those that make a name in `taken` of one of the `prefixes`."""
    return (number for number in itertools.count() if not any(f"{prefix}{number}" in taken for prefix in prefixes))


def _is_constant(op: ir.Operation) -> bool:
    return op.name == "arith.constant"


def captures_of(
    ops: Sequence[ir.Operation], repeats: Callable[[ir.Operation], bool] = _is_constant
) -> tuple[list[ir.Value], list[ir.Operation]]:
    """Values that `ops` use but do not define, as arguments to pass and constants to repeat; in order of first use."""
    every = [inner for op in ops for inner in nested_ops(op)]
    inside = set(every)
    blocks = {block for inner in every for region in inner.regions for block in region.blocks}
    captured: dict[ir.Value, None] = {}
    constants: dict[ir.Operation, None] = {}
    for value in dict.fromkeys(value for inner in every for value in inner.operands):
        source = defining_op(value)
        if source in inside or (source is None and value.owner in blocks):
            continue
        if source is not None and repeats(source):
            constants[source] = None
        else:
            captured[value] = None
    return list(captured), list(constants)


def private_function(
    name: str,
    moved: Sequence[ir.Operation],
    captured: Sequence[ir.Value],
    constants: Sequence[ir.Operation],
    extra: Sequence[ir.Type] = (),
    returned: Sequence[ir.Value] = (),
) -> ir.Operation:
    """A private function, in no module yet, that holds the ops `moved` and gives `returned`; at the current location.

    Its arguments are `captured`, then one of each type in `extra`; `constants` are repeated at its start.
    """
    location = ir.Location.current
    kinds = [*(value.type for value in captured), *extra]
    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "sym_visibility": ir.StringAttr.get("private"),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(kinds, [value.type for value in returned])),
    }
    function = ir.Operation.create("func.func", attributes=attributes, regions=1, ip=False)
    block = function.regions[0].blocks.append(*kinds, arg_locs=[location] * len(kinds))
    inner = dict(zip(captured, block.arguments, strict=False))
    with ir.InsertionPoint(block):
        for constant in constants:
            inner[constant.result] = constant.clone().result
        end = ir.Operation.create("func.return", operands=[inner.get(value, value) for value in returned])
    for op in moved:
        op.move_before(end)
        for each in nested_ops(op):
            for index, value in enumerate(each.operands):
                if value in inner:
                    each.operands[index] = inner[value]
    return function


class FunctionTable:
    """The functions of a module by structure: ops, types and attributes, without names and locations."""

    def __init__(self, module: ir.Operation, known: Iterable[ir.Operation] = ()) -> None:
        """`known` are functions of the module that new ones may turn out to be."""
        self._body = module.regions[0].blocks[0]
        symbols = [op for op in self._body.operations if "sym_name" in op.attributes]
        self._names = {symbol_name(op) for op in symbols}
        self._functions = {_structure(function): function for function in known}

    def share(self, function: ir.Operation, kind: str) -> ir.Operation:
        """The one with the structure of the detached `function`; the first one joins the module as `kernel_<n>_<kind>`."""
        key = _structure(function)
        if key not in self._functions:
            name = fresh_name(f"kernel_{len(self._functions)}_{kind}", self._names, "_")
            function.attributes["sym_name"] = ir.StringAttr.get(name, function.context)
            self._body.append(function)
            self._functions[key] = function
        return self._functions[key]


def _structure(function: ir.Operation) -> str:
    """The text of a function without its name and locations."""
    text: str = function.get_asm(use_local_scope=True, enable_debug_info=False)
    return text.replace(f"@{ir.StringAttr(function.attributes['sym_name']).value}(", "@(", 1)


def fresh_name(wanted: str, taken: set[str], separator: str) -> str:
    """`wanted`, or with the first number that is free behind it; joins `taken`."""
    candidates = (f"{wanted}{separator}{number}" if number else wanted for number in itertools.count())
    name = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(name)
    return name


def is_kernel(function: ir.Operation) -> bool:
    """Whether a `func.func` is one kernel, not an entry: it is private, or says so where kernels are modules of their own."""
    return "sym_visibility" in function.attributes or "dl.kernel" in function.attributes


NOALIAS = "llvm.noalias"
"""Attribute of arguments whose memory no other argument reaches."""


def noalias_arguments(function: ir.Operation) -> set[ir.Value]:
    """Arguments of `function` that are `llvm.noalias`."""
    if "arg_attrs" not in function.attributes:
        return set()
    marks = ir.ArrayAttr(function.attributes["arg_attrs"])
    arguments = function.regions[0].blocks[0].arguments
    return {value for value, mark in zip(arguments, marks, strict=True) if NOALIAS in ir.DictAttr(mark)}


def is_alone(index: int, roots: Sequence[ir.Value | None], written: Sequence[bool]) -> bool:
    """Whether no other root shares memory with root `index` while one of the two is written; None is no memref."""
    others = [
        root
        for position, root in enumerate(roots)
        if root is not None and position != index and (written[index] or written[position])
    ]
    return not any(may_alias(roots[index], other) for other in others)


def noalias_marks(function: ir.Operation, loops: Sequence[ir.Operation], captured: Sequence[ir.Value]) -> list[ir.Attribute]:
    """Attributes of the body's arguments: `llvm.noalias` where the function's own say that they are apart, or memory is fresh."""
    roots = [root_of(value) if is_memref(value) else None for value in captured]
    changed = {root for loop in loops for root in written_roots(loop)}
    written = [root in changed for root in roots]
    known = {argument for argument in function.regions[0].blocks[0].arguments if is_unaliased(argument)}
    marks = []
    for index, root in enumerate(roots):
        alone = root is not None and is_alone(index, [_unless_apart(other, root, known) for other in roots], written)
        marks.append(ir.DictAttr.get({NOALIAS: ir.UnitAttr.get()} if alone else {}, function.context))
    return marks


def _unless_apart(other: ir.Value | None, root: ir.Value, known: set[ir.Value]) -> ir.Value | None:
    """`other`, or None when it is known not to share memory with `root`: one of the two is an argument in `known`."""
    if other is None or other == root:
        return other
    return None if other in known or root in known else other

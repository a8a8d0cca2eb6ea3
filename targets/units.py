"""Cuts a module of linalg on buffers into units that compile on their own: each kernel, and the entry that calls them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.lowering.policy.record import POLICY
from dlc.targets.machine.attributes import TARGET

UNITS = "units"
"""At this stage a module can be cut into its kernels and the entry, which go through the rest each on its own."""

SCHEDULED = "parallelize"
"""At this stage all nests of kernels have their schedules, and are still in their kernels."""

KERNEL_PREFIX = "kernel_"
KERNEL_ATTRIBUTE = "dl.kernel"
_CANONICAL = "kernel"
_KEY_IN_NAME = 32


@dataclass(frozen=True)
class Unit:
    """A module that becomes one object.

    `symbol` is the function that others call, named after `key` if it is a kernel; `label` is its name in the whole
    module, for messages. The key sums up the module's text, that of a kernel without locations, and what the caller of
    `split_units` adds.
    """

    module: ir.Module
    key: str
    symbol: str
    label: str

    def bytecode(self) -> bytes:
        """The module with its locations, for another process."""
        buffer = io.BytesIO()
        self.module.operation.write_bytecode(buffer)
        return buffer.getvalue()


@dataclass(frozen=True)
class Units:
    """The entry and the distinct kernels that it calls, in order of their first call."""

    entry: Unit
    kernels: tuple[Unit, ...]


def split_units(module: ir.Module, entry: str, settings: str) -> Units:
    """Take `module` apart: it becomes that of the entry, with declarations for the kernels it calls.

    A kernel is a private function that a public one calls, with a copy of what it refers to itself. One that shares
    memory with others through a global variable stays in the entry. `settings` is what code depends on besides the text.
    """
    symbols = _symbols(module.operation)
    references = {name: list(_references(op)) for name, op in symbols.items()}
    public = [name for name, op in symbols.items() if not _is_private(op)]
    called = dict.fromkeys(callee for name in public for callee in _callees(symbols[name]))
    kernels: dict[str, Unit] = {}
    renamed: dict[str, str] = {}
    with module.context, ir.Location.unknown():
        for name in called:
            needed = _closure([name], references)
            if not _stands_alone(name, needed, symbols, references):
                continue
            unit = _kernel(symbols, name, needed, settings)
            kernels.setdefault(unit.key, unit)
            renamed[name] = unit.symbol
        _call_by_new_names(module, [symbols[name] for name in public], symbols, renamed)
        _remove_unused(symbols, references, public)
    return Units(Unit(module, _key(module, settings, locations=True), entry, entry), tuple(kernels.values()))


def _symbols(module: ir.Operation) -> dict[str, ir.Operation]:
    ops = (op.operation for op in module.regions[0].blocks[0].operations)
    return {symbol_name(op): op for op in ops if "sym_name" in op.attributes}


def _is_private(op: ir.Operation) -> bool:
    return "sym_visibility" in op.attributes and ir.StringAttr(op.attributes["sym_visibility"]).value != "public"


def _stands_alone(
    name: str, needed: Sequence[str], symbols: Mapping[str, ir.Operation], references: Mapping[str, Sequence[str]]
) -> bool:
    """Whether the function `name`, which refers to `needed` in the end, can be a unit: private, with a body, not recursive."""
    if not all(_can_be_copied(symbols.get(symbol)) for symbol in needed):
        return False
    function = symbols[name]
    is_defined = function.name == "func.func" and len(function.regions[0].blocks) > 0
    return is_defined and _is_private(function) and not any(name in references[symbol] for symbol in needed)


def _can_be_copied(op: ir.Operation | None) -> bool:
    """Whether two units may each have a copy of `op`: code, declarations and constants, but no variable."""
    if op is None or op.name != "memref.global":
        return op is not None and op.name == "func.func"
    return "constant" in op.attributes and _is_private(op)


def _references(op: ir.Operation) -> Iterator[str]:
    """Names that an op and the ops inside refer to, with repeats."""
    for inner in nested_ops(op):
        for named in inner.attributes:
            yield from _names_in(inner.attributes[named])


def _names_in(attribute: ir.Attribute) -> Iterator[str]:
    if isinstance(attribute, ir.FlatSymbolRefAttr):
        yield attribute.value
    elif isinstance(attribute, ir.SymbolRefAttr):
        yield attribute.value[0]
    elif isinstance(attribute, ir.ArrayAttr):
        for item in attribute:
            yield from _names_in(item)
    elif isinstance(attribute, ir.DictAttr):
        for entry in attribute:
            yield from _names_in(entry.attr)


def _callees(function: ir.Operation) -> Iterator[str]:
    for op in nested_ops(function):
        if op.name == "func.call":
            yield ir.FlatSymbolRefAttr(op.attributes["callee"]).value


def _closure(names: Iterable[str], references: Mapping[str, Sequence[str]]) -> list[str]:
    """`names` and all that they refer to, in order of discovery."""
    found = dict.fromkeys(names)
    pending = list(found)
    while pending:
        for name in references.get(pending.pop(), ()):
            if name not in found:
                found[name] = None
                pending.append(name)
    return list(found)


def _kernel(symbols: Mapping[str, ir.Operation], name: str, needed: Sequence[str], settings: str) -> Unit:
    """A module with the kernel `name` and copies of what it needs; the key does not depend on its name."""
    whole = symbols[name].parent
    module = ir.Module.create(symbols[name].location)
    for stated in (TARGET, POLICY):
        if stated in whole.attributes:
            module.operation.attributes[stated] = whole.attributes[stated]
    for symbol in sorted(needed, key=lambda symbol: (symbol != name, symbol)):
        copy = symbols[symbol].clone(ip=ir.InsertionPoint(module.body))
        if symbol == name:
            function = copy.operation
    del function.attributes["sym_visibility"]
    function.attributes[KERNEL_ATTRIBUTE] = ir.UnitAttr.get()
    function.attributes["sym_name"] = ir.StringAttr.get(_CANONICAL)
    key = _key(module, settings)
    symbol = f"{KERNEL_PREFIX}{key[:_KEY_IN_NAME]}"
    function.attributes["sym_name"] = ir.StringAttr.get(symbol)
    return Unit(module, key, symbol, name)


def _key(module: ir.Module, settings: str, locations: bool = False) -> str:
    """Errors of an entry name nodes, which are in its `locations`; kernels are the same code wherever they come from."""
    text = module.operation.get_asm(enable_debug_info=locations)  # local scope would leave out the contents of resources
    return hashlib.sha256(f"{settings}\0{text}".encode()).hexdigest()


def _call_by_new_names(
    module: ir.Module, functions: Sequence[ir.Operation], symbols: Mapping[str, ir.Operation], renamed: Mapping[str, str]
) -> None:
    """Declare the kernels, by old name in `renamed`, under their new names, and let `functions` call these."""
    declared: set[str] = set()
    for name, symbol in renamed.items():
        if symbol not in declared:
            declared.add(symbol)
            _declare(module, symbols[name], symbol)
    for function in functions:
        for op in nested_ops(function):
            if op.name == "func.call":
                callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
                op.attributes["callee"] = ir.FlatSymbolRefAttr.get(renamed.get(callee, callee))


def _declare(module: ir.Module, function: ir.Operation, symbol: str) -> None:
    attributes = {
        "sym_name": ir.StringAttr.get(symbol),
        "sym_visibility": ir.StringAttr.get("private"),
        "function_type": function.attributes["function_type"],
        KERNEL_ATTRIBUTE: ir.UnitAttr.get(),
    }
    with ir.InsertionPoint(module.body):
        ir.Operation.create("func.func", attributes=attributes, regions=1, loc=function.location)


def _remove_unused(symbols: Mapping[str, ir.Operation], references: Mapping[str, Sequence[str]], public: Sequence[str]) -> None:
    """Remove what the public functions do not refer to any more."""
    now = {**references, **{name: list(_references(symbols[name])) for name in public}}
    kept = set(_closure(public, now))
    for name, op in symbols.items():
        if name not in kept:
            op.erase()

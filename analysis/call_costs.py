"""What the kernels of an optimized model cost, in the sizes that its callers know.

A kernel states its cost in symbols of its own; its calls say which sizes of the entry these are: the names of the inputs' dims.
"""

from __future__ import annotations

from collections.abc import Mapping

from dlc._mlir import ir
from dlc.analysis.kernel_costs import Amount, KernelCost, kernel_cost
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.analysis.symbols import functions_of, symbol_name
from dlc.dialects.dl.types import Dim


def call_costs(module: ir.Operation) -> dict[str, KernelCost]:
    """The cost of one call of each private function of dl ops that public functions call, by name.

    Symbols are those of the public function. A size that it has no name for, or that differs between calls, is the symbol `?`.
    """
    functions = functions_of(module)
    defined = {symbol_name(op): op for op in functions if len(op.regions[0].blocks)}
    kernels = {name: op for name, op in defined.items() if "sym_visibility" in op.attributes}
    costs = {name: kernel_cost(op) for name, op in kernels.items()}
    own = {name: SymbolicShapes(op) for name, op in kernels.items()}
    sizes: dict[str, dict[str, Dim]] = {}
    for function in defined.values():
        if "sym_visibility" in function.attributes:
            continue
        shapes = SymbolicShapes(function)
        for op in (each.operation for block in function.regions[0].blocks for each in block.operations):
            callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value if op.name == "func.call" else ""
            if callee in kernels:
                _meet(sizes.setdefault(callee, {}), _sizes_of(op, kernels[callee], shapes, own[callee]))
    return {name: _in_sizes(costs[name], found) for name, found in sizes.items()}


def _sizes_of(call: ir.Operation, kernel: ir.Operation, outside: SymbolicShapes, inside: SymbolicShapes) -> dict[str, Dim]:
    """What the kernel's symbols are for one call."""
    found: dict[str, Dim] = {}
    for value, argument in zip(call.operands, kernel.regions[0].blocks[0].arguments, strict=True):
        dims = zip(inside.type_of(argument).shape, outside.type_of(value).shape, strict=True)
        found.update((dim, given) for dim, given in dims if isinstance(dim, str))
    return found


def _meet(known: dict[str, Dim], found: Mapping[str, Dim]) -> None:
    """Keep what all calls agree on."""
    for symbol, size in found.items():
        known[symbol] = size if known.get(symbol, size) == size else None


def _in_sizes(cost: KernelCost, sizes: Mapping[str, Dim]) -> KernelCost:
    return KernelCost(*(_replaced(amount, sizes) for amount in (cost.flops, cost.bytes_read, cost.bytes_written)))


def _replaced(amount: Amount, sizes: Mapping[str, Dim]) -> Amount:
    terms = ((factor, [sizes.get(symbol) for symbol in symbols]) for symbols, factor in amount.terms)
    return Amount.sum(Amount.product(factor, *dims) for factor, dims in terms)

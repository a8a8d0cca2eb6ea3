"""The function `@precompute` of a module, which computes weights from weights (see docs/design/0002-graph-compiler.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dlc._mlir import ir
from dlc.analysis.symbols import symbol_name
from dlc.lowering.dl.matching import dl_ops, erase_unused, functions
from dlc.lowering.outlining import clone_in_terms
from dlc.lowering.pass_base import PassFailure

MARK = "dl.precompute"
_KEY = "dl.param"
_NAME = "precompute"


class Precompute:
    """The function of a module that is marked `dl.precompute`: no arguments, one result for each key."""

    def __init__(self, function: ir.Operation) -> None:
        self.function = function

    @staticmethod
    def of(module: ir.Operation) -> Precompute | None:
        """That of a module; None when it has none."""
        found = next((function for function in functions(module) if MARK in function.attributes), None)
        return None if found is None else Precompute(found)

    @staticmethod
    def create(module: ir.Operation) -> Precompute:
        """A new one without results, the module's first function."""
        body = module.regions[0].blocks[0]
        symbols = {op.attributes["sym_name"].value for op in body.operations if "sym_name" in op.attributes}
        name = next(name for name in (_NAME, *(f"{_NAME}_{number}" for number in range(len(symbols)))) if name not in symbols)
        attributes = {
            "sym_name": ir.StringAttr.get(name, module.context),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [], module.context)),
            MARK: ir.UnitAttr.get(module.context),
        }
        with ir.InsertionPoint.at_block_begin(body), ir.Location.unknown(module.context):
            function = ir.Operation.create("func.func", attributes=attributes, regions=1)
            with ir.InsertionPoint(function.regions[0].blocks.append()):
                ir.Operation.create("func.return")
        return Precompute(function)

    def keys(self) -> list[str]:
        """The keys of the weights that it computes, in order."""
        return self._keys_in("res_attrs")

    def check(self) -> None:
        """Refuse a function that takes anything but weights, or gives a result without a key."""
        arguments, results = self.function.regions[0].blocks[0].arguments, self._return().operands
        if len(self._keys_in("arg_attrs")) == len(arguments) and len(self.keys()) == len(results):
            return
        what = f"@{symbol_name(self.function)} is marked {MARK}, but takes an argument, or gives a result without a key"
        raise PassFailure(self.function, what, "read weights by dl.param, and name each result by its attribute dl.param")

    def add(self, values: Mapping[str, ir.Value], needed: Sequence[ir.Operation]) -> None:
        """Compute `values` by their keys, too, by copies of the ops `needed`, which are in program order.

        A param that the function computes itself is taken from there.
        """
        end, results = self._return(), self._results()
        own = {op.attributes["key"].value: op.results[0] for op in dl_ops(self.function) if op.name == "dl.param"}
        own |= results
        copies: dict[ir.Value, ir.Value] = {}
        with ir.InsertionPoint(end):
            for op in needed:
                key = op.attributes["key"].value if op.name == "dl.param" else None
                if key in own:
                    copies[op.results[0]] = own[key]
                    continue
                clone_in_terms(op, copies)
        self._set_results(results | {key: copies[value] for key, value in values.items()})

    def keep(self, keys: Iterable[str]) -> None:
        """Drop the results that `keys` do not name, and what only they needed; the function goes with its last result."""
        wanted = set(keys)
        results = {key: value for key, value in self._results().items() if key in wanted}
        if not results:
            self.function.erase()
            return
        self._set_results(results)
        erase_unused(dl_ops(self.function))

    def _keys_in(self, which: str) -> list[str]:
        if which not in self.function.attributes:
            return []
        marks = [ir.DictAttr(entry) for entry in ir.ArrayAttr(self.function.attributes[which])]
        return [mark[_KEY].value for mark in marks if _KEY in mark]

    def _return(self) -> ir.Operation:
        operations = self.function.regions[0].blocks[0].operations
        last: ir.Operation = operations[len(operations) - 1].operation
        return last

    def _results(self) -> dict[str, ir.Value]:
        return dict(zip(self.keys(), self._return().operands, strict=True))

    def _set_results(self, results: Mapping[str, ir.Value]) -> None:
        end = self._return()
        with ir.InsertionPoint(end), end.location:
            ir.Operation.create("func.return", operands=list(results.values()))
        end.erase()
        context = self.function.context
        kinds = [value.type for value in results.values()]
        marks = [ir.DictAttr.get({_KEY: ir.StringAttr.get(key, context)}, context) for key in results]
        self.function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], kinds, context))
        self.function.attributes["res_attrs"] = ir.ArrayAttr.get(marks, context)


def keys_read(module: ir.Operation) -> tuple[set[str], set[str]]:
    """The keys of the params that `@precompute` reads, and of those that the other functions of a module read."""
    found: tuple[set[str], set[str]] = (set(), set())
    for function in functions(module):
        params = (op for op in dl_ops(function) if op.name == "dl.param")
        found[MARK not in function.attributes].update(op.attributes["key"].value for op in params)
    return found

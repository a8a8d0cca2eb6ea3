"""Symbolic shapes: which dynamic dims of a function of dl ops are equal at run time.

Dims of arguments are symbols: the names in the argument attribute `dl.dims = ["batch", ""]`, else one of their own. Each op's
`infer` carries symbols forward, and so do lists of sizes that are computed from shapes (`shape_values`); a dim that neither
can express gets a fresh symbol. Equal symbols are equal sizes. A call's results
have the dims that the callee's `dl.dims` name, and what a loop carries those that it begins with where every step keeps them.
Bounds of symbols are those that the function states (`dl.bounds`), those of a sum or product follow from its parts, and a size that
data decide is at most what it was taken from: `nonzero(x)` has no more columns than x has elements.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.carried_tensors import CarriedTensor, carried_tensors
from dlc.analysis.derived_dims import cut_whole, factors_of, is_derived, is_product, sum_terms
from dlc.analysis.dim_bounds import UNBOUNDED, DimBounds, bounds_of_function
from dlc.analysis.result_dims import result_dims
from dlc.analysis.shape_values import Elements, Facts, result_elements
from dlc.analysis.size_rules import SIZE_RULES
from dlc.dialects.dl import op_class
from dlc.dialects.dl.base import DLOp
from dlc.dialects.dl.types import Dim, TensorType, tensor_type

_FRESH = "%"
"""How symbols begin that no argument has."""
_LOOPS = frozenset({"scf.for", "scf.while"})


@dataclass(frozen=True)
class _Cut:
    """What decides the size that a slice leaves: the size before, and start, end and step, some of which are in `bounds`."""

    whole: Dim
    bounds: ir.Value | None
    index: int
    given: tuple[tuple[int, ...], tuple[int, ...], int]


class SymbolicShapes:
    """Plain types, with symbols, of every tensor value of one function; one forward walk, linear in its ops."""

    def __init__(self, function: ir.Operation) -> None:
        self._types: dict[ir.Value, TensorType] = {}
        self._elements: dict[ir.Value, Elements] = {}
        self._cuts: dict[_Cut, Dim] = {}
        self._functions: dict[str, ir.Operation] | None = None
        self._fresh = 0
        self._bounds = bounds_of_function(function)
        for region in function.regions:
            for block in region.blocks:
                self._enter(block, dim_names(function, len(block.arguments)))

    def type_of(self, value: ir.Value) -> TensorType:
        """Plain type of a tensor value; KeyError for a value that is no dl tensor."""
        return self._types[value]

    def bounds_of(self, dim: Dim) -> DimBounds:
        """What is known of a size: a number, a symbol of this function, or None."""
        if dim is None or isinstance(dim, int):
            return UNBOUNDED if dim is None else DimBounds.of_size(dim)
        if dim in self._bounds:
            return self._bounds[dim]
        whole = cut_whole(dim)
        if whole is not None:
            return DimBounds(0, self.bounds_of(whole).most)
        if is_product(dim):
            factor, others = factors_of([dim]) or (1, Counter())
            return functools.reduce(operator.mul, map(self.bounds_of, others.elements()), DimBounds.of_size(factor))
        number, names = sum_terms(dim)
        terms: list[Dim] = [*names, *([number] if number else [])]
        return UNBOUNDED if dim in names else functools.reduce(operator.add, map(self.bounds_of, terms))

    def learn(self, value: ir.Value) -> TensorType:
        """`type_of`, also for a value that was made since, by an op that is not inside another one."""
        if value not in self._types:
            for operand in value.owner.operation.operands:
                self.learn(operand)
            self._visit(value.owner.operation)
        return self._types[value]

    def forget(self, operation: ir.Operation) -> None:
        """Drop what is known of an op that is about to be erased: a later one may take its place in memory."""
        for result in operation.results:
            self._types.pop(result, None)
            self._elements.pop(result, None)
        gone = set(operation.results)
        self._cuts = {cut: dim for cut, dim in self._cuts.items() if cut.bounds not in gone}

    def facts_of(self, operation: ir.Operation) -> Facts | None:
        """What is known of a dl op and its operands; None for other ops and for those without one result."""
        found = op_class(operation.name) if operation.name.startswith("dl.") else None
        if found is None or operation.regions or len(operation.results) != 1:
            return None
        return self._facts(operation, found)

    def _enter(self, block: ir.Block, names: Sequence[Sequence[str]] = ()) -> None:
        for index, argument in enumerate(block.arguments):
            plain = tensor_type(argument.type)
            if plain is not None:
                given = names[index] if index < len(names) else ()
                self._types[argument] = self._named(plain, [name or None for name in given])
        for op in block.operations:
            self._visit(op.operation)

    def _visit(self, operation: ir.Operation) -> None:
        if operation.name == "dl.kernel":
            self._visit_kernel(operation)
            return
        if operation.name in _LOOPS:
            self._visit_loop(operation)
            return
        if operation.name == "scf.if":
            self._visit_branch(operation)
            return
        facts = self.facts_of(operation)
        if facts is not None:
            self._note(operation.results[0], facts)
        else:
            self._note_results(operation)
        self._note_bounds(operation)
        for region in operation.regions:
            for block in region.blocks:
                self._enter(block)

    def _note(self, result: ir.Value, facts: Facts) -> None:
        elements = result_elements(facts)
        if elements is not None:
            self._elements[result] = elements
        else:
            self._elements.pop(result, None)  # of a loop that was looked at before with more that it keeps
        dims = facts.result.shape if facts.result.is_static else result_dims(facts)
        if facts.name == "slice":
            dims = self._cut_alike(result.owner.operation, facts, dims)
        declared = tensor_type(result.type)
        if declared is not None:
            self._types[result] = self._named(declared, dims)

    def _cut_alike(self, operation: ir.Operation, facts: Facts, dims: Sequence[Dim]) -> Sequence[Dim]:
        """The dims of a slice, where those that data decide are those of other slices of equal sizes by the same data."""
        found, attributes = list(dims), facts.attributes
        (_, bounds), whole = operation.opview.operand_groups(), facts.types[0].shape
        for index, axis in enumerate(attributes["axes"]):
            if found[axis] is None:
                given = (attributes["starts"][index : index + 1], attributes["ends"][index : index + 1], attributes["steps"][index])
                cut = _Cut(whole[axis], bounds, index, given)
                found[axis] = self._cuts.get(cut) or self._cuts.setdefault(cut, self._new_symbol())
        return found

    def _note_bounds(self, operation: ir.Operation) -> None:
        """Bounds of the symbols that are new in the results of a dl op."""
        rule = SIZE_RULES.get(operation.name)
        if rule is None:
            return
        op = operation.opview
        operands = [self._group(group) for group in op.operand_groups()]
        results = [self._types[result] for result in operation.results]
        for dim, bounds in rule(self.bounds_of, operands, results, op.attribute_values()):
            if isinstance(dim, str) and dim.startswith(_FRESH) and not is_derived(dim):
                self._bounds.setdefault(dim, bounds)

    def _note_results(self, operation: ir.Operation) -> None:
        inferred = self._infer(operation)
        for index, result in enumerate(operation.results):
            declared = tensor_type(result.type)
            if declared is not None:
                dims = inferred[index].shape if index < len(inferred) else ()
                self._types[result] = self._named(declared, dims)

    def _facts(self, operation: ir.Operation, found: type[DLOp]) -> Facts:
        op = operation.opview
        groups = op.operand_groups()
        types, attributes = tuple(self._group(group) for group in groups), op.attribute_values()
        return Facts(
            name=operation.name.removeprefix("dl."),
            types=types,
            values=tuple(self._elements.get(group) if isinstance(group, ir.Value) else None for group in groups),
            attributes=attributes,
            result=found.inferred_types(*types, **attributes)[0],
        )

    def _visit_kernel(self, operation: ir.Operation) -> None:
        """The results are what the terminator of the region gives."""
        block = operation.regions[0].blocks[0]
        self._enter(block)
        given = block.operations[len(block.operations) - 1].operation.operands
        for result, value in zip(operation.results, given, strict=True):
            self._types[result] = self._types[value]
            if value in self._elements:
                self._elements[result] = self._elements[value]

    def _visit_branch(self, branch: ir.Operation) -> None:
        """A result has the dims that both sides give."""
        blocks = [region.blocks[0] for region in branch.regions if len(region.blocks)]
        for block in blocks:
            self._enter(block)
        ends = [block.operations[len(block.operations) - 1].operation for block in blocks]
        for number, result in enumerate(branch.results):
            declared = tensor_type(result.type)
            if declared is not None:
                first, *others = [self._types[end.operands[number]].shape for end in ends]
                self._types[result] = self._named(declared, first if all(shape == first for shape in others) else ())

    def _visit_loop(self, loop: ir.Operation) -> None:
        """What a loop carries has the dims that it begins with, if each step keeps all of those that are taken to be kept."""
        carried = carried_tensors(loop)
        kept = list(carried)
        while True:
            for item in carried:
                for name in item.names:
                    self._types[name] = self._carried(item, name, item in kept)
            for region in loop.regions:
                for block in region.blocks:
                    self._visit_all(block)
            left = [item for item in kept if self._types[item.handed_on].shape == self._types[item.start].shape]
            if len(left) == len(kept):
                break
            kept = left
        self._note_missing(loop)

    def _carried(self, item: CarriedTensor, name: ir.Value, is_kept: bool) -> TensorType:
        declared = tensor_type(name.type)
        assert declared is not None
        return self._named(declared, self._types[item.start].shape if is_kept else ())

    def _visit_all(self, block: ir.Block) -> None:
        for argument in block.arguments:
            declared = tensor_type(argument.type)
            if declared is not None and argument not in self._types:
                self._types[argument] = self._named(declared, ())
        for op in block.operations:
            self._visit(op.operation)

    def _note_missing(self, operation: ir.Operation) -> None:
        """Fresh dims for results of which nothing is known."""
        for result in operation.results:
            declared = tensor_type(result.type)
            if declared is not None and result not in self._types:
                self._types[result] = self._named(declared, ())

    def _call_results(self, call: ir.Operation) -> Sequence[TensorType]:
        """Types of what a call gives, by the dims that the callee's arguments and results share (`dl.dims`)."""
        callee = self._callee(call)
        if callee is None:
            return ()
        known: dict[str, Dim] = {}
        for value, names in zip(call.operands, dim_names(callee, len(call.operands)), strict=True):
            if names and value in self._types:
                known.update((name, dim) for name, dim in zip(names, self._types[value].shape, strict=True) if name)
        found = []
        for result, names in zip(call.results, dim_names(callee, len(call.results), "res_attrs"), strict=True):
            kind = tensor_type(result.type)
            dims = [known.setdefault(name, self._new_symbol()) if name else None for name in names]
            found.append(TensorType(tuple(dims), kind.dtype if kind is not None else ""))
        return found

    def _callee(self, call: ir.Operation) -> ir.Operation | None:
        """The function of the module that a `func.call` calls."""
        if self._functions is None:
            module = call.parent
            while module is not None and module.operation.name != "builtin.module":
                module = module.operation.parent
            ops = [] if module is None else [op.operation for op in module.operation.regions[0].blocks[0].operations]
            self._functions = {op.attributes["sym_name"].value: op for op in ops if op.name == "func.func"}
        return self._functions.get(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)

    def _infer(self, operation: ir.Operation) -> Sequence[TensorType]:
        if operation.name == "func.call":
            return self._call_results(operation)
        if operation.name == "tensor.cast":
            return [kind for value in operation.operands if (kind := self._types.get(value)) is not None]
        if operation.name == "tensor.insert_slice":
            return [self._types[operation.operands[1]]]
        if operation.name == "tensor.empty":
            return [self._empty(operation)]
        found = op_class(operation.name) if operation.name.startswith("dl.") else None
        if found is None or operation.regions:
            return ()
        op = operation.opview
        groups = [self._group(group) for group in op.operand_groups()]
        return found.inferred_types(*groups, **op.attribute_values())

    def _empty(self, operation: ir.Operation) -> TensorType:
        """Type of a `tensor.empty`, whose dynamic dims its operands give."""
        declared = tensor_type(operation.results[0].type)
        assert declared is not None
        sizes = map(self._size, operation.operands)
        return declared.with_shape([next(sizes) if dim is None else dim for dim in declared.shape])

    def _size(self, value: ir.Value) -> Dim:
        """The dim that an index is, where it is one or is read of a list of sizes; None where that is not known."""
        if isinstance(value.owner, ir.Block):
            return None
        operation = value.owner.operation
        if operation.name == "arith.constant":
            return int(ir.IntegerAttr(operation.attributes["value"]).value)
        if operation.name == "arith.index_cast":
            return self._size(operation.operands[0])
        if operation.name != "tensor.extract":
            return None
        elements = self._elements.get(operation.operands[0], ())
        places = [self._size(place) for place in list(operation.operands)[1:]] or [0]
        return elements[places[0]] if isinstance(places[0], int) and 0 <= places[0] < len(elements) else None

    def _group(self, group: ir.Value | Sequence[ir.Value] | None) -> TensorType | tuple[TensorType, ...] | None:
        if group is None:
            return None
        if isinstance(group, list):
            return tuple(self._types[value] for value in group)
        return self._types[group]

    def _named(self, declared: TensorType, dims: Sequence[Dim]) -> TensorType:
        """`declared` with its dynamic dims named by `dims` where those know more, else freshly."""
        if declared.is_static:
            return declared
        shape: list[Dim] = []
        for axis, dim in enumerate(declared.shape):
            known = dims[axis] if axis < len(dims) else None
            if dim is None:
                dim = known if known is not None else self._new_symbol()
            shape.append(dim)
        return declared.with_shape(shape)

    def _new_symbol(self) -> str:
        self._fresh += 1
        return f"{_FRESH}{self._fresh}"


def dim_names(function: ir.Operation, count: int, which: str = "arg_attrs") -> list[Sequence[str]]:
    """The `dl.dims` attribute of each argument (or result: `res_attrs`) of a func.func, empty where there are no names."""
    if which not in function.attributes:
        return [()] * count
    names: list[Sequence[str]] = []
    for attributes in ir.ArrayAttr(function.attributes[which]):
        entry = ir.DictAttr(attributes)
        items = list(entry["dl.dims"]) if "dl.dims" in entry and isinstance(entry["dl.dims"], ir.ArrayAttr) else []
        names.append([item.value for item in items] if all(isinstance(item, ir.StringAttr) for item in items) else ())
    return names

"""Functions of affine loops as C99: the same loops, statements and operands, for other compilers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bench.polybench.c_expressions import (
    ATOM,
    CHOICE,
    COMPARISON,
    HELPERS,
    PRODUCT,
    SUM,
    UNARY,
    Text,
    affine_text,
    binary,
    call,
    extreme,
    literal,
    type_name,
)
from dlc._mlir import ir
from dlc.errors import InvalidInputError

_BINARY = {
    "arith.addf": ("+", SUM), "arith.subf": ("-", SUM), "arith.mulf": ("*", PRODUCT), "arith.divf": ("/", PRODUCT),
    "arith.addi": ("+", SUM), "arith.subi": ("-", SUM), "arith.muli": ("*", PRODUCT), "arith.divsi": ("/", PRODUCT),
    "arith.remsi": ("%", PRODUCT),
}  # fmt: skip
_CASTS = ("arith.extsi", "arith.trunci", "arith.sitofp", "arith.fptosi", "arith.extf", "arith.truncf", "arith.index_cast")
_EXTREMES = {
    "arith.maxsi": ">",
    "arith.minsi": "<",
    "arith.maximumf": ">",
    "arith.minimumf": "<",
    "arith.maxnumf": ">",
    "arith.minnumf": "<",
}
_FUNCTIONS = {
    "math.sqrt": "sqrt", "math.exp": "exp", "math.powf": "pow", "math.absf": "fabs", "math.log": "log", "math.tanh": "tanh",
    "math.fma": "fma",
}  # fmt: skip
_INTEGER_PREDICATES = ("==", "!=", "<", "<=", ">", ">=")
_FLOAT_PREDICATES = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
"""The ordered ones, and `une`, by their numbers."""
_LOOP_NAMES = "ijklmnopqrstuvw"
_HEADERS = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n\n"


def c_source(function: ir.Operation, names: Sequence[str] = ()) -> str:
    """C99 for a `func.func` without results, of affine loops on buffers of static shape.

    Buffers become `double (*restrict A)[M]` (`restrict` where marked `llvm.noalias`), bounds and sizes numbers; `names` are those
    of the arguments. NaN may come out of the larger and smaller of two numbers otherwise than MLIR says. Raises
    `InvalidInputError`, located, for ops that C has no words for here.
    """
    return _Printer(function, names).source()


class _Printer:
    """Prints one function, each op once. An op whose result is used once becomes part of the expression that uses it."""

    def __init__(self, function: ir.Operation, names: Sequence[str]) -> None:
        self._function = function
        arguments = list(function.regions[0].blocks[0].arguments)
        self._arguments = list(names) or [f"arg{index}" for index in range(len(arguments))]
        self._texts = {value: Text(name) for value, name in zip(arguments, self._arguments, strict=True)}
        self._lines: list[str] = []
        self._depth = 1
        self._loops: list[str] = []
        self._count = 0
        self._waiting: list[ir.Value] = []
        """Values that read memory and are not printed yet; a write must not come before them."""

    def source(self) -> str:
        symbol = ir.StringAttr(self._function.attributes["sym_name"]).value
        parameters = ", ".join(self._parameters())
        self._block(self._function.regions[0].blocks[0])
        body = "\n".join(self._lines)
        helpers = [text for name, text in HELPERS.items() if f"{name}(" in body]
        head = "".join(f"{text}\n" for text in helpers) + ("\n" if helpers else "")
        return f"{_HEADERS}{head}void {symbol}({parameters}) {{\n{body}\n}}\n"

    def _parameters(self) -> Iterator[str]:
        arguments = self._function.regions[0].blocks[0].arguments
        marks = (
            ir.ArrayAttr(self._function.attributes["arg_attrs"])
            if "arg_attrs" in self._function.attributes
            else [{}] * len(arguments)
        )
        for value, name, mark in zip(arguments, self._arguments, marks, strict=True):
            if not isinstance(value.type, ir.MemRefType):
                yield f"{type_name(value.type, self._function)} {name}"
                continue
            shape, element = self._buffer(value.type, self._function)
            pointer = f"*restrict {name}" if "llvm.noalias" in mark else f"*{name}"
            inner = "".join(f"[{size}]" for size in shape[1:])
            yield f"{element} ({pointer}){inner}" if inner else f"{element} {pointer}"

    def _buffer(self, kind: ir.Type, op: ir.Operation) -> tuple[list[int], str]:
        kind = ir.MemRefType(kind)
        if not kind.has_static_shape or kind.affine_map != ir.AffineMap.get_identity(kind.rank):
            raise self._refusal(op, f"a buffer of type '{kind}' has no static shape in order of its axes")
        return list(kind.shape), type_name(kind.element_type, op)

    def _refusal(self, op: ir.Operation, what: str) -> InvalidInputError:
        return InvalidInputError(
            f"{op.location}: error: {what}; give a function of affine loops, as bench/polybench/kernels has them"
        )

    # Statements.

    def _line(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)

    def _block(self, block: ir.Block, targets: Sequence[str] = ()) -> None:
        """Print a block; what it yields is assigned to `targets`."""
        for op in block.operations:
            op = op.operation
            if op.name in ("affine.yield", "func.return"):
                self._assign(targets, [self._use(value) for value in op.operands], op)
            elif op.name == "affine.for":
                self._for(op)
            elif op.name == "affine.if":
                self._if(op)
            elif op.name == "affine.store":
                place, value = self._element(op, 1), self._use(op.operands[0])
                self._write(f"{place.text} = {value.text};")
            elif op.name == "memref.alloca":
                self._alloca(op)
            else:
                self._value(op)

    def _write(self, text: str) -> None:
        """A line that may write memory, after all that read it before."""
        for value in self._waiting:
            self._name(value)
        self._waiting.clear()
        self._line(text)

    def _name(self, value: ir.Value) -> None:
        """Print the expression of `value` as a variable of its own."""
        text = self._texts[value].text
        name = self._fresh()
        self._line(f"const {type_name(value.type, value.owner)} {name} = {text};")
        self._texts[value] = Text(name)

    def _fresh(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def _assign(self, targets: Sequence[str], values: Sequence[Text], op: ir.Operation) -> None:
        if len(targets) != len(values):
            raise self._refusal(op, "a function with results has no counterpart here")
        if len(values) == 1:
            self._write(f"{targets[0]} = {values[0].text};")
            return
        names = [self._fresh() for _ in values]
        for name, value, result in zip(names, values, op.operands, strict=True):
            self._write(f"const {type_name(result.type, op)} {name} = {value.text};")
        for target, name in zip(targets, names, strict=True):
            self._line(f"{target} = {name};")

    def _for(self, op: ir.Operation) -> None:
        segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        operands = list(op.operands)
        lower = self._bound(op, "lowerBoundMap", operands[: segments[0]], "max_int")
        upper = self._bound(op, "upperBoundMap", operands[segments[0] : segments[0] + segments[1]], "min_int")
        step = ir.IntegerAttr(op.attributes["step"]).value
        block = op.regions[0].blocks[0]
        carried = self._variables(op, [self._use(value) for value in operands[segments[0] + segments[1] :]])
        name = self._loop_name()
        self._texts[block.arguments[0]] = Text(name)
        self._texts |= {value: Text(target) for value, target in zip(list(block.arguments)[1:], carried, strict=True)}
        advance = f"{name}++" if step == 1 else f"{name} += {step}"
        self._write(f"for (int {name} = {lower.text}; {name} < {upper.within(SUM)}; {advance}) {{")
        self._nested(block, carried)
        self._line("}")
        self._loops.pop()

    def _loop_name(self) -> str:
        depth = len(self._loops)
        name = next(name for name in _LOOP_NAMES[depth:] if name not in (*self._arguments, *self._loops))
        self._loops.append(name)
        return name

    def _bound(self, op: ir.Operation, key: str, operands: Sequence[ir.Value], which: str) -> Text:
        return extreme(which, self._apply(ir.AffineMapAttr(op.attributes[key]).value, operands))

    def _variables(self, op: ir.Operation, values: Sequence[Text | None]) -> list[str]:
        """Variables for the results of `op`, with first values."""
        names = [self._fresh() for _ in op.results]
        for name, result, value in zip(names, op.results, values, strict=True):
            self._write(f"{type_name(result.type, op)} {name}{f' = {value.text}' if value else ''};")
            self._texts[result] = Text(name)
        return names

    def _nested(self, block: ir.Block, targets: Sequence[str]) -> None:
        self._depth += 1
        self._block(block, targets)
        self._depth -= 1

    def _if(self, op: ir.Operation) -> None:
        results = self._variables(op, [None] * len(op.results))
        condition = " && ".join(self._conditions(op)) or "true"
        self._write(f"if ({condition}) {{")
        self._nested(op.regions[0].blocks[0], results)
        if len(op.regions[1].blocks):
            self._line("} else {")
            self._nested(op.regions[1].blocks[0], results)
        self._line("}")

    def _conditions(self, op: ir.Operation) -> Iterator[str]:
        """The constraints of an integer set, which the bindings show as text only."""
        inputs, constraints = re.fullmatch(r"affine_set<(.*?) : \((.*)\)>", str(op.attributes["condition"])).groups()
        found = re.findall(r"(.+?) (>=|==) 0(?:, |$)", constraints)
        sides = ir.Attribute.parse(f"affine_map<{inputs} -> ({', '.join(side for side, _ in found)})>", op.context)
        for text, (_, relation) in zip(self._apply(ir.AffineMapAttr(sides).value, list(op.operands)), found, strict=True):
            yield f"{text.within(SUM)} {relation} 0"

    def _alloca(self, op: ir.Operation) -> None:
        shape, element = self._buffer(op.results[0].type, op)
        name = self._fresh()
        self._texts[op.results[0]] = Text(name)
        self._line(f"{element} {name}{''.join(f'[{size}]' for size in shape)};")

    # Expressions.

    def _use(self, value: ir.Value) -> Text:
        """The text of an operand, which is now part of what uses it."""
        self._waiting = [other for other in self._waiting if other != value]
        return self._texts[value]

    def _value(self, op: ir.Operation) -> None:
        """Keep the expression of a result for its only use, or print it as a variable for several."""
        text = self._expression(op)
        result = op.results[0]
        self._texts[result] = text
        uses = list(result.uses)
        if op.name == "arith.constant":
            return
        if len(uses) == 1 and uses[0].owner.operation.block == op.block:
            self._waiting += [result] if text.reads else []
        elif uses:
            self._name(result)

    def _expression(self, op: ir.Operation) -> Text:
        name = op.name
        if name == "arith.constant":
            return literal(op.attributes["value"])
        if name == "affine.load":
            return self._element(op, 0)
        if name in ("affine.apply", "affine.max", "affine.min"):
            return extreme(
                f"{name.removeprefix('affine.')}_int", self._apply(ir.AffineMapAttr(op.attributes["map"]).value, list(op.operands))
            )
        operands = [self._use(value) for value in op.operands]
        if name in _BINARY:
            return binary(*_BINARY[name], *operands)
        if name == "arith.negf":
            return Text(f"-{operands[0].within(UNARY + 1)}", UNARY, operands[0].reads)
        if name in ("arith.cmpf", "arith.cmpi"):
            return binary(self._predicate(op), COMPARISON, *operands)
        if name == "arith.select":
            return _choice(*operands)
        if name in _EXTREMES:
            return _choice(binary(_EXTREMES[name], COMPARISON, *operands), *operands)
        if name in _CASTS:
            return Text(f"({type_name(op.results[0].type, op)}){operands[0].within(UNARY)}", UNARY, operands[0].reads)
        if name in _FUNCTIONS:
            return call(_FUNCTIONS[name] + ("f" if type_name(op.results[0].type, op) == "float" else ""), operands)
        raise self._refusal(op, f"'{name}' cannot be printed as C")

    def _predicate(self, op: ir.Operation) -> str:
        number = ir.IntegerAttr(op.attributes["predicate"]).value
        if op.name == "arith.cmpi" and number < len(_INTEGER_PREDICATES):
            return _INTEGER_PREDICATES[number]
        if op.name == "arith.cmpf" and number in _FLOAT_PREDICATES:
            return _FLOAT_PREDICATES[number]
        raise self._refusal(op, f"predicate {number} of '{op.name}' cannot be printed as C")

    def _element(self, op: ir.Operation, first: int) -> Text:
        """The element that a load or store names; its buffer is operand `first`."""
        buffer, *indices = list(op.operands)[first:]
        subscripts = self._apply(ir.AffineMapAttr(op.attributes["map"]).value, indices)
        text = self._texts[buffer].text + "".join(f"[{each.text}]" for each in subscripts)
        is_pointer = not subscripts and not isinstance(buffer.owner, ir.Operation | ir.OpView)
        return Text(f"*{text}" if is_pointer else text, UNARY if is_pointer else ATOM, reads=True)

    def _apply(self, indexing: ir.AffineMap, operands: Sequence[ir.Value]) -> list[Text]:
        texts = [self._use(value) for value in operands]
        return [affine_text(each, texts[: indexing.n_dims], texts[indexing.n_dims :]) for each in indexing.results]


def _choice(condition: Text, first: Text, second: Text) -> Text:
    text = f"{condition.within(COMPARISON)} ? {first.within(COMPARISON)} : {second.within(COMPARISON)}"
    return Text(text, CHOICE, condition.reads or first.reads or second.reads)

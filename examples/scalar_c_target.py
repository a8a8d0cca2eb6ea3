"""Add a target: models as scalar C, compiled by the system's C compiler. It lives outside of dlc's sources.

python examples/scalar_c_target.py
"""

from __future__ import annotations

import ctypes
import json
import math
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

import dlc
from dlc._mlir import ir
from dlc.lowering.pipelines import PIPELINES, NamedPipeline, Stage
from dlc.runtime.library import load_library

_TYPES = {"f32": "float", "f64": "double", "index": "int64_t", "i1": "uint8_t", **{f"i{n}": f"int{n}_t" for n in (8, 16, 32, 64)}}
_INFIX = {
    **{f"arith.{name}f": sign for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"))},
    **{f"arith.{name}i": sign for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"))},
    **{"arith.andi": "&", "arith.ori": "|", "arith.xori": "^"},
    **{"arith.divsi": "/", "arith.remsi": "%", "arith.shli": "<<", "arith.shrsi": ">>"},
}
_CASTS = {f"arith.{name}" for name in ("extf", "truncf", "sitofp", "fptosi", "extsi", "trunci", "index_cast")}
_FLOAT_ORDER = ("0", "==", ">", ">=", "<", "<=", "!=", "", "==", ">", ">=", "<", "<=", "!=")
_INT_ORDER = ("==", "!=", "<", "<=", ">", ">=")
_CHOICES = {"maximumf": ">", "minimumf": "<", "maxnumf": ">", "minnumf": "<", "maxsi": ">", "minsi": "<"}
_FUNCTIONS = ("exp", "log", "sqrt", "tanh", "erf", "sin", "cos", "floor", "ceil")
_MATH = {f"math.{name}": name for name in _FUNCTIONS} | {"math.absf": "fabs"}
_HEAD = """#include <math.h>
#include <stdint.h>
#include <string.h>
void *_mlir_memref_to_llvm_alloc(uint64_t size);
void _mlir_memref_to_llvm_free(void *memory);
void dlc_raise(const char *message);
"""


class ScalarC(dlc.Target):
    """Loops, loads, stores and arithmetic as one C text; a buffer is a pointer to its first element."""

    name = "c"
    stages = ("dl", "linalg", "affine", "scalar")
    pipelines = PIPELINES | {
        "affine-to-scalar": NamedPipeline("loops without vectors", (Stage("scalar", ("lower-affine", "canonicalize", "cse")),))
    }
    forms = ("source",)

    def emit(self, module: ir.Module, form: str, opt_level: int = 2) -> bytes:
        ops = [op.operation for op in module.body.operations]
        functions = [op for op in ops if op.name == "func.func"]
        text = [_HEAD, *(_global(op) for op in ops if op.name == "memref.global"), *(f"{_head(op)};" for op in functions)]
        text += [line for op in functions for line in _Function().lines(op)]
        text += [_packed(op) for op in functions if "sym_visibility" not in op.attributes]
        return "\n".join(text).encode() + b"\n"

    def load(self, objects: Sequence[bytes], functions: Sequence[str]) -> tuple[list[int], object]:
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "model.c", Path(folder) / "model.so"
            source.write_bytes(objects[0])
            command = ["cc", "-O2", "-fwrapv", "-shared", "-fPIC", "-o", library, source, load_library().path, "-lm"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise dlc.TargetError(f"the C compiler refuses the code: {done.stderr.strip()[:500]}")
            code = ctypes.CDLL(str(library))
        return [ctypes.cast(getattr(code, name), ctypes.c_void_p).value or 0 for name in functions], code


def _type(kind: ir.Type) -> str:
    """A type in C; buffers are pointers."""
    element = ir.MemRefType(kind).element_type if isinstance(kind, ir.MemRefType) else kind
    found = _TYPES.get(str(element))
    if found is None or (isinstance(kind, ir.MemRefType) and not kind.has_static_shape):
        raise dlc.TargetError(f"target 'c' has no form of {kind}; give static shapes of {', '.join(_TYPES)}, or name a CPU")
    return found + (" *" if isinstance(kind, ir.MemRefType) else "")


def _name(op: ir.Operation, key: str = "sym_name") -> str:
    return str(op.attributes[key].value)


def _signature(function: ir.Operation) -> tuple[list[ir.Type], list[ir.Type]]:
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    return list(kind.inputs), list(kind.results)


def _head(function: ir.Operation) -> str:
    """`static void f(float *a0, float **r0)`: results are written through pointers."""
    inputs, results = _signature(function)
    given = [f"{_type(kind)} a{n}" for n, kind in enumerate(inputs)] + [f"{_type(kind)} *r{n}" for n, kind in enumerate(results)]
    return f"static void {_name(function)}({', '.join(given) or 'void'})"


def _global(op: ir.Operation) -> str:
    kind = ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value)
    values = op.attributes["initial_value"]
    splat = isinstance(values, ir.DenseElementsAttr) and values.is_splat
    items = [_literal(values.get_splat_value())] * math.prod(kind.shape) if splat else map(repr, np.array(values).ravel().tolist())
    return f"static {_type(kind)[:-2]} {_name(op)}[] = {{{', '.join(items)}}};"


def _literal(value: ir.Attribute) -> str:
    number = value.value
    if isinstance(number, float) and not math.isfinite(number):
        return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"
    return number.hex() if isinstance(number, float) else str(int(number))


def _packed(function: ir.Operation) -> str:
    """The form that a session calls: a table of pointers to pointers at descriptors, that of all results first."""
    inputs, results = _signature(function)
    first = bool(results)
    given = [f"(void *)(*(int64_t **)table[{n + first}])[1]" for n in range(len(inputs))] + [f"&r{n}" for n in range(len(results))]
    lines = [f"void _mlir__mlir_ciface_{_name(function)}(void **table) {{"]
    lines += [f"  {_type(kind)} r{n};" for n, kind in enumerate(results)]
    lines += [f"  {_name(function)}({', '.join(given)});", *(["  int64_t *d = *(int64_t **)table[0];"] if first else [])]
    for number, kind in enumerate(results):
        shape = ir.MemRefType(kind).shape
        words = [f"(int64_t)r{number}", f"(int64_t)r{number}", 0, *shape, *(math.prod(shape[n + 1 :]) for n in range(len(shape)))]
        lines += [f"  *d++ = {word};" for word in words]
    return "\n".join([*lines, "}"])


class _Function:
    """Writes one function; each value of it has a C variable."""

    def __init__(self) -> None:
        self._names: dict[ir.Value, str] = {}

    def lines(self, function: ir.Operation) -> Iterator[str]:
        block = function.regions[0].blocks[0]
        self._names |= {value: f"a{n}" for n, value in enumerate(block.arguments)}
        yield f"{_head(function)} {{"
        yield from self._block(block, [f"*r{n}" for n in range(len(_signature(function)[1]))])
        yield "}"

    def _block(self, block: ir.Block, targets: Sequence[str]) -> Iterator[str]:
        """The ops of a block; what it yields goes to `targets`."""
        for op in (each.operation for each in block.operations):
            if op.name in ("scf.yield", "func.return"):
                for n, value in enumerate(op.operands):  # all are read before one is written
                    yield f"{_type(value.type)} y{n} = {self._names[value]};"
                yield from (f"{target} = y{n};" for n, target in enumerate(targets))
                continue
            for result in op.results:
                self._names[result] = f"v{len(self._names)}"
            write = {"scf.for": self._for, "scf.if": self._if, "func.call": self._call}.get(op.name, self._plain)
            yield from write(op)

    def _for(self, op: ir.Operation) -> Iterator[str]:
        lower, upper, step, *initial = (self._names[value] for value in op.operands)
        variable, *carried = op.regions[0].blocks[0].arguments
        self._names |= {value: self._names[result] for value, result in zip(carried, op.results, strict=True)}
        yield from (f"{_type(r.type)} {self._names[r]} = {first};" for r, first in zip(op.results, initial, strict=True))
        index = self._names[variable] = f"i{len(self._names)}"
        yield f"for (int64_t {index} = {lower}; {index} < {upper}; {index} += {step}) {{"
        yield from self._block(op.regions[0].blocks[0], [self._names[r] for r in op.results])
        yield "}"

    def _if(self, op: ir.Operation) -> Iterator[str]:
        results = [self._names[result] for result in op.results]
        yield from (f"{_type(r.type)} {self._names[r]};" for r in op.results)
        for word, region in zip((f"if ({self._names[op.operands[0]]})", "else"), op.regions, strict=True):
            if len(region.blocks):
                yield f"{word} {{"
                yield from self._block(region.blocks[0], results)
                yield "}"

    def _call(self, op: ir.Operation) -> Iterator[str]:
        yield from (f"{_type(r.type)} {self._names[r]};" for r in op.results)
        given = [*(self._names[value] for value in op.operands), *(f"&{self._names[r]}" for r in op.results)]
        yield f"{_name(op, 'callee')}({', '.join(given)});"

    def _plain(self, op: ir.Operation) -> Iterator[str]:
        text = self._expression(op, [self._names[value] for value in op.operands])
        if text is None:
            raise dlc.TargetError(f"target 'c' has no form of '{op.name}' at {op.location}; name a CPU instead")
        yield f"{_type(op.results[0].type)} {self._names[op.results[0]]} = {text};" if len(op.results) else f"{text};"

    def _expression(self, op: ir.Operation, x: list[str]) -> str | None:
        kind, name = op.name.split(".", 1)[1], op.name
        if name in _INFIX:
            return f"({x[0]} {_INFIX[name]} {x[1]})" + (" & 1" if str(op.results[0].type) == "i1" else "")
        if name in _MATH:
            return f"{_MATH[name]}{'f' if str(op.results[0].type) == 'f32' else ''}({x[0]})"
        if name in _CASTS:
            return f"({_type(op.results[0].type)}){x[0]}"
        if kind in _CHOICES:
            nan = f"{x[0]} != {x[0]} ? {x[0]} : {x[1]} != {x[1]} ? {x[1]} : " if kind in ("maximumf", "minimumf") else ""
            return f"{nan}{x[0]} {_CHOICES[kind]} {x[1]} ? {x[0]} : {x[1]}"
        write: Callable[[ir.Operation, list[str]], str] | None = _WRITERS.get(name)
        return write(op, x) if write else None


def _element(kind: ir.Type, buffer: str, indices: Sequence[str]) -> str:
    strides = ir.MemRefType(kind).get_strides_and_offset()[0]
    return f"{buffer}[{' + '.join(f'{index} * {stride}' for index, stride in zip(indices, strides, strict=True)) or 0}]"


def _compare(op: ir.Operation, x: list[str]) -> str:
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    if op.name == "arith.cmpi":
        sign = _INT_ORDER[predicate] if predicate < 6 else ("<", "<=", ">", ">=")[predicate - 6]
        return f"{x[0]} {sign} {x[1]}" if predicate < 6 else f"(uint64_t){x[0]} {sign} (uint64_t){x[1]}"
    nan = f"({x[0]} != {x[0]} || {x[1]} != {x[1]})"
    if predicate in (0, 7, 14, 15):
        return {0: "0", 7: f"!{nan}", 14: nan, 15: "1"}[predicate]
    order = f"{x[0]} {_FLOAT_ORDER[predicate]} {x[1]}"
    return f"!{nan} && {order}" if predicate < 7 else f"{nan} || {order}"


def _subview(op: ir.Operation, x: list[str]) -> str:
    """A pointer to the first element of the part."""
    dynamic, given = ir.ShapedType.get_dynamic_stride_or_offset(), iter(x[1:])
    stated = ir.DenseI64ArrayAttr(op.attributes["static_offsets"])
    offsets = [next(given) if offset == dynamic else str(offset) for offset in stated]
    return f"&{_element(op.operands[0].type, x[0], offsets)}"


def _copy(op: ir.Operation, x: list[str]) -> str:
    kinds = [ir.MemRefType(value.type) for value in op.operands]
    rows = [math.prod(kinds[0].shape[axis + 1 :]) for axis in range(kinds[0].rank)]
    if any(list(kind.get_strides_and_offset()[0]) != rows for kind in kinds):
        raise dlc.TargetError(f"target 'c' copies whole buffers only, at {op.location}; name a CPU instead")
    return f"memcpy({x[1]}, {x[0]}, sizeof(*{x[0]}) * {math.prod(kinds[0].shape)})"


def _allocate(op: ir.Operation, x: list[str]) -> str:
    kind = op.results[0].type
    return f"_mlir_memref_to_llvm_alloc(sizeof({_type(kind)[:-2]}) * {math.prod(ir.MemRefType(kind).shape)})"


_WRITERS: dict[str, Callable[[ir.Operation, list[str]], str]] = {
    "arith.constant": lambda op, x: _literal(op.attributes["value"]),
    "arith.negf": lambda op, x: f"-{x[0]}",
    "arith.select": lambda op, x: f"{x[0]} ? {x[1]} : {x[2]}",
    **dict.fromkeys(("arith.cmpf", "arith.cmpi"), _compare),
    "memref.load": lambda op, x: _element(op.operands[0].type, x[0], x[1:]),
    "memref.store": lambda op, x: f"{_element(op.operands[1].type, x[1], x[2:])} = {x[0]}",
    "cf.assert": lambda op, x: f"if (!{x[0]}) dlc_raise({json.dumps(_name(op, 'msg'))})",
    "memref.copy": _copy,
    "memref.alloc": _allocate,
    "memref.alloca": _allocate,
    "memref.dealloc": lambda op, x: f"_mlir_memref_to_llvm_free({x[0]})",
    "memref.get_global": lambda op, x: _name(op, "name"),
    "memref.view": lambda op, x: f"({_type(op.results[0].type)})((char *){x[0]} + {x[1]})",
    **dict.fromkeys(("memref.collapse_shape", "memref.expand_shape", "memref.cast"), lambda op, x: x[0]),
    "memref.subview": _subview,
}


def main() -> None:
    """Compile a small model for the new target and compare with the CPU's."""
    dlc.register_target(ScalarC())
    model = """
func.func @main(%x: tensor<8x16xf32> {dl.name = "x"}, %w: tensor<16x4xf32> {dl.name = "w"}) -> tensor<8x4xf32> {
  %0 = "dl.matmul"(%x, %w) : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = "dl.relu"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}"""
    compiled = dlc.compile(model, target="c")
    inputs = dlc.random_inputs(compiled.inputs)
    (have,), want = compiled(inputs), np.maximum(inputs["x"] @ inputs["w"], 0)
    np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5)
    print("result agrees with NumPy: largest difference", float(np.abs(have - want).max()))


if __name__ == "__main__":
    main()

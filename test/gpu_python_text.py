"""Functions and kernels of the gpu dialect as Python text, for `gpu_interpreter.py`.

A kernel becomes a generator, which yields at barriers and at what the lanes of a warp do together (`gpu_warps.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from gpu_affine_text import AffineText
from gpu_arithmetic import UNSIGNED_OPS
from gpu_op_text import ELEMENT_TYPES
from gpu_warp_text import WarpText

from dlc._mlir import ir

_INFIX = {
    "arith.addf": "+", "arith.subf": "-", "arith.mulf": "*", "arith.divf": "/", "arith.addi": "+", "arith.subi": "-",
    "arith.muli": "*", "arith.andi": "&", "arith.ori": "|", "arith.xori": "^", "arith.shli": "<<", "arith.shrsi": ">>",
    "arith.floordivsi": "//",
}  # fmt: skip

_CALLS = {
    "arith.maximumf": "np.maximum", "arith.minimumf": "np.minimum", "arith.maxnumf": "np.fmax", "arith.minnumf": "np.fmin",
    "arith.maxsi": "max", "arith.minsi": "min", "arith.negf": "-", "math.sqrt": "np.sqrt", "math.exp": "np.exp",
    "math.log": "np.log", "math.tanh": "np.tanh", "math.absf": "abs", "math.fma": "_fma", "math.powf": "np.power",
    "math.rsqrt": "_rsqrt", "math.exp2": "np.exp2", "math.erf": "_erf", "math.sin": "np.sin", "math.cos": "np.cos",
    "math.floor": "np.floor", "math.ceil": "np.ceil", "math.roundeven": "np.rint", "math.log1p": "np.log1p",
    "nvvm.ex2": "np.exp2", "arith.divsi": "_divided", "arith.remsi": "_remainder", "math.expm1": "np.expm1",
    "math.atan": "np.arctan", "math.atan2": "np.arctan2", "math.asin": "np.arcsin", "math.acos": "np.arccos", "math.tan": "np.tan",
    "math.sinh": "np.sinh", "math.cosh": "np.cosh", "math.asinh": "np.arcsinh", "math.acosh": "np.arccosh",
    "math.atanh": "np.arctanh", "math.log2": "np.log2", "math.log10": "np.log10", "math.cbrt": "np.cbrt",
    "math.copysign": "np.copysign", "math.trunc": "np.trunc", "math.round": "_rounded", "math.absi": "abs",
    "math.ctpop": "_bits_set", "math.ctlz": "_leading_zeros", "math.isnan": "np.isnan", "math.isinf": "np.isinf",
    "arith.remf": "np.fmod",
}  # fmt: skip

_OF_BITS = tuple(f"arith.{name}" for name in UNSIGNED_OPS)
_CASTS = ("arith.index_cast", "arith.sitofp", "arith.fptosi", "arith.extf", "arith.truncf", "arith.extsi", "arith.trunci")
_UNSIGNED_CASTS = ("arith.index_castui", "arith.uitofp", "arith.extui")

_FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_UNSIGNED = range(6, 10)
"""Predicates of `arith.cmpi` that compare bits as numbers without a sign."""
_INTEGER_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_IDS = {"gpu.block_id": "block", "gpu.thread_id": "thread", "gpu.grid_dim": "grid", "gpu.block_dim": "size"}


def name_of(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


class FunctionText(AffineText, WarpText):
    """Writes one function as Python."""

    def __init__(self, op: ir.Operation, prefix: str = "") -> None:
        super().__init__()
        self.called, self.op = prefix + name_of(op), op
        self.writers: dict[str, Callable[[ir.Operation], None]] = {
            name.removeprefix("_on_").replace("__", "."): getattr(self, name) for name in dir(self) if name.startswith("_on_")
        }

    def lines(self) -> list[str]:
        block = self.op.regions[0].blocks[0]
        given = ", ".join(self.name(argument) for argument in block.arguments)
        if self.op.name == "func.func":
            self.say(0, f"def {self.called}({given}):")
            self.block(block, 1)
            return self.found
        count = ir.FunctionType(ir.TypeAttr(self.op.attributes["function_type"]).value).inputs
        shared = list(block.arguments)[len(count) :]
        given = ", ".join(self.name(argument) for argument in [*shared, *list(block.arguments)[: len(count)]])
        self.say(0, f"def {self.called}(block, thread, grid, size, dynamic, {given}):")
        self.say(1, "if False: yield")
        self.say(1, "copies, products = _copies(), _products()")
        self.block(block, 1)
        self.say(0, f"{self.called}_shared = [{', '.join(_shape_of(one.type) for one in shared)}]")
        return self.found

    def block(self, block: ir.Block, depth: int, results: Sequence[str] = ()) -> None:
        """Write the ops of a block; what its terminator gives goes to `results`."""
        self.depth = depth
        start = len(self.found)
        for inner in block.operations:
            op = inner.operation
            if op.name.endswith(".yield"):
                for name, value in zip(results, op.operands, strict=True):
                    self.say(depth, f"next_{name} = {self.name(value)}")
                for name in results:
                    self.say(depth, f"{name} = next_{name}")
                break
            self.one(op)
            self.depth = depth
        if len(self.found) == start:
            self.say(depth, "pass")

    def one(self, op: ir.Operation) -> None:
        given = [self.name(value) for value in op.operands]
        if op.name in self.writers:
            self.writers[op.name](op)
        elif op.name in _INFIX:
            self.set(op, f"{given[0]} {_INFIX[op.name]} {given[1]}")
        elif op.name in _CALLS:
            self.set(op, f"{_CALLS[op.name]}({', '.join(given)})")
        elif op.name in _OF_BITS:
            self.set(op, f"_of_bits({op.name.removeprefix('arith.')!r}, {given[0]}, {given[1]})")
        elif op.name in _CASTS:
            self.set(op, f"_cast({given[0]}, {_dtype(op.results[0].type)})")
        elif op.name in _UNSIGNED_CASTS:
            self.set(op, f"_cast({given[0]}, {_dtype(op.results[0].type)}, False)")
        elif op.name in ("arith.fptoui", "arith.bitcast"):
            self.set(op, f"{'_bits' if op.name.endswith('bitcast') else '_to_unsigned'}({given[0]}, {_dtype(op.results[0].type)})")
        elif op.name in _IDS:
            dim = "xyz".index(str(op.attributes["dimension"]).rsplit(" ", 1)[1].rstrip(">"))
            self.set(op, f"{_IDS[op.name]}[{dim}]")
        else:
            raise NotImplementedError(str(op))

    # Ops by name.

    def _on_func__return(self, op: ir.Operation) -> None:
        self.say(self.depth, f"return [{', '.join(self.name(value) for value in op.operands)}]")

    def _on_func__call(self, op: ir.Operation) -> None:
        given = ", ".join(self.name(value) for value in op.operands)
        results = "".join(f"{self.name(result)}, " for result in op.results)
        callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        self.say(self.depth, f"{results}{'= ' * bool(results)}{callee}({given})")

    def _on_gpu__return(self, op: ir.Operation) -> None:
        self.say(self.depth, "return")

    def _on_memref__subview(self, op: ir.Operation) -> None:
        values = iter(self.name(value) for value in list(op.operands)[1:])
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        lists = [list(ir.DenseI64ArrayAttr(op.attributes[f"static_{kind}"])) for kind in ("offsets", "sizes", "strides")]
        texts = [[next(values) if number == dynamic else str(number) for number in numbers] for numbers in lists]
        slices = ", ".join(f"{at} : {at} + {size} * {by} : {by}" for at, size, by in zip(*texts, strict=True))
        kind = ir.MemRefType(op.results[0].type)
        self.set(op, f"_shaped({self.name(op.operands[0])}[{slices}], {self._sizes(kind, texts[1])})")

    def _sizes(self, kind: ir.MemRefType, texts: Sequence[str]) -> str:
        """The shape of a view of rank `kind`, whose dims of size 1 may be dropped."""
        left = list(texts)
        while len(left) > kind.rank:
            left.remove("1")
        return f"({', '.join(left)}{',' * bool(left)})"

    def _on_memref__collapse_shape(self, op: ir.Operation) -> None:
        kind = ir.MemRefType(op.results[0].type)
        self.set(op, f"_shaped({self.name(op.operands[0])}, {tuple(kind.shape)!r})")

    _on_memref__expand_shape = _on_memref__collapse_shape

    def _on_memref__reinterpret_cast(self, op: ir.Operation) -> None:
        sizes, strides = (tuple(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"])) for name in ("sizes", "strides"))
        memory, *given = (self.name(operand) for operand in op.operands)
        at_run_time, dynamic = iter(given), ir.ShapedType.get_dynamic_size()
        shape = ", ".join(next(at_run_time) if size == dynamic else str(size) for size in sizes)
        self.set(op, f"_strided({memory}, ({shape},), {strides!r})")

    def _on_memref__cast(self, op: ir.Operation) -> None:
        self.set(op, self.name(op.operands[0]))

    def _on_scf__for(self, op: ir.Operation) -> None:
        low, high, step, *given = (self.name(value) for value in op.operands)
        self.counted_loop(op, f"range({low}, {high}, {step})", given)

    def _on_gpu__barrier(self, op: ir.Operation) -> None:
        self.say(self.depth, "yield")

    def _on_gpu__launch_func(self, op: ir.Operation) -> None:
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        given = [self.name(value) for value in op.operands]
        kernel = str(op.attributes["kernel"]).replace("::@", "_").removeprefix("@")
        bytes, arguments = given[6] if sizes[-3] else "0", given[6 + sizes[-3] : 6 + sizes[-3] + sizes[-2]]
        self.say(
            self.depth,
            f"_launch({kernel!r}, ({', '.join(given[:3])}), ({', '.join(given[3:6])}), {kernel}_shared, {bytes}, "
            f"[{', '.join(arguments)}])",
        )

    def _on_gpu__alloc(self, op: ir.Operation) -> None:
        kind = ir.MemRefType(op.results[0].type)
        sizes = iter(self.name(value) for value in op.operands)
        shape = ", ".join(next(sizes) if kind.is_dynamic_dim(at) else str(kind.shape[at]) for at in range(kind.rank))
        self.set(op, f"_new(({shape}{',' * bool(shape)}), {ELEMENT_TYPES[str(kind.element_type)]!r})")

    _on_memref__alloca = _on_memref__alloc = _on_gpu__alloc

    def _on_gpu__dealloc(self, op: ir.Operation) -> None:
        self.say(self.depth, f"del {self.name(op.operands[0])}")

    _on_memref__dealloc = _on_gpu__dealloc

    def _on_memref__get_global(self, op: ir.Operation) -> None:
        self.set(op, f"_globals[{ir.FlatSymbolRefAttr(op.attributes['name']).value!r}]")

    def _on_memref__copy(self, op: ir.Operation) -> None:
        source, target = (self.name(value) for value in op.operands)
        self.say(self.depth, f"{target}[...] = {source}")

    def _on_memref__view(self, op: ir.Operation) -> None:
        kind, (memref, at, *_) = ir.MemRefType(op.results[0].type), [self.name(value) for value in op.operands]
        dtype = np.dtype(ELEMENT_TYPES[str(kind.element_type)])
        size = int(np.prod(kind.shape)) * dtype.itemsize
        self.set(op, f"{memref}[{at} : {at} + {size}].view({dtype.name!r}).reshape({tuple(kind.shape)!r})")

    def _on_memref__dim(self, op: ir.Operation) -> None:
        self.set(op, f"{self.name(op.operands[0])}.shape[{self.name(op.operands[1])}]")

    def _on_arith__constant(self, op: ir.Operation) -> None:
        kind = str(op.results[0].type)
        if isinstance(op.results[0].type, ir.VectorType):
            self._splat(op)
            return
        value = op.attributes["value"].value
        text = f"float('{value!r}')" if isinstance(value, float) else repr(value)
        self.set(op, text if kind == "index" else f"{_scalar(kind)}({text})")

    def _splat(self, op: ir.Operation) -> None:
        kind = ir.VectorType(op.results[0].type)
        value = ir.DenseElementsAttr(op.attributes["value"]).get_splat_value().value
        text = f"float('{value!r}')" if isinstance(value, float) else repr(value)
        self.set(op, f"np.full({tuple(kind.shape)!r}, {text}, {ELEMENT_TYPES[str(kind.element_type)]!r})")

    def _on_arith__select(self, op: ir.Operation) -> None:
        condition, one, other = (self.name(value) for value in op.operands)
        self.set(op, f"{one} if {condition} else {other}")

    def _on_arith__cmpf(self, op: ir.Operation) -> None:
        predicate = _FLOAT_PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
        self.set(op, f"_compared({predicate!r}, {self.name(op.operands[0])}, {self.name(op.operands[1])})")

    def _on_arith__cmpi(self, op: ir.Operation) -> None:
        number = ir.IntegerAttr(op.attributes["predicate"]).value
        given = [self.name(value) for value in op.operands]
        if number in _UNSIGNED:
            given = [f"_unsigned({each})" for each in given]
        self.set(op, f"{given[0]} {_INTEGER_PREDICATES[number]} {given[1]}")

    def _on_memref__load(self, op: ir.Operation) -> None:
        memref, *subscripts = (self.name(value) for value in op.operands)
        for text in subscripts:
            self.say(self.depth, f"if {text} < 0: _outside()")
        self.set(op, f"{memref}[{', '.join(subscripts) or '()'}]")

    def _on_memref__store(self, op: ir.Operation) -> None:
        value, memref, *subscripts = (self.name(value) for value in op.operands)
        for text in subscripts:
            self.say(self.depth, f"if {text} < 0: _outside()")
        self.say(self.depth, f"{memref}[{', '.join(subscripts) or '()'}] = {value}")

    def _on_cf__assert(self, op: ir.Operation) -> None:
        self.say(self.depth, f"assert {self.name(op.operands[0])}, {ir.StringAttr(op.attributes['msg']).value!r}")


def _shape_of(kind: ir.Type) -> str:
    memref = ir.MemRefType(kind)
    return f"({tuple(memref.shape)!r}, {ELEMENT_TYPES[str(memref.element_type)]!r})"


def _dtype(kind: ir.Type) -> str:
    """The type of elements of a number or vector, as Python text."""
    text = str(ir.VectorType(kind).element_type if isinstance(kind, ir.VectorType) else kind)
    return "'index'" if text == "index" else "_bfloat16" if text == "bf16" else repr(ELEMENT_TYPES[text])


def _scalar(kind: str) -> str:
    """The Python type of an element."""
    return "_bfloat16" if kind == "bf16" else f"np.{ELEMENT_TYPES[kind]}"

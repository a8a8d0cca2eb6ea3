"""The pass `math-expand-functions`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.lowering.affine_to_llvm.math import expand_error_function as error_function
from dlc.lowering.affine_to_llvm.math import expand_exponential as exponential
from dlc.lowering.affine_to_llvm.math import expand_inverse_trigonometric as inverse_trigonometric
from dlc.lowering.affine_to_llvm.math import expand_logarithm as logarithm
from dlc.lowering.affine_to_llvm.math import expand_power as power
from dlc.lowering.affine_to_llvm.math import expand_trigonometric as trigonometric
from dlc.lowering.affine_to_llvm.math.float_formats import FORMATS
from dlc.lowering.affine_to_llvm.math.math_emitter import Emitter, FunctionConstants, Num, Shape, TypeTable
from dlc.lowering.affine_to_llvm.math.reduce_huge_angle import define_reduction
from dlc.lowering.pass_base import Pass, PassFailure
from dlc.targets.machine import facts_of

Expansion = Callable[..., Num | tuple[Num, ...]]

EXPANSIONS: Mapping[str, Expansion] = {
    "math.exp": exponential.exp,
    "math.exp2": exponential.exp2,
    "math.expm1": exponential.expm1,
    "math.sinh": exponential.sinh,
    "math.cosh": exponential.cosh,
    "math.tanh": exponential.tanh,
    "math.log": logarithm.log,
    "math.log2": logarithm.log2,
    "math.log10": logarithm.log10,
    "math.log1p": logarithm.log1p,
    "math.asinh": logarithm.asinh,
    "math.acosh": logarithm.acosh,
    "math.atanh": logarithm.atanh,
    "math.powf": power.pow,
    "math.cbrt": power.cbrt,
    "math.rsqrt": power.rsqrt,
    "math.sin": trigonometric.sin,
    "math.cos": trigonometric.cos,
    "math.sincos": trigonometric.sincos,
    "math.tan": trigonometric.tan,
    "math.asin": inverse_trigonometric.asin,
    "math.acos": inverse_trigonometric.acos,
    "math.atan": inverse_trigonometric.atan,
    "math.atan2": inverse_trigonometric.atan2,
    "math.erf": error_function.erf,
}
"""Op name -> the function that writes its expansion."""

NONPOSITIVE = "dlc.nonpositive"
"""Attribute of a `math.exp` whose argument is never above 0, as those of softmax; it may be lost, which costs time alone."""
UNIT_INTERVAL = "dlc.unit_interval"
"""Attribute of a `math.log1p` whose argument lies within [0, 1], as that of softplus; it may be lost, too."""
REDUCED_ANGLES = ("math.sin", "math.cos", "math.sincos", "math.tan")
NARROW = ("f16", "bf16")
_GPU_MODULE = "gpu.module"
_MOST_LANES = 1 << 32
"""Of a vector, which an expansion makes one of rank 1."""


@dataclass(frozen=True)
class MathExpandFunctions(Pass):
    """Replace elementary functions on f16, bf16, f32 and f64 scalars and vectors by arithmetic.

    No call of the C math library is left of these ops. Results are within 4 ulp (f32 erf and tanh: 5 ulp), infinities,
    NaN, signed zeros, subnormals and huge angles included; f16 and bf16 compute in f32. Tensors and other element types
    stay as they are. A `math.exp` marked `dlc.nonpositive` is within 5 ulp, and 0 where the result would be subnormal; a
    `math.log1p` marked `dlc.unit_interval` is right between 0 and 1. In f32 1 + exp(x) is one function, of a sigmoid for one,
    and a sigmoid times a tanh, as recurrent layers have them, is one quotient.
    Where the target has AVX-512, vectors of 512 bits are scaled by powers of two in one instruction; kernels of a GPU
    (`gpu.module`) are the same beside all processors.

    before: %y = math.exp2 %x : vector<16xf32>
    after:  %n = math.fma %x, %one, %magic : vector<16xf32>     // round(x) in the low bits
            ...                                                 // polynomial in x - round(x)
            %y = arith.mulf %p, %scale : vector<16xf32>
    """

    def run(self, op: ir.Operation) -> None:
        """Expand every such op inside `op`."""
        targets: list[ir.Operation] = []

        def collect(inner: ir.Operation) -> ir.WalkResult:
            if inner.name in EXPANSIONS:
                targets.append(inner.operation)
            return ir.WalkResult.ADVANCE

        op.operation.walk(collect, ir.WalkOrder.PRE_ORDER)
        # Products with a sigmoid are found by its exponential.
        targets.sort(key=lambda target: target.name != "math.tanh")
        rewriter = _Rewriter(TypeTable(op.context), facts_of(op).features)
        for target in targets:
            rewriter.expand(target)
        rewriter.erase_replaced()


@dataclass
class _Rewriter:
    types: TypeTable
    features: frozenset[str]
    pools: dict[ir.Operation, FunctionConstants] = field(default_factory=dict)
    replaced: list[ir.Operation] = field(default_factory=list)
    markers: list[ir.Operation] = field(default_factory=list)
    reducing_modules: list[ir.Operation] = field(default_factory=list)

    def expand(self, op: ir.Operation) -> None:
        """Write the expansion of `op` before it; `op` is left without uses."""
        described = _shape_and_kind(op)
        if described is None:
            return
        shape, kind = described
        function, module = _enclosing(op)
        point = ir.InsertionPoint(op)
        working = "f32" if kind in NARROW else kind
        features = frozenset[str]() if module.name == _GPU_MODULE else self.features
        emitter = Emitter(self.types, self._pool(function), point, op.location, shape, FORMATS[working], features)
        if op.name == "math.exp" and kind == "f32" and (total := _sum_with_one(op)) is not None:
            self._expand_sum(op, total, emitter)
            return
        if op.name == "math.tanh" and kind == "f32" and (product := _product_with_sigmoid(op)) is not None:
            self._expand_product(op, product, emitter)
            return
        operands = [Num(emitter, operand, kind) for operand in op.operands]
        written = _expansion_of(op)(*(operand.convert(working) for operand in operands))
        results = written if isinstance(written, tuple) else (written,)
        for old, new in zip(op.results, results, strict=True):
            old.replace_all_uses_with(new.convert(kind).value)
        self.replaced.append(op)
        if op.name in REDUCED_ANGLES and module not in self.reducing_modules:
            define_reduction(module, emitter)
            self.reducing_modules.append(module)

    def _expand_sum(self, op: ir.Operation, total: ir.Operation, emitter: Emitter) -> None:
        """Write 1 + e^x in place of `total`, which is the only user of `op`; both are left without uses."""
        (x,) = op.operands
        negation = x.owner if _is_called(x.owner, "arith.negf") else None
        argument = x if negation is None else negation.operands[0]
        written = exponential.exp_plus_one(Num(emitter, argument, "f32"), negated=negation is not None)
        total.results[0].replace_all_uses_with(written.value)
        self.replaced += [total, op]

    def _expand_product(self, op: ir.Operation, product: ir.Operation, emitter: Emitter) -> None:
        """Write tanh(x) / (1 + e^-y) in place of `product`, of `op` and a quotient; all three are left without uses."""
        quotient = next(factor.owner.operation for factor in product.operands if factor.owner != op)
        there = emitter.at(ir.InsertionPoint(product), emitter.shape)
        x, total = (Num(there, value, "f32") for value in (op.operands[0], quotient.operands[1]))
        product.results[0].replace_all_uses_with(exponential.tanh_over(x, total).value)
        self.replaced += [product, quotient, op]

    def _pool(self, function: ir.Operation) -> FunctionConstants:
        if function not in self.pools:
            start = ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0])
            # Constants go before a marker: the block's first op may be one that is expanded.
            marker = ir.Operation.create(
                "arith.constant",
                results=[self.types.element("i1")],
                attributes={"value": self.types.constant(None, "i1", 0)},
                ip=start,
                loc=function.location,
            )
            self.markers.append(marker)
            self.pools[function] = FunctionConstants(ir.InsertionPoint(marker), function.location)
        return self.pools[function]

    def erase_replaced(self) -> None:
        """Erase the expanded ops and the markers."""
        for op in (*self.replaced, *self.markers):
            op.erase()


def _expansion_of(op: ir.Operation) -> Expansion:
    """What computes `op`, by what is known of its argument."""
    if op.name == "math.exp" and NONPOSITIVE in op.attributes:
        return exponential.exp_of_nonpositive
    if op.name == "math.log1p" and UNIT_INTERVAL in op.attributes:
        return logarithm.log1p_of_unit
    return EXPANSIONS[op.name]


def _sum_with_one(op: ir.Operation) -> ir.Operation | None:
    """The sum of 1 and the result of `op`, where nothing else takes that."""
    total = _sole_user(op, "arith.addf")
    return total if total is not None and any(_is_one(operand) for operand in total.operands) else None


def _product_with_sigmoid(op: ir.Operation) -> ir.Operation | None:
    """The product of the result of `op` and some 1 / (1 + e^y), in the block of `op`, where nothing else takes either factor."""
    product = _sole_user(op, "arith.mulf")
    if product is None or product.block != op.block:
        return None
    factors = [factor.owner for factor in product.operands if factor != op.results[0]]
    return product if all(_is_sigmoid(factor) and _sole_user(factor, "arith.mulf") for factor in factors) else None


def _is_sigmoid(owner: ir.Operation | ir.Block) -> bool:
    """Whether `owner` is 1 / (1 + e^y) for some y."""
    if not _is_called(owner, "arith.divf") or not _is_one(owner.operands[0]):
        return False
    total = owner.operands[1].owner
    if not _is_called(total, "arith.addf") or not any(_is_one(term) for term in total.operands):
        return False
    return any(_is_called(term.owner, "math.exp") for term in total.operands)


def _is_called(owner: ir.Operation | ir.Block, name: str) -> bool:
    return not isinstance(owner, ir.Block) and owner.name == name


def _sole_user(op: ir.Operation, name: str) -> ir.Operation | None:
    """The only use of the result of `op`, where it is an op called `name`."""
    uses = list(op.results[0].uses)
    return uses[0].owner.operation if len(uses) == 1 and uses[0].owner.name == name else None


def _is_one(value: ir.Value) -> bool:
    if not _is_called(value.owner, "arith.constant"):
        return False
    number = value.owner.attributes["value"]
    if isinstance(number, ir.DenseElementsAttr):
        number = number.get_splat_value() if number.is_splat else None
    return isinstance(number, ir.FloatAttr) and float(number) == 1.0


def _shape_and_kind(op: ir.Operation) -> tuple[Shape, str] | None:
    """The shape and element kind that `op` works on; None where it is not expanded."""
    kind = op.results[0].type
    shape: Shape = None
    if isinstance(kind, ir.VectorType):
        if kind.scalable:
            raise PassFailure(op, f"'{op.name}' on a scalable vector", "vectorize with a fixed width")
        shape, kind = tuple(kind.shape), kind.element_type
        if (lanes := math.prod(shape)) > _MOST_LANES:
            raise PassFailure(op, f"'{op.name}' on a vector of {lanes} lanes", f"split it into some of up to {_MOST_LANES}")
    name = str(kind)
    return (shape, name) if name in FORMATS or name in NARROW else None


def _enclosing(op: ir.Operation) -> tuple[ir.Operation, ir.Operation]:
    """The function that holds `op` and the module that holds the function."""
    function, parent = op, op.parent
    while parent is not None and not parent.name.endswith(".module"):
        function, parent = parent.operation, parent.operation.parent
    if parent is None or function is op:
        raise PassFailure(op, f"'{op.name}' outside a function of a module", "run the pass on a whole module")
    return function, parent.operation

"""16-bit floats as LLVM for x86 handles them well: it computes in f32 and moves them as integers.

LLVM has no bf16 registers on most x86 machines. It moves a bf16 value through f32 and back, by a library function
(`__truncsfbf2`) that few C runtimes have, in selects, masked stores and more; f16 suffers in masked stores only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlc._mlir import ir

_MOVES = frozenset(
    f"llvm.{name}"
    for name in (
        "bitcast",
        "br",
        "call",
        "cond_br",
        "extractelement",
        "freeze",
        "insertelement",
        "intr.masked.load",
        "intr.masked.store",
        "load",
        "mlir.poison",
        "mlir.undef",
        "mlir.zero",
        "return",
        "select",
        "shufflevector",
        "store",
        "switch",
    )
)
"""Ops that do not look into the values they handle."""
_MASKED = ("llvm.intr.masked.load", "llvm.intr.masked.store")


def move_halves_as_integers(ops: Sequence[ir.Operation]) -> None:
    """Give every bf16 value of `ops`, all of an llvm-dialect module, and f16 in masked loads and stores, the type of an integer.

    Arithmetic on bf16 must have become arithmetic on f32 and integers before; ops that still want bf16 get a bitcast.
    """
    wanting = [
        (op, index, value.type)
        for op in ops
        if op.name not in _MOVES
        for index, value in enumerate(op.operands)
        if _is_bf16(value.type)
    ]
    for op in ops:
        _retype_results(op)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    _retype(argument)
        if op.name == "llvm.func":
            _retype_signature(op)
    for op, index, kind in wanting:
        with op.location, ir.InsertionPoint(op):
            op.operands[index] = _bitcast(kind, op.operands[index])
    for op in ops:
        if op.name in _MASKED:
            _mask_integers(op)


def hold_halves(types: Iterable[ir.Type]) -> bool:
    """Whether a 16-bit float, a vector of them or a buffer is among `types`."""
    return any(isinstance(_element(kind), (ir.BF16Type, ir.F16Type)) for kind in types)


def _is_bf16(kind: ir.Type) -> bool:
    return isinstance(_element(kind), ir.BF16Type)


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.ShapedType) else kind


def _as_integer(kind: ir.Type) -> ir.Type:
    """The type of 16-bit integers that stands for `kind`, a float or a vector of floats."""
    integer = ir.IntegerType.get_signless(16, kind.context)
    if not isinstance(kind, ir.VectorType):
        return integer
    return ir.VectorType.get(kind.shape, integer, loc=ir.Location.unknown(kind.context))


def _retype(value: ir.Value) -> None:
    if _is_bf16(value.type):
        value.set_type(_as_integer(value.type))


def _retype_results(op: ir.Operation) -> None:
    """Retype what a move gives; what another op gives is cast."""
    for result in op.results:
        if not _is_bf16(result.type):
            continue
        if op.name in _MOVES:
            _retype(result)
            continue
        with op.location, ir.InsertionPoint.after(op):
            moved = _bitcast(_as_integer(result.type), result)
        result.replace_all_uses_except(moved, moved.owner.operation)


def _retype_signature(function: ir.Operation) -> None:
    kind = str(function.attributes["function_type"])
    if "bf16" in kind:
        plain = ir.Type.parse(kind.replace("bf16", "i16"), function.context)
        function.attributes["function_type"] = ir.TypeAttr.get(plain)


def _mask_integers(op: ir.Operation) -> None:
    """Let a masked load or store of f16 move integers."""
    is_load = op.name == _MASKED[0]
    kind = op.result.type if is_load else op.operands[0].type
    if not isinstance(_element(kind), ir.F16Type):
        return
    attributes = {name: op.attributes[name] for name in op.attributes}
    with op.location, ir.InsertionPoint(op):
        integers = _as_integer(kind)
        operands = [_bitcast(integers, value) if value.type == kind else value for value in op.operands]
        results = [integers] if is_load else []
        moved = ir.Operation.create(op.name, results=results, operands=operands, attributes=attributes)
        if is_load:
            op.result.replace_all_uses_with(_bitcast(kind, moved.result))
    op.erase()


def _bitcast(kind: ir.Type, value: ir.Value) -> ir.Value:
    return ir.Operation.create("llvm.bitcast", results=[kind], operands=[value]).result

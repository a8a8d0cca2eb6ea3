"""What LLVM has to know of the target: on each function the processor and its features, and no op that it lacks."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.targets.machine import Machine, facts_of


def fit_to_target(module: ir.Operation) -> None:
    """Let the functions of an llvm-dialect module name the target of the module, if it has one other than this machine.

    Given any features, LLVM takes those of the processor and these, and none of this machine's.
    """
    facts = facts_of(module)
    if not facts.has_fma:
        for op in nested_ops(module):
            _expand_fma(op)
    if not facts.processor:
        return
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "llvm.func" and len(op.regions[0].blocks):
            _name_processor(op.operation, facts)


def _name_processor(function: ir.Operation, facts: Machine) -> None:
    with function.context:
        names = ", ".join(f'"{feature}"' for feature in facts.llvm_features)
        function.attributes["target_cpu"] = ir.StringAttr.get(facts.processor)
        function.attributes["target_features"] = ir.Attribute.parse(f"#llvm.target_features<[{names}]>")


def _expand_fma(op: ir.Operation) -> None:
    """Compute an f32 fma in f64: the product is exact there, and LLVM would call a library function for each lane.

    The sum is rounded twice, which is wrong by half an ulp of f32 plus one of f64 at most. An f64 fma stays a call.
    """
    if op.name != "llvm.intr.fma" or not isinstance(_element(op.results[0].type), ir.F32Type):
        return
    narrow = op.results[0].type
    with op.location, ir.InsertionPoint(op):
        wide = _like(narrow, ir.F64Type.get())
        a, b, c = (_create("llvm.fpext", wide, operand) for operand in op.operands)
        total = _create("llvm.fadd", wide, _create("llvm.fmul", wide, a, b), c)
        op.results[0].replace_all_uses_with(_create("llvm.fptrunc", narrow, total))
    op.erase()


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.VectorType) else kind


def _like(kind: ir.Type, element: ir.Type) -> ir.Type:
    return ir.VectorType.get(kind.shape, element) if isinstance(kind, ir.VectorType) else element


def _create(name: str, kind: ir.Type, *operands: ir.Value) -> ir.Value:
    return ir.Operation.create(name, results=[kind], operands=list(operands)).result

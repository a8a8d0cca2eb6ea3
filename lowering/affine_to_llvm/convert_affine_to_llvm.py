"""The last level: everything becomes the llvm dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine_to_llvm.allocations import guard_allocations
from dlc.lowering.affine_to_llvm.bare_pointers import pass_bare_pointers
from dlc.lowering.affine_to_llvm.bool_storage import move_bools_as_bytes
from dlc.lowering.affine_to_llvm.computed_addresses import has_computed_addresses, keep_from_vectorizer
from dlc.lowering.affine_to_llvm.half_storage import hold_halves, move_halves_as_integers
from dlc.lowering.affine_to_llvm.hoist_scratch import hoist_scratch
from dlc.lowering.affine_to_llvm.interfaces import C_INTERFACE, merge_interfaces
from dlc.lowering.affine_to_llvm.lowerable import Present, require_lowerable
from dlc.lowering.affine_to_llvm.named_calls import name_calls
from dlc.lowering.affine_to_llvm.rotate_loops import OPTIMIZED, needs_no_optimizer, rotate_loops
from dlc.lowering.affine_to_llvm.run_time_errors import lower_assertions
from dlc.lowering.affine_to_llvm.target_features import fit_to_target
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import Pass, PassFailure

_TO_LOOPS: Mapping[str, tuple[str, ...]] = {
    "expand-strided-metadata": (),
    "lower-affine": (),
    "loop-invariant-code-motion": (),
    "convert-vector-to-scf{full-unroll=true}": ("vector.transfer_", "vector.print"),
    "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32}": (),
    "math-extend-to-supported-types{target-type=f32 extra-types=f16}": ("math.",),
    "arith-expand{include-bf16=true}": (),
}
"""Upstream's passes, each with how the names of the ops begin that it is for; none where most kernels have such ops."""
_LOWERING: Mapping[str, tuple[str, ...]] = {
    "convert-scf-to-cf": (),
    "convert-math-to-llvm": ("math.",),
    "convert-math-to-libm": ("math.",),
    "finalize-memref-to-llvm{use-generic-functions=true}": (),
    "convert-vector-to-llvm": (),
    "convert-to-llvm": (),
    "reconcile-unrealized-casts": (),
}
_CLEAN_UP = ("canonicalize", "cse")
_NOALIAS = "llvm.noalias"
_RUNTIME_ALIGNMENT = 64
"""What `_mlir_memref_to_llvm_alloc` guarantees; asking for no more keeps the freed and the used pointer the same."""


@dataclass(frozen=True)
class ConvertAffineToLlvm(Pass):
    """Lower affine, scf, vector, math, memref, arith, cf and func to the llvm dialect.

    The entry (of `dl.signature`, else every public function) gets the C interface `_mlir_ciface_<name>`, the only way to
    call it, and so does what computes weights; private functions become internal. Kernels are not inlined, since they would
    be compiled once per call. A public `dl.kernel` function stays external without a C interface: its caller is in another
    object. Static buffers go to kernels as bare pointers. Buffers come from the runtime's `_mlir_memref_to_llvm_alloc`, those of
    an entry from `dlc_allocate`, which knows their node; sizes that overflow fail. An entry calls `dlc_begin_kernel` before each
    kernel, and a failed `cf.assert` calls `dlc_raise`. Functions name the processor of the module's `dlc.target`.
    What a loop does not change is computed before it, and loops that are known to run test at their end; a module of which LLVM's
    optimiser would make no loop faster becomes `dlc.optimized`.

    before: func.func @main(%x: memref<4xf32>) { affine.for %i = 0 to 4 { ... } return }
    after:  llvm.func @_mlir_ciface_main(%0: !llvm.ptr) { ... }
    """

    def run(self, op: ir.Operation) -> None:
        ops = nested_ops(op)
        present = require_lowerable(ops)
        for alloc in [inner for inner in ops if inner.name == "memref.alloc"]:
            _drop_alignment(alloc)
        pass_bare_pointers(op, ops)
        noalias, scalar = {}, set()
        entries = _entries_of(op)
        for function in _functions(op):
            inside, name = nested_ops(function), symbol_name(function)
            if name.startswith(C_INTERFACE):
                raise PassFailure(function, f"'{name}' is called as a C interface, which this pass makes", "give it another name")
            hoist_scratch(function, inside)
            _set_linkage(function, name in entries if entries else _is_callable(function))
            noalias[name] = _noalias_pointers(function)
            scalar |= {name} if has_computed_addresses(inside) else set()
        lower_assertions(op, [inner for inner in ops if inner.name == "cf.assert"])
        run_native(op, *_needed(_TO_LOOPS, present))
        ops = nested_ops(op)
        if needs_no_optimizer(ops):
            op.attributes[OPTIMIZED] = ir.UnitAttr.get(op.context)
        rotate_loops(ops)
        run_native(op, *_needed(_LOWERING, present), *_CLEAN_UP)
        _mark_noalias(op, noalias)
        for function in _named(op, scalar):
            keep_from_vectorizer(function)
        merge_interfaces(op)
        ops = nested_ops(op)
        guard_allocations(ops)
        if interfaces := _interfaces(op):
            for function in interfaces:
                name_calls(function)
            ops = nested_ops(op)
        if hold_halves(present.types):
            move_halves_as_integers(ops)
            ops = nested_ops(op)
        move_bools_as_bytes(ops)
        fit_to_target(op)


def _needed(passes: Mapping[str, tuple[str, ...]], present: Present) -> list[str]:
    """Those of `passes` that have something to do."""
    return [name for name, ops in passes.items() if not ops or present.has(*ops)]


def _drop_alignment(op: ir.Operation) -> None:
    if "alignment" not in op.attributes:
        return
    if ir.IntegerAttr(op.attributes["alignment"]).value <= _RUNTIME_ALIGNMENT:
        del op.attributes["alignment"]


def _entries_of(module: ir.Operation) -> set[str]:
    """Names of the functions that `dl.signature` says are called: the entry, and the one that computes weights."""
    if "dl.signature" not in module.attributes:
        return set()
    signature = module.attributes["dl.signature"]
    found = [signature]
    if isinstance(signature, ir.DictAttr) and "precompute" in signature:
        found.append(signature["precompute"])
    names = [item["entry"] if isinstance(item, ir.DictAttr) and "entry" in item else None for item in found]
    texts = {name.value for name in names if isinstance(name, ir.StringAttr)}
    if len(texts) != len(names):
        raise PassFailure(module, "'dl.signature' does not name the entry of the model", "leave it to dl-bind-params")
    return texts


def _functions(module: ir.Operation) -> Iterator[ir.Operation]:
    """Functions with a body."""
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "func.func" and len(op.regions[0].blocks):
            yield op.operation


def _named(module: ir.Operation, names: Set[str]) -> Iterator[ir.Operation]:
    """The functions with these names."""
    for op in module.regions[0].blocks[0].operations:
        if "sym_name" in op.attributes and symbol_name(op.operation) in names:
            yield op.operation


def _interfaces(module: ir.Operation) -> list[ir.Operation]:
    """The C interfaces of a module in the llvm dialect."""
    functions = [op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "llvm.func"]
    return [function for function in functions if symbol_name(function).startswith(C_INTERFACE)]


def _is_callable(function: ir.Operation) -> bool:
    """Whether a function of a module without `dl.signature` is one for callers: public, and no kernel on its own."""
    return "sym_visibility" not in function.attributes and "dl.kernel" not in function.attributes


def _set_linkage(function: ir.Operation, is_entry: bool) -> None:
    unit = ir.UnitAttr.get(function.context)
    function.attributes["llvm.no_inline"] = unit
    if is_entry:
        function.attributes["llvm.emit_c_interface"] = unit
    elif "sym_visibility" in function.attributes:
        function.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>", function.context)


def _noalias_pointers(function: ir.Operation) -> list[int]:
    """Positions, among the arguments after lowering, of the data pointers of buffers that are marked `llvm.noalias`."""
    if "arg_attrs" not in function.attributes:
        return []
    found, position = [], 0
    marks = ir.ArrayAttr(function.attributes["arg_attrs"])
    for argument, mark in zip(function.regions[0].blocks[0].arguments, marks, strict=True):
        ranked = isinstance(argument.type, ir.MemRefType)
        if _NOALIAS in ir.DictAttr(mark):
            found.append(position + ranked)  # a descriptor's second word, or a bare pointer
        position += 3 + 2 * argument.type.rank if ranked else 1
    return found


def _mark_noalias(module: ir.Operation, noalias: Mapping[str, list[int]]) -> None:
    """The upstream lowering of memref arguments drops pointer attributes; put them back."""
    empty = ir.DictAttr.get({}, module.context)
    mark = ir.DictAttr.get({_NOALIAS: ir.UnitAttr.get(module.context)}, module.context)
    for op in module.regions[0].blocks[0].operations:
        positions = noalias.get(symbol_name(op)) if "sym_name" in op.attributes else None
        if positions:
            count = len(op.regions[0].blocks[0].arguments)
            attributes = [mark if index in positions else empty for index in range(count)]
            op.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes, module.context)

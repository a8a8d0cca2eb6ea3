"""The loops of a kernel in a form that a schedule can change, and what becomes of the kernel afterwards.

Kernels carry sums in values, and combine them with what follows in one body. A copy of the loops is made whose values are elements
of memory, so that each statement is one of its own (`affine-demote-values`, `affine-accumulate-in-place`, `affine-expand-buffers`).
Once the loops are changed, elements become values again, and take the place of the loops that were changed. Loops that no step
touches stay as they were, for the search and the code generators.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, VIEW_OPS, nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.errors import ScheduleError
from dlc.lowering.affine.dependences.coincidence import between_instances, stays, within_iterations
from dlc.lowering.affine.ir.forwarding import forward_stores, remove_dead_stores
from dlc.lowering.affine.ir.loops import AS_WRITTEN, SCHEDULE, SEARCH, real_ops
from dlc.lowering.affine.ir.nests import nests_of
from dlc.lowering.affine.polyhedral.loop_marks import name_of
from dlc.lowering.affine.polyhedral.loop_values import LoopValues
from dlc.lowering.affine.schedule.driver import write
from dlc.lowering.affine.schedule.given_tiles import given_tile
from dlc.lowering.affine.schedule.loop_tree import Kind, LoopNode, SequenceNode, Tree, block, children, with_children
from dlc.lowering.affine.schedule.program import PrimitiveError, Program
from dlc.lowering.affine.schedule.schedule import Schedule
from dlc.lowering.affine.schedule.schedule_text import read_lines
from dlc.lowering.native import run_native
from dlc.lowering.outlining import captures_of, noalias_marks, private_function
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.registry import find_pass

_BEFORE = ("affine-demote-values", "affine-accumulate-in-place", "affine-expand-buffers")
_UNTOUCHED = "untouched"
_LOOPS = ("affine.for", "affine.parallel")


@dataclass(frozen=True)
class KernelLoops:
    """A copy of the loops of a kernel, and of what lies between them, as the only function of `module`.

    `originals` are these ops in the kernel, `captured` the values that the copy gets as arguments.
    """

    originals: tuple[ir.Operation, ...]
    module: ir.Module
    captured: tuple[ir.Value, ...]

    @staticmethod
    def of(kernel: ir.Operation) -> KernelLoops:
        """The loops of the function `kernel`; PassFailure where it has none."""
        originals = _loops_in(kernel)
        with kernel.context, kernel.location:
            captured, constants = captures_of(originals)
            marks = noalias_marks(kernel, originals, captured)
            copies = [op.clone(ip=ir.InsertionPoint(originals[0])).operation for op in originals]
            _use_each_other(originals, copies)
            name = symbol_name(kernel)
            body = private_function(name, copies, captured, constants)
            body.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
            body.attributes["dl.kernel"] = ir.UnitAttr.get()
            module = ir.Module.create()
            module.body.append(body)
        for name, attribute in kernel.parent.operation.attributes.items():
            if name.startswith(("dlc.", "dl.")):
                module.operation.attributes[name] = attribute
        with kernel.context, kernel.location:
            for step in _BEFORE:
                _run(step, body)
        return KernelLoops(tuple(originals), module, tuple(captured))

    @property
    def function(self) -> ir.Operation:
        """The function that holds the copy."""
        return self.module.body.operations[0].operation

    def put_back(self, before: Tree, program: Program) -> None:
        """Put the loops of `program`, whose tree was `before` at first, in place of those of the kernel that it changes."""
        kept = _untouched(before, program.tree, [op for op in self.originals if op.name in _LOOPS])
        ordering = program.ordering()
        items = [_named(item, kept[id(item)][0]) if id(item) in kept else _free(item, ordering) for item in _items(program.tree)]
        write(replace(program, tree=block(items)))
        self._simplify()
        body = self.function.regions[0].blocks[0]
        for argument, value in zip(body.arguments, self.captured, strict=True):
            argument.replace_all_uses_with(value)
        made = real_ops(body)
        allocations = [op for op in made if op.name in ALLOCATIONS]
        self._move(made, dict(kept.values()))
        _remove_unused(allocations)

    def _move(self, made: Sequence[ir.Operation], places: Mapping[str, ir.Operation]) -> None:
        """Put the ops `made` where the originals are; those that are called as in `places` stand for loops that stay."""
        anchor = _next_op(self.originals[-1])
        moved = set[ir.Operation]()
        for op in made:
            original = places.get(name_of(op))
            if original is None:
                op.move_before(anchor)
                continue
            original.move_before(anchor)
            moved.add(original)
            op.erase()
        for op in reversed([op for op in self.originals if op not in moved]):
            op.erase()

    def _simplify(self) -> None:
        """Elements of memory become values again."""
        function = self.function
        for op in real_ops(function.regions[0].blocks[0]):
            if op.name == "affine.for" and not name_of(op).startswith(_UNTOUCHED):
                op.attributes[AS_WRITTEN] = ir.UnitAttr.get()
        run_native(self.module.operation, "func.func(affine-loop-normalize,canonicalize,cse)")
        forward_stores(function.regions[0].blocks[0])
        remove_dead_stores(function)
        _run("affine-promote-buffers", function)
        for op in list(_as_written(function)):
            _run("affine-contract-products", op)
        forward_stores(function.regions[0].blocks[0])
        remove_dead_stores(function)
        run_native(self.module.operation, "func.func(canonicalize,cse)")


def _run(name: str, op: ir.Operation) -> None:
    found = find_pass(name)
    assert found is not None
    found().run(op)


def _as_written(op: ir.Operation) -> Iterator[ir.Operation]:
    """The outermost of the ops from `op` inwards that hold no nest for code generators, which look for products themselves."""
    if _is_generated(op):
        return
    if not any(_is_generated(inner) for inner in nested_ops(op)):
        yield op
        return
    inner_ops = [inner.operation for region in op.regions for body in region.blocks for inner in body.operations]
    for inner in inner_ops:
        yield from _as_written(inner)


def _is_generated(loop: ir.Operation) -> bool:
    """Whether a code generator makes code of the nest whose outermost loop this is."""
    return SCHEDULE in loop.attributes or SEARCH in loop.attributes


def _loops_in(kernel: ir.Operation) -> list[ir.Operation]:
    """The top-level loops of a kernel and what lies between them; memory is allocated before and freed after them."""
    ops = real_ops(kernel.regions[0].blocks[0])
    places = [at for at, op in enumerate(ops) if op.name in _LOOPS]
    if not places:
        raise PassFailure(kernel, "the kernel has no loops", "choose another one")
    first, end = ops[places[0]], _next_op(ops[places[-1]])
    found, made = list[ir.Operation](), set[ir.Value]()
    for op in ops[places[0] : places[-1] + 1]:
        is_memory = op.name in ALLOCATIONS or op.name in VIEW_OPS or op.name == "arith.constant"
        if is_memory and made.isdisjoint(op.operands):
            op.move_before(first)
        elif op.name == "memref.dealloc":
            op.move_before(end)
        else:
            found.append(op)
            made.update(op.results)
    outside = [use.owner.operation for op in found for result in op.results for use in result.uses]
    if any(user.block == found[0].block and user not in found for user in outside):
        raise PassFailure(kernel, "a loop of the kernel gives a value to what follows", "leave its schedule to the search")
    return found


def _next_op(op: ir.Operation) -> ir.Operation:
    """The op behind `op`, which is no terminator, in its block."""
    ops = [each.operation for each in op.block.operations]
    return ops[ops.index(op) + 1]


def _use_each_other(originals: Sequence[ir.Operation], copies: Sequence[ir.Operation]) -> None:
    """Let copies use results of copies in place of those of originals."""
    inside = {inner for copy in copies for inner in nested_ops(copy)}
    for original, copy in zip(originals, copies, strict=True):
        for result, new in zip(original.results, copy.results, strict=True):
            for use in [use for use in result.uses if use.owner.operation in inside]:
                use.owner.operation.operands[use.operand_number] = new


def _items(tree: Tree) -> tuple[Tree, ...]:
    """What runs one after the other at the top of a tree."""
    return tree.items if isinstance(tree, SequenceNode) else (tree,)


def _untouched(before: Tree, after: Tree, loops: Sequence[ir.Operation]) -> dict[int, tuple[str, ir.Operation]]:
    """By identity, the loops of `after` that are loops of `before` still: a name, and the loop of the kernel that each was."""
    known = [item for item in _items(before) if isinstance(item, LoopNode)]
    if len(known) != len(loops):
        return {}
    now = {id(item) for item in _items(after)}
    pairs = enumerate(zip(known, loops, strict=True))
    return {id(item): (f"{_UNTOUCHED}{number}", loop) for number, (item, loop) in pairs if id(item) in now}


def _named(item: Tree, name: str) -> Tree:
    assert isinstance(item, LoopNode)
    return replace(item, name=name)


def _free(node: Tree, ordering: isl.UnionMap) -> Tree:
    """`node` with its loops parallel that carry none of the dependences which the loops around leave open."""
    if isinstance(node, SequenceNode):
        return with_children(node, [_free(item, between_instances(ordering, item.domain)) for item in node.items])
    if not isinstance(node, LoopNode):
        return node if not children(node) else with_children(node, [_free(child, ordering) for child in children(node)])
    values = LoopValues(node.values)
    is_free = node.kind in ("loop", "unordered") and stays(ordering, values)
    body = _free(node.body, ordering if is_free else within_iterations(ordering, values))
    kind: Kind = "parallel" if is_free or node.kind == "unordered" else node.kind
    return replace(node, body=body, kind=kind)


def _remove_unused(allocations: Sequence[ir.Operation]) -> None:
    """Remove memory that is only freed."""
    for op in allocations:
        users = [use.owner.operation for use in op.results[0].uses]
        if all(user.name == "memref.dealloc" for user in users):
            for user in users:
                user.erase()
            op.erase()


def apply_lines(function: ir.Operation, lines: Sequence[str]) -> None:
    """Make the steps `lines` (`Schedule.to_lines`) of a kernel; PassFailure for one that cannot be made."""
    loops = KernelLoops.of(function)
    try:
        plan = read_lines(lines)
    except ScheduleError as error:
        raise PassFailure(function, f"the steps of its schedule: {error.reason}", error.remedy) from None
    steps = [line for line in lines if not line.startswith("Schedule(")]
    try:
        schedule = Schedule(loops.module, **{key: value for key, value in plan.where.items() if key != "function"})
    except ScheduleError as error:
        raise PassFailure(function, f"the kernel's loops cannot be changed: {error.reason}", error.remedy) from None
    before = schedule.program.tree
    try:
        schedule.follow(plan)
        loops.put_back(before, schedule.program)
    except ScheduleError as error:
        made = len(schedule.trace)
        where = f"step {made} of its schedule, {steps[made]}" if made < len(steps) else "its schedule"
        raise PassFailure(function, f"{where}: {error.reason}", error.remedy) from None
    except PrimitiveError as error:
        raise PassFailure(function, error.reason, error.remedy) from None
    _require_nests(function)


def _require_nests(function: ir.Operation) -> None:
    """PassFailure where a loop has a schedule that no code generator would find, or that does not fit its nest."""
    nests = {nest.top: nest for nest in nests_of(function)}
    tops = [op for op in nested_ops(function) if op.name == "affine.for" and AS_WRITTEN in op.attributes]
    marked = [inner for top in tops for inner in nested_ops(top) if _is_generated(inner)]
    for loop in marked:
        if loop not in nests:
            what = f"loop '{name_of(loop)}' is no nest for register tiles: it carries a dependence, or loops around its sum do"
            raise PassFailure(loop, what, "distribute or interchange the loops first")
        given_tile(nests[loop])

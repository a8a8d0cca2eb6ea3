"""The shape of a kernel's launch, from the loops that are mapped to blocks and threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from dlc._mlir import arith, ir, memref
from dlc.analysis.buffers import VIEW_OPS, defining_op, is_memref, nested_ops
from dlc.lowering.affine_to_gpu.extents import Ends, LoopExtents, constant_of
from dlc.lowering.affine_to_gpu.grid import DIMENSIONS, GpuMapping, place_of
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import PassFailure
from dlc.targets.machine import GpuMachine

_SHARED = "#gpu.address_space<workgroup>"
_MOST_COUNTED = 2**31 - 1
"""Iterations that are counted in 32 bits, and blocks of a grid along x."""


@dataclass(frozen=True)
class Dimension:
    """Blocks or threads along one dim: their number, and the loop variable of the first, both over values of the host.

    Where `repeats` is not 0, there may be more iterations than blocks, and each block takes those `repeats` apart.
    """

    count: ir.AffineExpr
    first: ir.AffineExpr
    step: int
    repeats: int = 0


@dataclass(frozen=True)
class Launch:
    """Blocks and threads along the dims that loops are mapped to."""

    dimensions: dict[GpuMapping, Dimension]

    @property
    def thread_dims(self) -> list[int]:
        """The dims along which a block has more than one thread."""
        return [place.dim for place in self.dimensions if place.unit == "thread"]

    def sizes(self, extents: LoopExtents) -> list[ir.Value]:
        """Emit the sizes of the grid and of a block."""
        places = [GpuMapping(unit, dim) for unit in ("block", "thread") for dim in range(len(DIMENSIONS))]
        return [_size(self.dimensions.get(place), extents) for place in places]


def _size(dimension: Dimension | None, extents: LoopExtents) -> ir.Value:
    """At least one block: a launch of none is an error, and guards in the kernel keep that one idle."""
    number = 1 if dimension is None else constant_of(dimension.count)
    if dimension is None or number is not None:
        most = (dimension.repeats if dimension else 0) or _MOST_COUNTED
        return arith.constant(ir.IndexType.get(), min(max(1, number or 0), most))
    size = extents.greatest([dimension.count, ir.AffineExpr.get_constant(1)])
    return extents.least([extents.dim(size), ir.AffineExpr.get_constant(dimension.repeats)]) if dimension.repeats else size


def load_kernel_dialects() -> None:
    """Load the dialects of kernels on tensor cores into the current context."""
    for name in ("gpu", "llvm", "memref", "nvgpu", "nvvm", "vector"):
        _ = ir.Context.current.dialects[name]  # loads it


def empty_launch(sizes: Sequence[ir.Value], dynamic_shared_bytes: int = 0) -> ir.Block:
    """A `gpu.launch` at the insertion point of so many blocks and threads along x, y, z; its body.

    Shared memory above what a block has without asking the driver is dynamic (`gpu.dynamic_shared_memory`).
    """
    index = ir.IndexType.get()
    shared = [arith.constant(ir.IntegerType.get_signless(32), dynamic_shared_bytes)] if dynamic_shared_bytes else []
    op = ir.Operation.create(
        "gpu.launch",
        operands=[*sizes, *shared],
        attributes={
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, *[1] * 6, *[0] * 3, len(shared), 0]),
            "workgroup_attributions": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0),
        },
        regions=1,
    )
    body = op.regions[0].blocks.append(*[index] * 12, arg_locs=[ir.Location.current] * 12)
    ir.Operation.create("gpu.terminator", ip=ir.InsertionPoint(body))
    return body


def outline_launches(op: ir.Operation) -> None:
    """Make kernels of the launches in the module `op`."""
    for launch in [inner for inner in nested_ops(op) if inner.name == "gpu.launch"]:
        repeat_globals(launch.regions[0].blocks[0])
    run_native(op, "gpu-kernel-outlining")


def repeat_globals(body: ir.Block) -> None:
    """Name the constants that a kernel reads, and view them, inside of it: the host's addresses mean nothing to the GPU."""
    inside = set(nested_ops(body.owner.operation))
    copies: dict[ir.Value, ir.Value] = {}
    begin = body.operations[0]
    for op in nested_ops(body.owner.operation):
        for number, operand in enumerate(op.operands):
            chain = _views_of_global(operand) if is_memref(operand) else []
            if not chain or chain[0] in inside:
                continue
            for source in [each for each in reversed(chain) if each.results[0] not in copies]:
                copy = source.clone(ip=ir.InsertionPoint(begin)).operation
                if len(copy.operands):
                    copy.operands[0] = copies[copy.operands[0]]
                copies[source.results[0]] = copy.results[0]
            op.operands[number] = copies[operand]


def _views_of_global(memref: ir.Value) -> list[ir.Operation]:
    """What makes `memref` of a constant: its last view first, the naming of the constant last; nothing for other memory."""
    chain: list[ir.Operation] = []
    op = defining_op(memref)
    while op is not None and op.name in VIEW_OPS:
        chain.append(op)
        op = defining_op(op.operands[0])
    return [*chain, op] if op is not None and op.name == "memref.get_global" else []


def shared_memory(body: ir.Block, kind: ir.MemRefType, location: ir.Location) -> ir.Value:
    """Memory that the threads of a block share, of the shape and element type of `kind`, in the launch with that body."""
    space = ir.MemRefType.get(kind.shape, kind.element_type, memory_space=ir.Attribute.parse(_SHARED))
    buffer = body.add_argument(space, location)
    launch = body.owner.operation
    count = ir.IntegerAttr(launch.attributes["workgroup_attributions"]).value + 1
    launch.attributes["workgroup_attributions"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), count)
    return buffer


def dynamic_shared_memory() -> ir.Value:
    """Emit all of a block's dynamic shared memory, as bytes."""
    space = ir.Attribute.parse(_SHARED)
    kind = ir.MemRefType.get([ir.ShapedType.get_dynamic_size()], ir.IntegerType.get_signless(8), memory_space=space)
    return ir.Operation.create("gpu.dynamic_shared_memory", [kind]).results[0]


def views_of(memory: ir.Value, kinds: Sequence[ir.MemRefType]) -> list[ir.Value]:
    """Emit views of bytes from their start on, one behind the other, of the shapes and element types of `kinds`."""
    found, start = [], 0
    for kind in kinds:
        view = ir.MemRefType.get(kind.shape, kind.element_type, memory_space=memory.type.memory_space)
        found.append(memref.view(view, memory, arith.constant(ir.IndexType.get(), start), []))
        start += prod(kind.shape) * int(kind.element_type.width) // 8
    return found


def launch_of(root: ir.Operation, extents: LoopExtents, facts: GpuMachine) -> Launch:
    """The launch for the kernel whose outermost mapped loop is `root`; emits bounds that are minima or maxima before it.

    Raises PassFailure where loops do not fit a grid.
    """
    found: dict[GpuMapping, list[tuple[ir.Operation, Ends]]] = {}
    extents.add_of_host(root)
    for loop in _loops(root):
        ends = extents.add(loop)
        place = place_of(loop)
        if place is not None and len(loop.results):
            raise PassFailure(loop, "a mapped loop hands values from one iteration to the next", "keep them in a memref")
        if place is not None:
            found.setdefault(place, []).append((loop, ends))
    dimensions = {}
    for place, loops in found.items():
        dimensions[place] = _blocks(place, loops, extents, facts) if place.unit == "block" else _threads(loops, extents)
    threads = [constant_of(one.count) or 1 for place, one in dimensions.items() if place.unit == "thread"]
    total = 1
    for count in threads:
        total *= count
    if total > facts.most_threads:
        raise PassFailure(
            root, f"a block of {total} threads, where {facts.chip} has at most {facts.most_threads}", "tile the loops"
        )
    return Launch(dimensions)


def _loops(root: ir.Operation) -> Iterator[ir.Operation]:
    """The `affine.for` ops of a kernel, those around others first."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "affine.for":
            found.append(op.operation)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return iter(found)


def step_of(loop: ir.Operation) -> int:
    """The step of an `affine.for`."""
    return int(ir.IntegerAttr(loop.attributes["step"]).value)


def _blocks(place: GpuMapping, loops: Sequence[tuple[ir.Operation, Ends]], extents: LoopExtents, facts: GpuMachine) -> Dimension:
    """As many blocks as the only loop of a dim may have iterations."""
    (loop, (lowers, uppers)), *others = loops
    if others:
        raise PassFailure(
            others[0][0], "two loops of a kernel are mapped to the same dim of its grid", "map them to kernels of their own"
        )
    step = step_of(loop)
    first = lowers[0] if len(lowers) == 1 else extents.dim(extents.greatest(lowers))
    counts = [ir.AffineExpr.get_ceil_div(upper - first, step) for upper in uppers]
    count = counts[0] if len(counts) == 1 else extents.dim(extents.least(counts))
    most = facts.most_blocks_y if place.dim else _MOST_COUNTED
    number = constant_of(count)
    fits = place.dim == 0 or (number is not None and number <= most)
    return Dimension(count, first, step, 0 if fits else most)


def _threads(loops: Sequence[tuple[ir.Operation, Ends]], extents: LoopExtents) -> Dimension:
    """As many threads as the longest of the loops of a dim may have iterations."""
    ranges = []
    for loop, ends in loops:
        low, high = extents.numbers(ends)
        if low is None or high is None:
            raise PassFailure(loop, "a loop over threads has no constant bounds", "tile it first, or map it to blocks")
        ranges.append((low, max(low, high), step_of(loop)))
    first, step = min(low for low, _, _ in ranges), ranges[0][2]
    if any(other != step or (low - first) % step for low, _, other in ranges):
        raise PassFailure(loops[0][0], "loops over the threads of one dim have different steps", "normalize the loops first")
    count = max(1, max(-(-(high - first) // step) for _, high, _ in ranges))
    if count > _MOST_COUNTED or abs(first) > _MOST_COUNTED:
        what = f"a loop over threads has {count} iterations from {first}"
        raise PassFailure(loops[0][0], what, "tile it first, or map it to blocks")
    return Dimension(ir.AffineExpr.get_constant(count), ir.AffineExpr.get_constant(first), step)

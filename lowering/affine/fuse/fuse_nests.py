"""Neighbouring loop nests become one, and what passes between them stays in registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.lowering.affine.dependences.nest_dependences import conflicts
from dlc.lowering.affine.fuse.fusion import Fusion, FusionRefusal, fusion_of, passes_within_cache
from dlc.lowering.affine.fuse.reduction_fusion import fuse_reductions, reductions_fit
from dlc.lowering.affine.fuse.scratch import shrink_buffers
from dlc.lowering.affine.ir.accesses import accesses_in
from dlc.lowering.affine.ir.bands import Band, build_band, move_body, same_trips
from dlc.lowering.affine.ir.forwarding import forward_stores, remove_dead_stores
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy

_REFUSAL = "dlc.fusion_refusal"
_MOVABLE = ("arith.", "math.", "affine.apply", "memref.dim", "memref.collapse_shape", "memref.expand_shape", "memref.cast")


@dataclass(frozen=True)
class FuseNests(Pass):
    """Fuse the loop nests of a kernel function where that is legal and pays, then keep in registers what stays inside.

    before: parallel i { %m = max over j of x[i, j]; store %m, top[i] }
            parallel i { parallel j { store exp(x[i, j] - top[i]), y[i, j] } }
    after:  parallel i { %m = max over j of x[i, j]; parallel j { store exp(x[i, j] - %m), y[i, j] } }

    Two nests become one in every pair of parallel loops with equal bounds for which each dependence stays within an
    iteration. Nests that match in all their loops always do, so that what follows a contraction works on its accumulators.
    These go first: a product that shares loops with what makes its operand would no longer match its epilogue. Else the loops of
    which one iteration still tiles and vectorises well become one, and the bodies are fused on; for a GPU, products of
    matrices that tensor cores may take keep all their loops. Nests whose iterations pass on no more than the second-level cache
    holds become one before others do, which would take loops from them. Then values go
    from stores to loads, stores that nobody reads go, and local buffers shrink to what one iteration needs: scratch
    memory that is allocated in the loop (`convert-affine-to-llvm` allocates it once a function).
    """

    anchor = "func.func"

    explain: bool = option(False, "say on each nest why it is not fused with the one before, as attribute dlc.fusion_refusal")

    def run(self, op: ir.Operation) -> None:
        """Fuse the nests of one function."""
        if not is_kernel(op) or not len(op.regions[0].blocks):
            return
        block = op.regions[0].blocks[0]
        self._fuse_block(block)
        remove_dead_stores(op)
        shrink_buffers(op)

    def _fuse_block(self, block: ir.Block, is_forwarded: bool = False) -> None:
        """Fuse the loops of `block`, then those inside them; `is_forwarded` says that its loads have what they can of stores."""
        _hoist_movable(block)
        bands = _Bands()
        sweeps = [self._fuse_loops(block, sweep) for sweep in (_Sweep(bands, whole=True), _Sweep(bands, within_cache=True))]
        if sweeps[-1].left_some:
            sweeps.append(self._fuse_loops(block, _Sweep(bands)))
        if not is_forwarded or any(sweep.fused_some for sweep in sweeps):
            forward_stores(block)
        for op in real_ops(block):
            if op.name == "affine.for":
                self._fuse_block(op.regions[0].blocks[0], is_forwarded=True)

    def _fuse_loops(self, block: ir.Block, sweep: _Sweep) -> _Sweep:
        """Fuse the loops of `block`; returns `sweep`, which knows how that went."""
        for op in real_ops(block):
            if op.name == "affine.for":
                self._fuse_into_earlier(op, sweep)
        return sweep

    def _fuse_into_earlier(self, op: ir.Operation, sweep: _Sweep) -> None:
        """Make `op` one with loops before it, nearest first, as long as there is one."""
        current: ir.Operation | None = op
        while current is not None:
            op, current = current, None
            for earlier, between in _earlier_loops(op):
                current = self._fuse_pair(earlier, op, between, sweep)
                if current is not None:
                    sweep.fused_some = True
                    sweep.bands.forget()
                    break

    def _fuse_pair(self, a: ir.Operation, b: ir.Operation, between: Sequence[ir.Operation], sweep: _Sweep) -> ir.Operation | None:
        """The one loop that `a` and `b` became, or None."""
        first, second = sweep.bands.at(a), sweep.bands.at(b)
        if sweep.whole and not (first and second and _match(first, second)):
            return None
        if first is None or second is None:
            place = _meeting_place(a, b, between) if reductions_fit(a, b) else None
            return fuse_reductions(a, b, place) if place else None
        found = sweep.bands.fusion(first, second)
        if isinstance(found, Fusion) and sweep.whole and len(found.pairs) < len(first.loops):
            return None
        if isinstance(found, Fusion) and sweep.within_cache and not passes_within_cache(first, second, found):
            sweep.left_some = True
            return None
        place = _meeting_place(a, b, between) if isinstance(found, Fusion) else None
        if place is None and isinstance(found, Fusion):
            found = FusionRefusal("what stands between them needs the first or makes what the second needs")
        if isinstance(found, FusionRefusal):
            if self.explain and not between:
                b.attributes[_REFUSAL] = ir.StringAttr.get(found.reason)
            return None
        assert place is not None
        return _fuse(first, second, found, place)


class _Bands:
    """The bands of the loops of a block and what of them can be one, found once between two changes.

    Each loop is compared with several before it, and again in each sweep.
    """

    def __init__(self) -> None:
        self._found: dict[ir.Operation, Band | None] = {}
        self._fusions: dict[tuple[ir.Operation, ir.Operation], Fusion | FusionRefusal] = {}

    def at(self, op: ir.Operation) -> Band | None:
        """The band that starts at `op`, as `Band.at`."""
        if op not in self._found:
            self._found[op] = Band.at(op)
        return self._found[op]

    def fusion(self, first: Band, second: Band) -> Fusion | FusionRefusal:
        """What of two bands can be one, as `fusion_of`."""
        key = first.top, second.top
        if key not in self._fusions:
            self._fusions[key] = fusion_of(first, second)
        return self._fusions[key]

    def forget(self) -> None:
        """Loops became one, and what others use of their results is another value now."""
        self._found.clear()
        self._fusions.clear()


@dataclass
class _Sweep:
    """One way through the loops of a block."""

    bands: _Bands
    whole: bool = False
    """Whether nests stay apart that do not match in all their loops."""
    within_cache: bool = False
    """Whether loops stay apart that pass on more than the second-level cache holds."""
    left_some: bool = False
    """Whether some did."""
    fused_some: bool = False
    """Whether loops became one."""


def _match(a: Band, b: Band) -> bool:
    """Whether two bands have as many iterations in each of their loops."""
    return len(a.loops) == len(b.loops) and all(map(same_trips, a.loops, b.loops))


def _hoist_movable(block: ir.Block) -> None:
    """Move ops without effects, and allocations, in front of the first loop as far as they do not need its results."""
    ops = real_ops(block)
    first = next((op for op in ops if op.name == "affine.for"), None)
    if first is None:
        return
    later = set(ops[ops.index(first) :])
    for op in ops[ops.index(first) :]:
        is_free = op.name == "memref.alloc" or (op.name.startswith(_MOVABLE) and not len(op.regions))
        if is_free and not any(defining_op(value) in later for value in op.operands):
            op.move_before(first)
            later.discard(op)


def _earlier_loops(op: ir.Operation) -> Iterator[tuple[ir.Operation, list[ir.Operation]]]:
    """The loops before `op` in its block, nearest first, each with the ops between the two."""
    ops = real_ops(op.block)
    position = ops.index(op)
    loops = [place for place in range(position) if ops[place].name == "affine.for"]
    for place in reversed(loops[-policy().fusion.fused_loops :]):
        yield ops[place], ops[place + 1 : position]


def _meeting_place(a: ir.Operation, b: ir.Operation, between: Sequence[ir.Operation]) -> ir.Operation | None:
    """The op in front of which both loops can stand as one: `b` if `a` can move down, `a` if `b` can move up."""
    others = [op for op in between if op.name != "memref.dealloc"]
    if _uses(b, [a]):
        return None
    if not any(_uses(op, [a]) for op in others) and not _collides(a, others):
        return b
    return None if _uses(b, others) or _collides(b, others) else a


def _uses(op: ir.Operation, makers: Sequence[ir.Operation]) -> bool:
    """Whether `op`, or an op inside it, uses a result of `makers`."""
    results = {result for maker in makers for result in maker.results}
    return any(value in results for inner in nested_ops(op) for value in inner.operands) if results else False


def _collides(loop: ir.Operation, others: Sequence[ir.Operation]) -> bool:
    """Whether `loop` and one of `others` may touch the same memory, one of them writing."""
    own = list(accesses_in(loop)) if others else []
    return any(next(conflicts(own, list(accesses_in(other))), None) is not None for other in others)


def _fuse(a: Band, b: Band, fusion: Fusion, place: ir.Operation) -> ir.Operation:
    """Replace the nests by one in front of `place`."""
    _delay_deallocs(a.top, b.top)
    location = ir.Location.fused(list(dict.fromkeys((a.top.location, b.top.location))))
    shared = [t for t, _ in fusion.pairs]
    top, end = build_band(shared, place)
    for t, u in fusion.pairs:
        u.iv.replace_all_uses_with(_iv_of(top, shared.index(t)))
    for band, done in ((a, shared), (b, [u for _, u in fusion.pairs])):
        left = [loop for loop in band.loops if loop not in done]
        move_body(band.body, build_band(left, end)[1] if left else end)
    top.location = location
    a.top.erase()
    b.top.erase()
    return top


def _iv_of(top: ir.Operation, depth: int) -> ir.Value:
    for _ in range(depth):
        top = top.regions[0].blocks[0].operations[0].operation
    return top.regions[0].blocks[0].arguments[0]


def _delay_deallocs(a: ir.Operation, b: ir.Operation) -> None:
    """Move the deallocations between the two loops behind the second, since the first may now run later."""
    ops = real_ops(a.block)
    first, last = ops.index(a), ops.index(b)
    for op in ops[first:last]:
        if op.name == "memref.dealloc":
            op.move_after(b)

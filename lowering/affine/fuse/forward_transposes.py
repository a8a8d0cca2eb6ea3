"""Few rows read the source of a transposed copy, which is made for whole blocks of rows alone."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.analysis.buffers import root_of, written_roots
from dlc.lowering.affine.ir.accesses import access_of, are_apart
from dlc.lowering.affine.ir.bands import Band
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.loops import Bound, build_for, real_ops
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class ForwardTransposes(Pass):
    """Let nests over the rows beyond all whole blocks read what a transposed copy was made of.

    before: d { j { t[d, j] = k[j, d] } }   b to rows floordiv 16 { ... t[d, j] ... }   i to rows mod 16 { ... t[d, j] ... }
    after:  one to (rows floordiv 16) ceildiv 2^40 { d { j { t[d, j] = k[j, d] } } }
            b to rows floordiv 16 { ... t[d, j] ... }   i to rows mod 16 { ... k[j, d] ... }

    So attention of an open number of queries transposes its keys for many of them, and reads them as they lie for few, such as the
    one of a decoding step, which would take most of its time to transpose. Run `affine-block-rows` first. There may be smaller
    blocks after the first ones: then there is a copy if there is any block. Copies that other nests read, too, and those of what
    the function writes, stay as they are.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Rewrite the copies of one function."""
        if not is_kernel(op) or not len(op.regions[0].blocks):
            return
        for alloc in [each for each in real_ops(op.regions[0].blocks[0]) if each.name == "memref.alloc"]:
            copy = _copy_into(alloc)
            readers = _readers(copy, alloc) if copy is not None else None
            if copy is None or readers is None or not _is_kept(copy.source, op):
                continue
            for load in readers.rest:
                _read_source(load, copy)
            _copy_for_blocks(copy, readers.blocks)


@dataclass(frozen=True)
class _Copy:
    """The nest that fills a buffer: `axes` are the axes of the buffer that those of `source` are, or the places there for all."""

    band: Band
    source: ir.Value
    axes: tuple[int | ir.AffineExpr, ...]


@dataclass(frozen=True)
class _Readers:
    """How many whole `blocks` of rows there are, of each size, and the loads of the nests over the rows beyond them."""

    blocks: tuple[Bound, ...]
    rest: tuple[ir.Operation, ...]


def _copy_into(alloc: ir.Operation) -> _Copy | None:
    """The copy that fills a buffer, if it goes along another axis than its source."""
    stores = [use.owner.operation for use in alloc.results[0].uses if use.owner.name == "affine.store"]
    top = _nest_of(stores[0], alloc.block) if len(stores) == 1 else None
    band = Band.at(top) if top is not None else None
    ops = real_ops(band.body) if band is not None else []
    if band is None or [each.name for each in ops] != ["affine.load", "affine.store"] or ops[1].operands[0] != ops[0].results[0]:
        return None
    target, source = (access_of(op).subscripts or () for op in reversed(ops))
    places = [_index(form) for form in target]
    if len(band.loops) < 2 or {loop.iv for loop in band.loops} != {place for place in places if isinstance(place, ir.Value)}:
        return None
    axes = [_axis(form, places) for form in source]
    if not axes or any(axis is None for axis in axes) or source[-1] == target[-1]:
        return None
    return _Copy(band, ops[0].operands[0], tuple(axis for axis in axes if axis is not None))


def _nest_of(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """The op of `block` that `op` is in."""
    while op.block != block:
        op = op.parent.operation
        if op.name != "affine.for":
            return None
    return op


def _index(form: Linear | None) -> ir.Value | int | None:
    """The induction variable, or number, that a subscript is."""
    if form is None or len(form.factors) > 1:
        return None
    if not form.factors:
        return form.constant
    ((value, factor),) = form.factors.items()
    return value if factor == 1 and not form.constant else None


def _axis(form: Linear | None, places: Sequence[ir.Value | int | None]) -> int | ir.AffineExpr | None:
    """The axis of the buffer that a subscript of its source is, or the number that it always is."""
    index = _index(form)
    if isinstance(index, int):
        return ir.AffineExpr.get_constant(index)
    return places.index(index) if index is not None and index in places else None


def _readers(copy: _Copy, alloc: ir.Operation) -> _Readers | None:
    """The nests that read the copy, where they are those over whole blocks of an open number of rows and over the rows beyond."""
    blocks, rest = [], []
    for use in alloc.results[0].uses:
        op = use.owner.operation
        nest = _nest_of(op, alloc.block) if op.name == "affine.load" else None
        band = Band.at(nest) if nest is not None else None
        if band is not None and band.top != copy.band.top:
            whole = [loop.upper for loop in band.loops if _parts(loop.upper, ir.AffineFloorDivExpr) is not None]
            over = [loop.upper for loop in band.loops if _parts(loop.upper, ir.AffineModExpr) is not None]
            if len(whole) + len(over) != 1:
                return None
            blocks += whole
            rest += [(op, over[0])] if over else []
        elif op.name not in ("affine.store", "memref.dealloc"):
            return None
    if not blocks or not rest or not all(_have_one_space(blocks[0], bound) for bound in (*blocks, *(over for _, over in rest))):
        return None
    return _Readers(tuple(blocks), tuple(op for op, _ in rest))


def _parts(bound: Bound, kind: type[ir.AffineBinaryExpr]) -> tuple[ir.AffineExpr, ir.AffineExpr] | None:
    """Both sides of a bound that is a quotient, or what is left of one."""
    expression = bound.map.results[0].maybe_downcast()
    return (expression.lhs, expression.rhs) if isinstance(expression, kind) else None


def _have_one_space(a: Bound, b: Bound) -> bool:
    """Whether the maps of two bounds have the same dims and symbols, so that their results add up."""
    return a.operands == b.operands and a.map.n_dims == b.map.n_dims


def _is_kept(source: ir.Value, function: ir.Operation) -> bool:
    """Whether `function` never writes what `source` is a view of."""
    return all(are_apart(root, root_of(source)) for root in written_roots(function))


def _read_source(load: ir.Operation, copy: _Copy) -> None:
    """Let `load` read what the copy was made of."""
    indexing = load.attributes["map"].value
    results = [indexing.results[axis] if isinstance(axis, int) else axis for axis in copy.axes]
    places = ir.AffineMapAttr.get(ir.AffineMap.get(indexing.n_dims, indexing.n_symbols, results))
    with ir.InsertionPoint(load), load.location:
        operands = [copy.source, *list(load.operands)[1:]]
        made = ir.Operation.create("affine.load", [load.results[0].type], operands, {"map": places})
    load.results[0].replace_all_uses_with(made.results[0])
    load.erase()


def _copy_for_blocks(copy: _Copy, blocks: Sequence[Bound]) -> None:
    """Make the copy of the last two axes only if there are blocks: in a loop of one iteration, or of none."""
    inner = copy.band.loops[-2].op
    first, *others = (bound.map for bound in blocks)
    number = functools.reduce(operator.add, (each.results[0] for each in others), first.results[0])
    times = ir.AffineExpr.get_ceil_div(number, 1 << 40)  # more blocks than there are in any memory
    bound = Bound(ir.AffineMap.get(first.n_dims, first.n_symbols, [times]), blocks[0].operands)
    with ir.InsertionPoint(inner), inner.location:
        once = build_for(Bound.constant(0), bound, parallel=True)
    with ir.InsertionPoint(once.regions[0].blocks[0]), inner.location:
        end = affine.AffineYieldOp([]).operation
    inner.move_before(end)

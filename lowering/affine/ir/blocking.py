"""Cache-blocking loops around register tiles: a nest is cut into blocks of rows, of columns and of its sums, each its own nest.

Until the last block of sums, the result holds parts of sums: each block adds to what the block before left there. Ops that follow
the sum run in the last block alone. Parts are added in one order, whatever runs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dlc._mlir import affine, ir
from dlc.analysis.buffers import root_of
from dlc.lowering.affine.ir.accesses import are_apart
from dlc.lowering.affine.ir.loops import NEST, SCHEDULE, Bound, Loop, apply, build_for, normalized, real_ops
from dlc.lowering.affine.ir.nests import Nest

_ACCESSES = ("affine.load", "affine.store")


@dataclass(frozen=True)
class BlockRange:
    """The iterations `offset + size * block_number` to `offset + size * block_number + extent` of a loop; no number counts as 0."""

    extent: int
    offset: int = 0
    block_number: ir.Value | None = None
    size: int = 0


@dataclass(frozen=True)
class CacheBlock:
    """A nest over one block of iterations, and how to get from the operands of this block to those of the next one."""

    nest: Nest
    ahead: Mapping[ir.Value, int]


def problem_of_blocks(nest: Nest, blocks: Sequence[tuple[int, int]]) -> str:
    """Why `nest` cannot be cut into `blocks`, (loop, iterations) by position; empty when it can."""
    if blocks and nest.chain is None:
        return "a nest is cut into blocks around a sum, and this one has none that counts from 0 by 1"
    loops, seen = nest.loops, set[int]()
    for place, size in blocks:
        if not 0 <= place < len(loops) or place in seen or size < 1:
            return f"the block of {size} iterations of loop {place} is not the only one of a loop of the nest"
        seen.add(place)
        if loops[place].extent is None:
            return f"loop {place} cannot be cut into blocks: its extent is not known"
        if place > len(nest.band):
            return f"loop {place} cannot be cut into blocks: of reduction loops only the outermost can"
        if place == len(nest.band) and (problem := problem_of_parts(nest)):
            return f"loop {place} cannot be cut into blocks: {problem}"
    return ""


def problem_of_parts(nest: Nest) -> str:
    """Why the result of `nest` cannot hold parts of its sums; empty when it can."""
    stores = [op for op in nest.body if op.name == "affine.store"]
    if nest.chain is None or not nest.band or len(nest.chain.combiners) != 1 or len(stores) != 1:
        return "the nest does not store one sum"
    store, top = stores[0], nest.chain.loops[0]
    if store.operands[0].type != top.op.results[0].type:
        return f"parts of {top.op.results[0].type} do not fit a result of {store.operands[0].type}"
    ivs = {loop.iv for loop in nest.band}
    if not ivs <= set(store.operands) or any(_is_inside(value, nest) for value in list(store.operands)[2:] if value not in ivs):
        return "the place of the result is computed"
    starts = {value.owner.operation for value in top.inits if not isinstance(value.owner, ir.Block)}
    root = root_of(store.operands[1])
    others = [op for op in nest.ops if op != store and op not in starts]
    memory = [root_of(value) for op in others for value in op.operands if isinstance(value.type, ir.MemRefType)]
    return "" if all(are_apart(root, other) for other in memory) else "the nest reads the memory of its result"


def _is_inside(value: ir.Value, nest: Nest) -> bool:
    if isinstance(value.owner, ir.Block):
        return False
    return value.owner.operation in nest.ops


def blocks_of(nest: Nest, blocks: Sequence[tuple[int, int]]) -> list[CacheBlock]:
    """Replace `nest` by cache-blocking loops over `blocks`, which it can be cut into, outermost first; returns the inner nests."""
    blocker, loops = _CacheBlockBuilder(nest), nest.loops
    with ir.InsertionPoint(nest.top), nest.top.location:
        blocker.build([(loops[place], size) for place, size in blocks], {})
    nest.top.erase()
    return blocker.blocks


def split_rest(nest: Nest, loop: Loop, size: int) -> None:
    """Cut `nest` in two: whole blocks of `size` iterations of `loop`, whose extent is not known, and behind them what is left."""
    upper = loop.upper
    rest = _nest_like(nest, nest.top.clone(ir.InsertionPoint.after(nest.top)).operation)
    with ir.InsertionPoint(rest.top), rest.top.location:
        whole = apply(_with_result(upper.map, ir.AffineExpr.get_floor_div(upper.map.results[0], size)), upper.operands)
    left = rest.band[nest.band.index(loop)]
    left.op.attributes["upperBoundMap"] = ir.AffineMapAttr.get(
        _with_result(upper.map, ir.AffineExpr.get_mod(upper.map.results[0], size))
    )
    _shift(left, BlockRange(size, 0, whole, size))
    loop.op.attributes["upperBoundMap"] = ir.AffineMapAttr.get(upper.rounded_down(size).map)


def _with_result(indexing: ir.AffineMap, result: ir.AffineExpr) -> ir.AffineMap:
    """A map of the same operands with another result."""
    return ir.AffineMap.get(indexing.n_dims, indexing.n_symbols, [result])


@dataclass
class _CacheBlockBuilder:
    """Builds cache-blocking loops from the outside in, and a copy of the nest in each."""

    nest: Nest
    blocks: list[CacheBlock] = field(default_factory=list)

    def build(self, cuts: Sequence[tuple[Loop, int]], parts: Mapping[Loop, BlockRange]) -> None:
        """Emit the loops over blocks that `cuts` ask for, the outer ones standing at `parts`."""
        if not cuts:
            self._copy(parts)
            return
        (loop, size), rest = cuts[0], cuts[1:]
        extent = loop.extent
        assert extent is not None
        whole, left = divmod(extent, size)
        if loop in self.nest.band:
            self._loop(loop, 0, whole, size, rest, parts)
            if left:
                self.build(rest, {**parts, loop: BlockRange(left, whole * size)})
            return
        count = whole + bool(left)
        last = (count - 1) * size
        if count > 1:
            self.build(rest, {**parts, loop: BlockRange(size)})
        self._loop(loop, 1, count - 1, size, rest, parts)
        self.build(rest, {**parts, loop: BlockRange(extent - last, last)})

    def _loop(
        self, loop: Loop, first: int, end: int, size: int, rest: Sequence[tuple[Loop, int]], parts: Mapping[Loop, BlockRange]
    ) -> None:
        """The blocks from number `first` to `end`: a loop over them where there are several."""
        if end - first == 1:
            self.build(rest, {**parts, loop: BlockRange(size, first * size)})
        if end - first <= 1:
            return
        made = build_for(Bound.constant(0), Bound.constant(end - first), parallel=loop.parallel)
        body = made.regions[0].blocks[0]
        with ir.InsertionPoint(body):
            self.build(rest, {**parts, loop: BlockRange(size, first * size, body.arguments[0], size)})
            affine.AffineYieldOp([])

    def _copy(self, parts: Mapping[Loop, BlockRange]) -> None:
        """A copy of the nest for the iterations `parts`."""
        top = self.nest.top.clone(ir.InsertionPoint.current).operation
        for name in (SCHEDULE, NEST):
            if name in top.attributes:
                del top.attributes[name]
        copy = _nest_like(self.nest, top)
        pairs = list(zip(self.nest.loops, copy.loops, strict=True))
        assert self.nest.chain is not None and copy.chain is not None
        sums = parts.get(self.nest.chain.loops[0])
        if sums is not None:
            _cut_sums(copy, is_first=not (sums.offset or sums.block_number), is_last=self._ends(sums))
        for old, new in pairs:
            if old in parts:
                _move(new, parts[old])
        self.blocks.append(CacheBlock(_nest_like(self.nest, top), self._ahead(dict(pairs), parts, sums)))

    def _ends(self, part: BlockRange) -> bool:
        """Whether `part` is the last one of the sums."""
        assert self.nest.chain is not None
        return part.block_number is None and part.offset + part.extent == self.nest.chain.loops[0].extent

    def _ahead(
        self, copies: Mapping[Loop, Loop], parts: Mapping[Loop, BlockRange], sums: BlockRange | None
    ) -> Mapping[ir.Value, int]:
        """From this block to the next one of sums, or else to the first of them in the next block of a parallel loop."""
        if sums is None:
            return {}
        assert self.nest.chain is not None
        index = copies[self.nest.chain.loops[0]].iv
        if not self._ends(sums):
            return {index: sums.extent}
        block_numbers = [part.block_number for part in parts.values() if part is not sums and part.block_number is not None]
        return {block_numbers[-1]: 1, index: -sums.offset} if block_numbers else {}


def _nest_like(nest: Nest, top: ir.Operation) -> Nest:
    """The copy of `nest` whose outermost loop is `top`."""
    band, current = list[Loop](), top
    for _ in nest.band:
        loop = normalized(current)
        assert loop is not None
        band.append(loop)
        current = real_ops(loop.body)[0]
    return Nest(tuple(band), is_part=nest.is_part)


def _cut_sums(nest: Nest, is_first: bool, is_last: bool) -> None:
    """Let sums of `nest` start from what the result holds, unless they are the first, and end there, unless they are the last."""
    assert nest.chain is not None
    top = nest.chain.loops[0].op
    store = next(op for op in nest.body if op.name == "affine.store")
    place, attributes = list(store.operands)[1:], {"map": store.attributes["map"]}
    if not is_first:
        with ir.InsertionPoint(top), top.location:
            kind = top.results[0].type
            held = ir.Operation.create("affine.load", results=[kind], operands=place, attributes=attributes).results[0]
        lower, upper, _ = top.attributes["operandSegmentSizes"]
        top.operands[lower + upper] = held
    if is_last:
        return
    body = list(nest.body)
    for op in reversed(body[body.index(top) + 1 :]):
        op.erase()
    with ir.InsertionPoint.at_block_terminator(nest.band[-1].body), top.location:
        ir.Operation.create("affine.store", operands=[top.results[0], *place], attributes=attributes)


def _move(loop: Loop, part: BlockRange) -> None:
    """Let `loop` run over `part` alone, and everything inside use the index of the whole loop."""
    loop.op.attributes["upperBoundMap"] = ir.AffineMapAttr.get(ir.AffineMap.get_constant(part.extent))
    if part.offset or part.block_number is not None:
        _shift(loop, part)


def _shift(loop: Loop, part: BlockRange) -> None:
    """Let everything inside of `loop`, which runs over `part` alone, use the index of the whole loop."""
    iv = loop.iv
    for op in dict.fromkeys(use.owner.operation for use in iv.uses):
        with ir.InsertionPoint(op), op.location:
            if op.name in _ACCESSES:
                _replace_access(op, iv, part)
            else:
                _replace_index(op, iv, part)


def _replace_access(op: ir.Operation, iv: ir.Value, part: BlockRange) -> None:
    """Let the access `op` be at `part` of the loop of `iv`: its map says so, which analyses read."""
    first = int(op.name == "affine.store") + 1
    indexing, operands = op.attributes["map"].value, list(op.operands)[first:]
    dims = indexing.n_dims
    block_numbers = [] if part.block_number is None else [part.block_number]
    moved = [
        _index(ir.AffineDimExpr.get(dim), ir.AffineDimExpr.get(dims), part) if operands[dim] == iv else ir.AffineDimExpr.get(dim)
        for dim in range(dims)
    ]
    inner = ir.AffineMap.get(dims + len(block_numbers), indexing.n_symbols, moved)
    results = [result.compose(inner) for result in indexing.results]
    new_map = ir.AffineMap.get(dims + len(block_numbers), indexing.n_symbols, results)
    new = ir.Operation.create(
        op.name,
        results=[result.type for result in op.results],
        operands=[*list(op.operands)[:first], *operands[:dims], *block_numbers, *operands[dims:]],
        attributes=dict(op.attributes.items()) | {"map": ir.AffineMapAttr.get(new_map)},
    )
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()


def _replace_index(op: ir.Operation, iv: ir.Value, part: BlockRange) -> None:
    """Give `op`, which is no access, the index of the whole loop."""
    block_numbers = [] if part.block_number is None else [part.block_number]
    index = _index(ir.AffineDimExpr.get(0), ir.AffineDimExpr.get(1), part)
    whole = affine.AffineApplyOp(ir.AffineMap.get(1 + len(block_numbers), 0, [index]), [iv, *block_numbers]).result
    for place, operand in enumerate(list(op.operands)):
        if operand == iv:
            op.operands[place] = whole


def _index(inner: ir.AffineExpr, block_number: ir.AffineExpr, part: BlockRange) -> ir.AffineExpr:
    whole = inner + part.offset
    return whole if part.block_number is None else whole + block_number * part.size

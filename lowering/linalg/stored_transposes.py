"""Which transposed operands of products are stored before: where tiles read few neighbours, so that each line comes many times."""

from __future__ import annotations

import math

from dlc._mlir import ir
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine


def stores_transpose(consumer: ir.Operation, place: int, producer: ir.Operation, facts: Machine) -> bool:
    """Whether operand `place` of the product `consumer`, which `producer` moves, is worth a copy: one number for all lanes.

    Tiles of few registers use six pixels of a line by two vectors of channels. Where these lie apart, or rows are short, a copy
    takes less time than the lines do: 1x1/2 taps for 512x28x28 to 1024 channels take 0.58 of the time.
    """
    maps = [attribute.value for attribute in ir.ArrayAttr(consumer.attributes["indexing_maps"])]
    kinds = [str(attribute) for attribute in ir.ArrayAttr(consumer.attributes["iterator_types"])]
    if facts.has_many_registers or not _is_product(consumer, kinds) or not _moves_last_dim(producer):
        return False
    others = [map for index, map in enumerate(maps[:-1]) if index != place]
    if _reduces_along_last(maps[place], kinds) and not any(_reduces_along_last(map, kinds) for map in others):
        columns = _columns(maps, place, consumer)
        return columns >= policy().graph.narrow_columns and (
            _is_strided(maps[place]) or _run_of(producer) < policy().graph.short_run
        )
    return False


def _is_product(consumer: ir.Operation, kinds: list[str]) -> bool:
    names = [inner.operation.name for inner in consumer.regions[0].blocks[0].operations]
    return names == ["arith.mulf", "arith.addf", "linalg.yield"] and any("reduction" in kind for kind in kinds)


def _moves_last_dim(producer: ir.Operation) -> bool:
    """Whether `producer` does nothing but permute dims, so that others than its last one are innermost in memory."""
    if producer.name != "linalg.generic" or len(producer.regions[0].blocks[0].operations) != 1:
        return False
    maps = [attribute.value for attribute in ir.ArrayAttr(producer.attributes["indexing_maps"])]
    if len(maps) != 2 or not maps[0].is_permutation or not len(maps[0].results):
        return False
    return bool(maps[0].results[-1] != maps[1].results[-1])


def _run_of(producer: ir.Operation) -> int:
    """Elements of memory inside of a step along the last dim of what `producer` gives; a large number where that is not known."""
    read, written = (attribute.value for attribute in ir.ArrayAttr(producer.attributes["indexing_maps"]))
    place = list(read.results).index(written.results[-1])
    inner = list(ir.RankedTensorType(producer.operands[0].type).shape)[place + 1 :]
    return math.prod(inner) if all(size > 0 for size in inner) else policy().graph.short_run


def _reduces_along_last(map: ir.AffineMap, kinds: list[str]) -> bool:
    """Whether a reduction goes along the last dim of an operand; one without dims has none."""
    found = map.results[-1].maybe_downcast() if len(map.results) else None
    return isinstance(found, ir.AffineDimExpr) and "reduction" in kinds[found.position]


def _is_strided(map: ir.AffineMap) -> bool:
    return any("*" in str(result) for result in map.results)


def _columns(maps: list[ir.AffineMap], place: int, consumer: ir.Operation) -> int:
    """Results that each element of operand `place` goes into; 0 where that is not known."""
    read = {str(result) for result in maps[place].results}
    shape = list(ir.RankedTensorType(consumer.results[0].type).shape)
    free = [size for result, size in zip(maps[-1].results, shape, strict=True) if not any(str(result) in each for each in read)]
    return math.prod(free) if all(size > 0 for size in free) else 0

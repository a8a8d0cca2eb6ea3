"""How much accuracy a model gives for speed: the sizes of Winograd's tiles that its convolutions may be computed on."""

from __future__ import annotations

from dataclasses import replace

from dlc._mlir import ir
from dlc.dialects.dl.winograd_matrices import MATRICES
from dlc.errors import InvalidInputError
from dlc.lowering.dl.winograd_choice import WINOGRAD
from dlc.lowering.stages import stage_of
from dlc.sources import Source, copy_module

TILES = (0, *MATRICES)
"""What `allowing_tiles` takes: no tiles, and their sizes."""


def allowing_tiles(source: Source, most: int) -> Source:
    """The same source with `dl.winograd = most`: tiles of so many results along one axis at most, 0 for none.

    `InvalidInputError` for another number, and for a model that is not at the dl level.
    """
    if most not in TILES:
        raise InvalidInputError(f"winograd must be one of {', '.join(map(str, TILES))}, not {most!r}")
    if (stage := stage_of(source.module)) != "dl":
        raise InvalidInputError(f"winograd needs a model at level 'dl', and '{source.name}' is at level '{stage}'")
    module = copy_module(source)
    with module.context:
        module.operation.attributes[WINOGRAD] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), most)
    return replace(source, module=module)

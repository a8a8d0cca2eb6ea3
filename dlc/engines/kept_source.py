"""The model that an engine keeps, as a source: what was compiled, after graph passes, with the weights that the code reads."""

from __future__ import annotations

from pathlib import Path

from dlc.engines.reading import EngineFile
from dlc.errors import ParseError
from dlc.sources import Source, parse_module
from dlc.weights import params_of


def source_of_engine(path: Path, target: str | None = None) -> Source:
    """The module for `target` (None: the first that is kept) and its weights. `ParseError` where the engine keeps none."""
    text, params = EngineFile.read(path).ir(target)
    module = parse_module(text, str(path))
    read = {spec.name for spec in params_of(module)}
    missing = sorted(read - params.keys())
    if missing:
        raise ParseError(f"{path}: error: the engine has no weight '{missing[0]}', which its module reads; compile the model again")
    return Source(module, {name: array for name, array in params.items() if name in read}, str(path))

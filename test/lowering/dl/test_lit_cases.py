"""The functions of the lit cases compute the same before and after their pass, and every rewrite rule fires in one of them."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from dlc._mlir import ir
from dlc.dialects.dl.interpreter import interpret
from dlc.dialects.dl.types import NUMPY_DTYPES, tensor_type
from dlc.errors import DLCError
from dlc.lowering.dl import rewriting
from dlc.lowering.dl.matching import attributes_of, dl_ops
from dlc.lowering.dl.rewriting import RuleSet
from dlc.lowering.pipeline import Pipeline
from dlc.sources import parse_module

FOLDER = Path(__file__).parent
PASSES = Path(rewriting.__file__).parent
TEXTS = {file.stem: file.read_text() for file in sorted(FOLDER.rglob("*.mlir"))}
FILES = [stem for stem in TEXTS if stem != "bind_params"]  # which changes what the entry takes
SIZES = (4, 8, 2, 6, 3, 1)
"""What a dynamic dim may be; the first size that the function runs with."""

TOLERANCES = {"float16": 2e-2, "bfloat16": 6e-2, "float32": 2e-5, "float64": 1e-10}
"""Largest difference, relative to the largest element."""
ROUNDS = ("lower_precision", "lower_precision_attribute", "lower_precision_gpu", "lower_precision_slow_dots")
"""Files of passes whose work it is to round to bf16."""


@dataclass(frozen=True)
class Run:
    """One function of a lit case, run before and after the passes of its file."""

    function: str
    fired: frozenset[str]
    before: tuple[np.ndarray, ...]
    after: tuple[np.ndarray, ...]


@pytest.mark.parametrize("file", FILES)
def test_results_stay(file: str) -> None:
    for run in runs(file):
        for have, want in zip(run.after, run.before, strict=True):
            assert (have.dtype, have.shape) == (want.dtype, want.shape), run.function
            scale = np.nan_to_num(np.abs(want.astype(np.float64)), nan=0, posinf=0).max(initial=1)
            close = np.isclose(
                have.astype(np.float64),
                want.astype(np.float64),
                rtol=0,
                atol=TOLERANCES.get("bfloat16" if file in ROUNDS else want.dtype.name, 0) * scale,
                equal_nan=True,
            )
            assert close.all(), run.function


def test_every_rule_fires() -> None:
    fired = {name for file in FILES for run in runs(file) for name in run.fired}
    missing = {module: [name for name in names if name not in fired] for module, names in rules().items()}
    assert {module: names for module, names in missing.items() if names} == {}


def rules() -> dict[str, list[str]]:
    """Names of the rules that each module of the passes defines."""
    found = {}
    for file in sorted(PASSES.rglob("*.py")):
        module = importlib.import_module(".".join(("dlc.lowering.dl", *file.relative_to(PASSES).with_suffix("").parts)))
        sets = [value for value in vars(module).values() if isinstance(value, RuleSet)]
        names = [name for rule_set in sets for name in rule_set.names()]
        found[file.stem] = [name for name in names if f"def {name.replace('-', '_')}(" in file.read_text()]
    return found


@functools.cache
def runs(file: str) -> tuple[Run, ...]:
    """The functions of a lit file that can be interpreted, run before and after its passes."""
    text = TEXTS[file]
    command = re.search(r"RUN: dlc-opt ([^|\n]*)", text)
    assert command is not None, file
    flags = re.findall(r"--(dl-[a-z0-9-]+)(?:=(\S+))?", command[1])
    pipeline = ",".join(f"{name}{{{options}}}" if options else name for name, options in flags)
    if not pipeline:
        return ()
    chunks = re.split(r"^// -----.*$", text, flags=re.MULTILINE)
    return tuple(run for chunk in chunks for run in _runs_of_chunk(chunk, pipeline))


def _runs_of_chunk(chunk: str, pipeline: str) -> Iterator[Run]:
    for name in re.findall(r"^\s*func\.func @(\w+)", chunk, flags=re.MULTILINE):
        try:
            original, rewritten = (_module_of(chunk, name) for _ in range(2))
        except DLCError:
            continue  # a case of text that does not verify
        given = _first_that_runs(original)
        if given is None:
            continue
        inputs, params, before = given
        fired = _run(Pipeline.parse(pipeline), rewritten)
        if fired is not None:
            yield Run(name, fired, before, tuple(interpret(rewritten, inputs, params)))


def _run(pipeline: Pipeline, module: ir.Module) -> frozenset[str] | None:
    """Names of the rules that fired; None where a pass refuses the module."""
    fired = set()
    original = rewriting._apply_first

    def recording(*arguments: object) -> str:
        name = original(*arguments)  # type: ignore[arg-type]
        fired.add(name)
        return name

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewriting, "_apply_first", recording)
        try:
            pipeline.run(module)
        except DLCError:
            return None
    return frozenset(fired)


def _module_of(chunk: str, kept: str) -> ir.Module:
    """The module of a chunk without the public functions that `kept` does not need."""
    module = parse_module(chunk.encode(), "chunk")
    for view in list(module.body.operations):
        op = view.operation
        name = op.attributes["sym_name"].value if "sym_name" in op.attributes else ""
        if "sym_visibility" not in op.attributes and name != kept and "dl.precompute" not in op.attributes:
            op.erase()
    return module


def _first_that_runs(module: ir.Module) -> tuple[list[np.ndarray], dict[str, np.ndarray], tuple[np.ndarray, ...]] | None:
    """Inputs, params and outputs with the first size of dynamic dims that the function runs with."""
    for size in SIZES:
        try:
            inputs, params = _arrays(module, size)
            return inputs, params, tuple(interpret(module, inputs, params))
        except Exception:
            continue  # sizes that do not fit, or an op that is no dl op
    return None


def _arrays(module: ir.Module, size: int) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    generator = np.random.default_rng(7)
    entry = next(op.operation for op in module.body.operations if "sym_visibility" not in op.operation.attributes)
    inputs = []
    for argument in entry.regions[0].blocks[0].arguments:
        kind = tensor_type(argument.type)
        assert kind is not None
        shape = [dim if isinstance(dim, int) else size for dim in kind.shape]
        inputs.append(_random(generator, shape, kind.dtype, 0))
    params = {}
    for op in dl_ops(module.operation):
        if op.name == "dl.param":
            found = attributes_of(op)
            params.setdefault(found["key"], _random(generator, found["shape"], found["dtype"], 3))
    return inputs, params


def _random(generator: np.random.Generator, shape: list[int], dtype: str, mean: float) -> np.ndarray:
    """Normal floats, else 0 and 1; weights have a mean of 3, which keeps variances positive."""
    if dtype.startswith(("f", "bf")):
        return np.asarray(generator.standard_normal(shape) + mean).astype(NUMPY_DTYPES[dtype])
    return np.asarray(generator.integers(0, 2, shape)).astype(NUMPY_DTYPES[dtype])

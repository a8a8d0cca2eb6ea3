"""Compares what a compiled model computes with the reference implementations of its ops."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

import dlc
from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.dialects.dl.interpreter import NotInterpretable, interpret
from dlc.errors import DLCError
from dlc.lowering.dl.control.scalars import known_scalar
from dlc.sources import Source
from fuzz.cases import ACCEPTED, EQUAL, NUMBER, UNJUDGED, Phase, Verdict
from fuzz.judging import judge, shape_of

_MOST_ELEMENTS = 1 << 16
"""Of one value; reference implementations of larger ones take too long."""
_MOST_STEPS = 1 << 20
"""Of one loop, as far as they are known; more take longer than a case may."""
_SIZES = (2, 3, 1, 4)
_TOLERANCES = {"f64": 1e-6, "f32": 2e-3, "f16": 3e-2, "bf16": 0.15}


def compile_and_compare(source: Source, phase: Phase) -> Verdict:
    """Compile a dl module, run it on random inputs if it is small, and compare."""
    phase("compile")
    model = dlc.compile(source, num_threads=1, cache=False, memory_limit="1G")
    if not _is_small(source.module) or _known_steps(source.module) > _MOST_STEPS:
        return Verdict(ACCEPTED)
    sizes = {}
    for spec in model.inputs:
        for dim in spec.shape:
            if isinstance(dim, str):
                sizes.setdefault(dim, _SIZES[len(sizes) % len(_SIZES)])
    inputs = dlc.random_inputs(model.inputs, len(sizes), sizes)
    if sum(array.size for array in inputs.values()) > 4 * _MOST_ELEMENTS:
        return Verdict(ACCEPTED)
    return compare_call(source, model, list(inputs.values()), phase)


def compare_call(source: Source, model: dlc.CompiledModel, inputs: Sequence[np.ndarray], phase: Phase) -> Verdict:
    """Run a compiled model and the reference implementations of its source on the same arrays, and compare."""
    phase("run")
    try:
        have = model(*inputs)
    except DLCError as error:
        return judge(error)
    phase("oracle: reference implementations")
    try:
        want = interpret(source.module, list(inputs), source.params)
    except NotInterpretable:
        return Verdict(ACCEPTED)
    except Exception as error:
        return Verdict(UNJUDGED, f"reference implementation: {type(error).__name__}: {shape_of(str(error))}", str(error))
    return difference(source.module, have, want)


def difference(module: ir.Module, have: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> Verdict:
    """The verdict on results; `want` are those of the reference implementations of `module`."""
    inexact = _is_inexact(module)
    for index, (one, other) in enumerate(zip(have, want, strict=True)):
        fault = _fault(one, np.asarray(other), inexact)
        if fault:
            return Verdict(NUMBER, f"{fault} after {_ops_of(module)}", f"output {index}\nhave {one!r}\nwant {other!r}"[:3000])
    return Verdict(EQUAL)


def _fault(have: np.ndarray, want: np.ndarray, inexact: bool) -> str:
    if have.shape != want.shape or have.dtype != want.dtype:
        return "another type"
    if have.dtype.kind in "iub" and not inexact:
        return "" if np.array_equal(have, want) else "other integers"
    left, right = have.astype(np.float64), want.astype(np.float64)
    both = np.isfinite(left) & np.isfinite(right)
    if have.dtype.kind in "iub":
        return "" if not have.size or np.mean(left != right) <= 0.34 else "other integers of floats"
    if np.any(np.isnan(left) != np.isnan(right)) and np.all(np.isfinite(right)):
        return "NaN"
    if not both.any():
        return ""
    scale = max(float(np.abs(right[both]).max()), 1e-3)
    name = {"float64": "f64", "float32": "f32", "float16": "f16"}.get(have.dtype.name, "bf16")
    return "" if float(np.abs(left[both] - right[both]).max()) <= _TOLERANCES[name] * scale else "other floats"


def _values(module: ir.Module) -> Iterator[ir.Value]:
    found: list[ir.Value] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.extend(operation.results)
        for region in operation.regions:
            for block in region.blocks:
                found.extend(block.arguments)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    yield from found


def _is_small(module: ir.Module) -> bool:
    """Whether no value of static size has too many elements for NumPy."""
    for value in _values(module):
        if isinstance(value.type, ir.RankedTensorType):
            shape = [size for size in value.type.shape if size >= 0]
            if math.prod(shape) > _MOST_ELEMENTS:
                return False
    return True


def _known_steps(module: ir.Module) -> int:
    """Steps of the longest loop between constants."""
    loops = [op for op in nested_ops(module.operation) if op.name == "scf.for"]
    bounds = [[known_scalar(bound) for bound in list(loop.operands)[:3]] for loop in loops]
    steps = [-(-(last - first) // step) for first, last, step in bounds if first is not None and last is not None and step]
    return max(steps, default=0)


def _is_inexact(module: ir.Module) -> bool:
    """Whether floats occur, so that results of integers may depend on a last bit."""
    return any(
        isinstance(value.type, ir.RankedTensorType) and isinstance(value.type.element_type, ir.FloatType)
        for value in _values(module)
    )


def _ops_of(module: ir.Module) -> str:
    """The names of the module's ops, for telling findings apart."""
    names: set[str] = set()

    def visit(operation: ir.Operation) -> ir.WalkResult:
        names.add(operation.name)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return " ".join(sorted(name for name in names if name.startswith("dl.") and name not in ("dl.param", "dl.constant")))[:200]

"""Chooses between schedules by running them, where the cost model finds several about as good.

The kernel's heaviest contraction is compiled with each of the model's best few schedules, and each runs on memory of its own
making, in turns, on one thread. The fastest one stands in the store under the kernel's key.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dlc._mlir import ir
from dlc.analysis.symbols import symbol_name
from dlc.dialects.dl.types import NUMPY_DTYPES, dtype_of_element
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.ir.loops import NEST, SCHEDULE
from dlc.lowering.affine.ir.nests import nests_of
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.search.candidates import Candidate
from dlc.lowering.affine.search.choose import candidates, is_contraction
from dlc.lowering.affine_to_llvm.bare_pointers import is_bare
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipeline_run import Instrument
from dlc.lowering.pipelines import STAGES, later
from dlc.runtime.library import load_library
from dlc.targets.cpu.compile_unit import compile_unit
from dlc.targets.cpu.link import LinkedCode
from dlc.targets.object_store import ObjectStore
from dlc.targets.schedules import ScheduleTable, attach_to
from dlc.targets.units import Unit

_TILED = "tile"
"""The stage before which nests have no tiles yet."""

_MOST_CANDIDATES = 4
_ABOUT_AS_GOOD = 1.3
"""The cost model ranks tiles within so much of measured times."""
_ROUNDS = 9
_SAMPLE_SECONDS = 5e-4
_COLD_BYTES = 64 << 20
_MOST_COPIES = 16
"""Kernels run on so many sets of buffers in turn, up to so many bytes, since weights come from memory in a model."""


def with_measured_schedules(
    units: Sequence[Unit], since: str, opt_level: int, store: ObjectStore, instruments: Sequence[Instrument] = ()
) -> list[Unit]:
    """The kernels `units`, which are at stage `since`, with the schedules that ran fastest; `instruments` see their passes."""
    return [_with_measured(unit, since, opt_level, store, instruments) for unit in units]


def _with_measured(unit: Unit, since: str, opt_level: int, store: ObjectStore, instruments: Sequence[Instrument]) -> Unit:
    key = hashlib.sha256(f"measured\0{unit.key}".encode()).hexdigest()
    known = store.get(key)
    if known is None:
        known = json.dumps(_fastest(unit, since, opt_level, instruments)).encode()
        store.put(key, known)
    nests = ScheduleTable.of_json({unit.label: json.loads(known)}).kernels[unit.label]
    if not nests:
        return unit
    attach_to(_function(unit.module, unit.symbol), nests)
    return replace(unit, key=hashlib.sha256(f"{unit.key}\0".encode() + known).hexdigest())


def _fastest(unit: Unit, since: str, opt_level: int, instruments: Sequence[Instrument]) -> dict[str, object]:
    """The fastest schedule of the unit's heaviest contraction as plain data by nest; nothing where there is no choice."""
    buffers = _Buffers.of(_function(unit.module, unit.symbol))
    found = _unsure(unit, since)
    if buffers is None or len(found.candidates) < 2:
        return {}
    runs, tail = [], Pipeline.between(since, STAGES[-1])
    for candidate in found.candidates:
        copy = _copy(unit)
        attach_to(_function(copy, unit.symbol), {found.nest: candidate.schedule})
        runs.append(_Run(compile_unit(copy, unit.symbol, tail, opt_level, instruments), unit.symbol, buffers))
    times = _interleaved([run.call for run in runs])
    best = found.candidates[times.index(min(times))]
    return ScheduleTable({unit.label: {found.nest: best.schedule}}).to_json()[unit.label]


@dataclass(frozen=True)
class _Choice:
    """The candidates for one nest."""

    nest: int
    candidates: Sequence[Candidate[Tile]]


def _unsure(unit: Unit, since: str) -> _Choice:
    """The candidates for the unit's heaviest contraction that the cost model finds about as good as its first."""
    module = _copy(unit)
    with module.context, ir.Location.unknown():
        Pipeline.between(since, later(since, _TILED)).run(module)
        function = _function(module, unit.symbol)
        limits = TileLimits.of(function)
        choices = [
            _Choice(ir.IntegerAttr(nest.top.attributes[NEST]).value, candidates(nest, limits, _MOST_CANDIDATES, "tile"))
            for nest in nests_of(function)
            if is_contraction(nest) and SCHEDULE not in nest.top.attributes
        ]
    heaviest = max((choice for choice in choices if choice.candidates), key=lambda each: each.candidates[0].cycles, default=None)
    if heaviest is None:
        return _Choice(0, ())
    limit = _ABOUT_AS_GOOD * heaviest.candidates[0].cycles
    return replace(heaviest, candidates=[candidate for candidate in heaviest.candidates if candidate.cycles <= limit])


@dataclass(frozen=True)
class _Buffers:
    """Several sets of arrays that a kernel takes turns with."""

    sets: Sequence[Sequence[np.ndarray]]

    @staticmethod
    def of(function: ir.Operation) -> _Buffers | None:
        """Buffers for the arguments; None where a kernel takes anything else than pointers to static buffers."""
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        if len(kind.results) or not all(is_bare(each) for each in kind.inputs):
            return None
        arrays = [_array(ir.MemRefType(each)) for each in kind.inputs]
        count = max(1, min(_MOST_COPIES, _COLD_BYTES // max(1, sum(array.nbytes for array in arrays))))
        return _Buffers([arrays, *([array.copy() for array in arrays] for _ in range(count - 1))])


def _array(kind: ir.MemRefType) -> np.ndarray:
    """An array whose values are neither denormal nor an index beyond a buffer."""
    dtype = NUMPY_DTYPES[dtype_of_element(kind.element_type) or "u8"]
    return np.full(kind.shape, 0 if dtype.kind in "iub" else 1, dtype)


class _Run:
    """One compiled variant of a kernel, called on its buffers in turn."""

    def __init__(self, content: bytes, symbol: str, buffers: _Buffers) -> None:
        self._code = LinkedCode([content], [symbol])
        pointers = [ctypes.c_void_p] * len(buffers.sets[0])
        self._function = ctypes.CFUNCTYPE(None, *pointers)(self._code.address(symbol))
        self._arguments = [[array.ctypes.data for array in each] for each in buffers.sets]
        self._buffers = buffers
        self._next = 0

    def call(self) -> None:
        """Run the kernel once."""
        self._next = (self._next + 1) % len(self._arguments)
        self._function(*self._arguments[self._next])


def _interleaved(calls: Sequence[Callable[[], None]]) -> list[float]:
    """Seconds of each call: the median of rounds in which each has a sample; the first call of a sample is not counted."""
    library = load_library()
    before = library.set_num_threads(1)
    try:
        taken: Mapping[int, list[float]] = {index: [] for index in range(len(calls))}
        for _ in range(_ROUNDS):
            for index, call in enumerate(calls):
                taken[index].append(_sample(call))
    finally:
        library.set_num_threads(before)
    return [statistics.median(times) for times in taken.values()]


def _sample(call: Callable[[], None]) -> float:
    call()
    count, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < _SAMPLE_SECONDS or not count:
        call()
        count += 1
    return spent / count


def _copy(unit: Unit) -> ir.Module:
    with unit.module.context, ir.Location.unknown():
        return ir.Module.parse(unit.module.operation.get_asm(enable_debug_info=False))


def _function(module: ir.Module, symbol: str) -> ir.Operation:
    found = (op.operation for op in module.body.operations if op.operation.name == "func.func")
    return next(op for op in found if symbol_name(op) == symbol)

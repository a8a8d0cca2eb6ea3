"""What the compiler does with a model, and why: passes, verdicts on edges, kernels, transposes that are left, memory, schedules.

explanation = dlc.explain("model.onnx")
explanation.to_json()                # plain data, documented in docs/explain.md
explanation.to_dot()                 # the graph of kernels for Graphviz
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from dlc._mlir import ir
from dlc.accuracy import precision_notes, with_accuracy
from dlc.analysis.buffers import nested_ops
from dlc.analysis.fusion import plan_kernels
from dlc.analysis.kernel_costs import kernel_cost
from dlc.analysis.memory_plan import NOMINAL_SIZE, memory_plan
from dlc.analysis.transposes import transposes_left
from dlc.analysis.work_graph import kind_of
from dlc.diagnostics import names_of
from dlc.dialects.dl import op_class
from dlc.dialects.dl.types import NUMPY_DTYPES, tensor_type
from dlc.errors import InvalidInputError
from dlc.kernel_graph import KernelGraph, kernel_graph
from dlc.lowering.deadline import Progress, ending, timed
from dlc.lowering.dl.matching import dl_ops, erase_unused, is_entry
from dlc.lowering.dl.weights.winograd_choice import allowed_tiles, verdicts_of
from dlc.lowering.stages import stage_of
from dlc.machines import copy_for_target, explained_target
from dlc.option_values import DEFAULT_TARGET
from dlc.pass_recorder import PassRecorder, PassReport
from dlc.runtime.signature import TensorSpec, show_type
from dlc.sources import InputValues, Model, ShapeOverrides, Source, read_source
from dlc.targets.base import Target
from dlc.targets.device_kernels import DeviceReport
from dlc.targets.schedules import ScheduleTable, chosen_schedules, generic_nests
from dlc.targets.signature import signature_of
from dlc.targets.units import SCHEDULED, UNITS
from dlc.weights import OPTIMIZED, WeightRecipe, params_of

_TILES, _FUSION, _PLANNING = "winograd", "fuse", "plan-memory"
"""Stages before which what they decide is told."""

_CLASSES = ("contraction", "reduction", "opaque", "broadcast", "injective")
"""Classes of ops, the one that decides about a kernel first."""


@dataclass(frozen=True)
class EdgeReport:
    """One op with work takes what another gives: both in one kernel (`fused`), or not for `reason`.

    Ops are named by their kind and their place among the ops with work; `onnx_nodes` are the nodes that both came from.
    """

    producer: str
    consumer: str
    fused: bool
    reason: str
    onnx_nodes: tuple[str, ...]


@dataclass(frozen=True)
class KernelReport:
    """A distinct kernel: how often it is called, its ops, the class that decides about it, and what one call costs.

    `flops` counts operations, `bytes` what is read and written; `type` shows arguments and results.
    """

    name: str
    calls: int
    ops: tuple[str, ...]
    kind: str
    flops: int
    bytes: int
    onnx_nodes: tuple[str, ...]
    type: str


@dataclass(frozen=True)
class TransposeReport:
    """A transpose that still moves elements at each call: the nodes that it stands for, and why it is left."""

    where: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class ConvolutionReport:
    """A convolution: the results of a Winograd tile along one axis (0: it sums by taps), why, and the estimated cycles of both.

    Cycles are 0 where tiles are not possible. Results of up to `taps_up_to` by as many pixels have code that sums by taps all the
    same (0: none have).
    """

    onnx_nodes: tuple[str, ...]
    tile: int
    reason: str
    direct_cycles: float
    tile_cycles: float
    taps_up_to: int


@dataclass(frozen=True)
class HolderReport:
    """A buffer that lives when most memory is needed."""

    bytes: int
    onnx_nodes: tuple[str, ...]


@dataclass(frozen=True)
class MemoryReport:
    """Bytes of the arena, the least that any plan needs, bytes of weights and constants, and who holds the peak."""

    peak: int
    lower_bound: int
    constants: int
    holders: tuple[HolderReport, ...]


@dataclass(frozen=True)
class Explanation:
    """All that `explain` found out. Sizes that are known at run time only count as `nominal`."""

    name: str
    nominal: int
    passes: tuple[PassReport, ...]
    convolutions: tuple[ConvolutionReport, ...]
    edges: tuple[EdgeReport, ...]
    kernels: tuple[KernelReport, ...]
    transposes: tuple[TransposeReport, ...]
    memory: MemoryReport
    schedules: ScheduleTable
    entry_calls: int
    graph: KernelGraph
    generic: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By kernel, the nests that the polyhedral scheduler takes, or nothing does: their loops, or why they stay."""
    notes: tuple[str, ...] = ()
    """What one may not expect, in sentences."""
    device: DeviceReport | None = None
    """What the kernels of a GPU ask of it; None for other targets."""

    def to_json(self) -> dict[str, Any]:
        """Plain data with the keys that docs/explain.md documents."""
        return {
            "passes": [dict(vars(entry)) for entry in self.passes],
            "convolutions": [vars(entry) | {"onnx_nodes": list(entry.onnx_nodes)} for entry in self.convolutions],
            "edges": [vars(edge) | {"onnx_nodes": list(edge.onnx_nodes)} for edge in self.edges],
            "kernels": [_kernel_json(kernel) for kernel in self.kernels],
            "transposes": [{"where": list(entry.where), "reason": entry.reason} for entry in self.transposes],
            "memory": {
                "peak": self.memory.peak,
                "lower_bound": self.memory.lower_bound,
                "constants": self.memory.constants,
                "holders": [{"bytes": each.bytes, "onnx_nodes": list(each.onnx_nodes)} for each in self.memory.holders],
            },
            "schedules": [
                {"kernel": kernel, "nest": int(number), "code_generator": fields["code_generator"], "schedule": fields}
                for kernel, nests in self.schedules.to_json().items()
                for number, fields in nests.items()
            ],
            "generic": [{"kernel": kernel, "nests": list(texts)} for kernel, texts in self.generic.items()],
            "entry_calls": self.entry_calls,
            "notes": list(self.notes),
            **({} if self.device is None else {"device": _device_json(self.device)}),
        }

    def to_dot(self) -> str:
        """The graph of kernel calls as Graphviz text."""
        labels = {kernel.name: f"{', '.join(kernel.ops)}\n{_show_flops(kernel.flops)}" for kernel in self.kernels}
        return self.graph.to_dot(self.name, labels)


def _device_json(device: DeviceReport) -> dict[str, Any]:
    kernels = [vars(kernel) | {"grid": list(kernel.grid), "block": list(kernel.block)} for kernel in device.kernels]
    return vars(device) | {"kernels": kernels, "notes": list(device.notes)}


def _kernel_json(kernel: KernelReport) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "calls": kernel.calls,
        "ops": list(kernel.ops),
        "class": kernel.kind,
        "flops": kernel.flops,
        "bytes": kernel.bytes,
        "onnx_nodes": list(kernel.onnx_nodes),
    }


def _show_flops(flops: int) -> str:
    return f"{flops / 1e6:.4g} MFLOP"


def explain(
    model: Model,
    shapes: ShapeOverrides | None = None,
    nominal: int = NOMINAL_SIZE,
    progress: Progress | None = None,
    target: str = DEFAULT_TARGET,
    winograd: int | None = None,
    precision: str | None = None,
    timeout: float | None = None,
    values: InputValues | None = None,
) -> Explanation:
    """Say what compiling a model at level dl (or ONNX) for `target` does. Nothing is compiled to machine code.

    `shapes` overrides input shapes of an ONNX model; a dim that is known at run time only counts as `nominal` where numbers are
    wanted. `winograd`, `precision`, `timeout` and `values` are those of `compile`. Raises what `compile` raises,
    `ValuesNeededError` where values decide what code there is, and `InvalidInputError` for a model at another level.
    """
    begin, found = monotonic(), explained_target(target)
    source = read_source(model, params={}, shapes=shapes, values=values)  # weights need not be there
    progress = timed(timeout, source.name, progress, begin)
    if (stage := stage_of(source.module)) != "dl":
        raise InvalidInputError(f"'{source.name}' is at level '{stage}'; what is decided can be told of a model at level 'dl' only")
    source = with_accuracy(source, winograd, precision)
    return _explained(source, copy_for_target(source, target), found, nominal, progress)


def _explained(source: Source, module: ir.Module, target: Target, nominal: int, progress: Progress | None) -> Explanation:
    """Lower `module`, a copy of the source's, and tell before each decision what it will be."""
    known = tuple(spec.name for spec in params_of(module))
    recorder = PassRecorder(progress)
    recorder.run(target.passes("dl", _TILES), module)
    convolutions = _convolutions(module)
    recorder.run(target.passes(_TILES, _FUSION), module)
    edges = tuple(edge for function in _entries(module) for edge in _edges(function))
    notes = (*precision_notes(module), *_value_notes(source))
    transposes = tuple(TransposeReport(each.where, each.reason) for each in transposes_left(module))
    recorder.run(target.passes(_FUSION, OPTIMIZED), module)
    WeightRecipe.take(module, known)
    kernels, graph = _kernels(module, nominal), kernel_graph(_entries(module))
    recorder.run(target.passes(OPTIMIZED, _PLANNING), module)
    memory = _memory(module, nominal)
    code = _code(module, target, progress)
    return Explanation(
        source.name,
        nominal,
        recorder.reports(),
        convolutions,
        edges,
        kernels,
        transposes,
        memory,
        code.schedules,
        len(graph.calls),
        graph,
        code.generic,
        (*notes, *code.notes),
        code.device,
    )


@dataclass(frozen=True)
class _CodeReport:
    """What is chosen of kernels' code: schedules and nests without one on a CPU, what kernels ask of another machine."""

    schedules: ScheduleTable
    generic: Mapping[str, tuple[str, ...]]
    device: DeviceReport | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        return self.device.notes if self.device else ()


def _code(module: ir.Module, target: Target, progress: Progress | None) -> _CodeReport:
    """The report of a module whose memory is about to be planned."""
    if progress:
        progress("choose schedules")
    with module.context, ir.Location.unknown():
        target.passes(_PLANNING, UNITS).run(module, instruments=ending(progress))
    if target.has_report:
        return _CodeReport(ScheduleTable({}), {}, target.report(module))
    schedules = chosen_schedules(module, target.passes(UNITS, SCHEDULED), ending(progress))
    return _CodeReport(schedules, generic_nests(module))


def _value_notes(source: Source) -> Iterator[str]:
    for name, array in source.values.items():
        yield f"input '{name}' is read as a value: this is the code for {name} = {array.tolist()}"


def _functions(module: ir.Module) -> Iterator[ir.Operation]:
    for op in module.body.operations:
        if op.operation.name == "func.func" and len(op.regions[0].blocks):
            yield op.operation


def _entries(module: ir.Module) -> list[ir.Operation]:
    """The functions that callers call, and the bodies of their branches and loops as long as these are functions."""
    return [op.operation for op in _functions(module) if is_entry(op.operation)]


def _convolutions(module: ir.Module) -> tuple[ConvolutionReport, ...]:
    """The verdicts of `dl-version-convolutions` and `dl-use-winograd`, which are about to run."""
    tiles = allowed_tiles(module.operation)
    pairs = [pair for function in _entries(module) for pair in verdicts_of(function, tiles)]
    return tuple(
        ConvolutionReport(names_of(op.location), it.tile, it.reason, it.direct, it.winograd, it.taps_up_to) for op, it in pairs
    )


def _edges(function: ir.Operation) -> Iterator[EdgeReport]:
    """The verdicts of `dl-fuse-kernels`, which is about to run; unused ops go, as they do there."""
    erase_unused(dl_ops(function))
    plan = plan_kernels(function)
    names = _names([op for group in plan.groups for op in group.ops], function)
    for edge in plan.edges:
        nodes = dict.fromkeys((*names_of(edge.producer.location), *names_of(edge.consumer.location)))
        yield EdgeReport(names[edge.producer], names[edge.consumer], edge.fused, edge.reason, tuple(nodes))


def _names(ops: Sequence[ir.Operation], function: ir.Operation) -> dict[ir.Operation, str]:
    """`matmul.3` for the fourth op with work, and so on, in program order."""
    wanted = set(ops)
    ordered = [op.operation for block in function.regions[0].blocks for op in block.operations if op.operation in wanted]
    return {op: f"{op.name.removeprefix('dl.')}.{number}" for number, op in enumerate(ordered)}


def _kernels(module: ir.Module, nominal: int) -> tuple[KernelReport, ...]:
    """The kernels of an optimized module, in the order of the module."""
    calls = Counter(
        op.attributes["callee"].value for function in _entries(module) for op in nested_ops(function) if op.name == "func.call"
    )
    functions = {op.attributes["sym_name"].value: op for op in _functions(module)}
    return tuple(_kernel(name, op, calls[name], nominal) for name, op in functions.items() if calls[name])


def _kernel(name: str, function: ir.Operation, calls: int, nominal: int) -> KernelReport:
    ops = [op.operation for block in function.regions[0].blocks for op in block.operations]
    works = [op for op in ops if kind_of(op) == "work"]
    classes = {found.fusion_class for op in works if (found := op_class(op.name)) is not None}
    cost = kernel_cost(function)
    moved = cost.bytes_read.at(default=nominal) + cost.bytes_written.at(default=nominal)
    return KernelReport(
        name=name,
        calls=calls,
        ops=tuple(op.name.removeprefix("dl.") for op in works),
        kind=next((kind for kind in _CLASSES if kind in classes), "opaque").replace("broadcast", "injective"),
        flops=cost.flops.at(default=nominal),
        bytes=moved,
        onnx_nodes=names_of(function.location),
        type=_type_text(function),
    )


def _type_text(function: ir.Operation) -> str:
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs, results = (", ".join(map(_show, side)) for side in (kind.inputs, kind.results))
    return f"({inputs}) -> {results if len(kind.results) == 1 else f'({results})'}"


def _show(kind: ir.Type) -> str:
    plain = tensor_type(kind)
    return str(kind) if plain is None else show_type(plain.dtype, plain.shape)


def _memory(module: ir.Module, nominal: int) -> MemoryReport:
    """The plan of a module on buffers. Several entries share nothing: the largest counts."""
    plans = [memory_plan(function, nominal) for function in _entries(module) if len(function.regions[0].blocks) == 1]
    constants = sum(_bytes_of(spec, nominal) for spec in signature_of(module).params) + _bytes_of_globals(module)
    if not plans:
        return MemoryReport(0, 0, constants, ())
    plan = max(plans, key=lambda plan: plan.peak())
    sizes = dict(zip(plan.buffers, plan.sizes(), strict=True))
    holders = tuple(HolderReport(sizes[buffer], names_of(buffer.alloc.location)) for buffer in plan.holders())
    return MemoryReport(plan.peak(), plan.lower_bound(), constants, holders)


def _bytes_of(spec: TensorSpec, nominal: int) -> int:
    size = NUMPY_DTYPES[spec.dtype].itemsize
    for dim in spec.shape:
        size *= dim if isinstance(dim, int) else nominal
    return size


def _bytes_of_globals(module: ir.Module) -> int:
    """Bytes of the constants that code holds."""
    total = 0
    for op in module.body.operations:
        if op.operation.name == "memref.global":
            kind = ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value)
            total += (kind.element_type.width + 7) // 8 * _product(kind.shape)
    return total


def _product(dims: Sequence[int]) -> int:
    product = 1
    for dim in dims:
        product *= dim
    return product

"""What a model must be specialised on before it can be compiled, and the model that is compiled at its calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dlc.dialects.dl.graph import Graph
from dlc.errors import DLCError, InvalidInputError, ValuesNeededError
from dlc.lowering.deadline import Progress, timed
from dlc.request import Request
from dlc.runtime.signature import TensorSpec
from dlc.shared_weights import SharedWeights
from dlc.sources import InputValues, ParamTable, ShapeOverrides, Source, read_onnx
from dlc.specializing_model import CallFacts, SpecializingModel, marked

if TYPE_CHECKING:
    import onnx

    from dlc.compiled_model import CompiledModel
    from dlc.dialects.dl.types import TensorType
    from dlc.frontends.onnx.declared import Declaration


@dataclass(frozen=True)
class OnnxModel:
    """An ONNX model in memory and how it is read, see `compile`; `name` is for messages."""

    proto: onnx.ModelProto
    name: str
    params: ParamTable | None = None
    shapes: ShapeOverrides | None = None
    lenient: bool = False
    values: InputValues | None = None

    def read(self, values: InputValues, shapes: ShapeOverrides) -> Source:
        """The model with more inputs known than those that were given."""
        all_shapes = {**(self.shapes or {}), **shapes}
        source = read_onnx(self.proto, all_shapes or None, self.lenient, {**(self.values or {}), **values}, self.name)
        return replace(source, params={**source.params, **(self.params or {})})


def specializing(needed: ValuesNeededError, request: Request, model: Any, **reading: Any) -> SpecializingModel:
    """The model for a source that could not be read because of what is `needed`; `reading` are fields of `OnnxModel`."""
    from dlc.frontends.onnx.interface import interface_of
    from dlc.frontends.onnx.loader import load_model

    proto, name = load_model(model)
    onnx_model = OnnxModel(proto, name, **reading)
    interface = interface_of(proto, onnx_model.shapes)
    inputs = {name: kind for name, kind in interface.inputs.items() if name not in (onnx_model.values or {})}
    plain = [TensorSpec(name, kind.shape, kind.dtype) for name, kind in inputs.items()]
    marks = look_ahead(onnx_model, marked(plain, needed), inputs)
    _check(request, name, marks)
    specs = [replace(spec, donated=spec.name in request.donate) for spec in marks]
    outputs = [_output_spec(name, declared) for name, declared in interface.outputs.items()]

    shared = SharedWeights()
    sharing = replace(request, evaluate=shared.evaluate)

    def build(facts: CallFacts, progress: Progress) -> CompiledModel:
        source = onnx_model.read(facts.values, facts.shapes)
        return sharing.compile(replace(source, params=shared.same(source.params)), progress, shapes=onnx_model.shapes)

    return SpecializingModel(name, specs, outputs, request.options, build, request.most_versions)


def look_ahead(model: OnnxModel, specs: Sequence[TensorSpec], inputs: Mapping[str, TensorType]) -> tuple[TensorSpec, ...]:
    """`specs` with the marks that show when the nodes behind the first ones are looked at, with values made up for a trial."""
    from dlc.frontends.onnx.values import trial_shape, trial_values

    names = [spec.name for spec in specs if spec.by_value]
    sizes = {spec.name: trial_shape(inputs[spec.name]) for spec in specs if spec.by_shape and not spec.by_value}
    found = tuple(specs)
    for values in trial_values(names, inputs):
        try:
            model.read(values, sizes)
        except ValuesNeededError as needed:
            found = marked(found, needed)
        except DLCError:  # of the trial's values, perhaps: the first call tells
            continue
    return found if found == tuple(specs) else look_ahead(model, found, inputs)


def _output_spec(name: str, declared: Declaration) -> TensorSpec:
    return TensorSpec(name, declared.shape or (), declared.element or "f32", unranked=declared.shape is None)


def _check(request: Request, name: str, specs: Sequence[TensorSpec]) -> None:
    """Refuse at once what the first call would refuse: of a module that has the inputs alone, and of the time."""
    timed(request.timeout, name, None)
    with Graph() as outline:
        for spec in specs:
            outline.input(spec.name, spec.shape, spec.dtype)
    request.applied(Source(outline.module, {}, name))
    value = next((spec.name for spec in specs if spec.by_value and spec.name in request.donate), None)
    if value is not None:
        raise InvalidInputError(f"donate: input '{value}' is read as a value; leave it out")

"""Calls of models on a GPU: arrays of the host and of the GPU in, arrays of the same kind out."""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ..errors import InvalidInputError
from .arguments import bind_in_order, check_count, in_order
from .descriptors import address_of
from .device_array import DeviceArray, is_on_device, view_of
from .frame import CallFrame
from .gpu_model import GpuModel, place_next_call
from .results import outputs_in_order, unfit_output
from .session import Session
from .signature import TensorSpec, show_type


class CodeOnGpu(Protocol):
    """Loaded code, and the model on the GPU that it works for."""

    model: GpuModel


class GpuSession(Session):
    """A session of a model on a GPU, whose weights lie there. `keepalive` is its code (`CodeOnGpu`).

    Where an argument is an array of the GPU (anything with DLPack, as of torch and CuPy), so are the results whose sizes the
    arguments tell: `DeviceArray`, which others take by DLPack without a copy. Calls of several threads run one after the other.
    """

    _keepalive: CodeOnGpu

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._bind_weights()

    def _bind_weights(self) -> None:
        """Let the weights be on the GPU as long as this session."""
        model, bound = self._keepalive.model, list[int]()
        weakref.finalize(self, _unbind, model, bound)
        for values in self._param_arrays:
            if values.nbytes:
                model.bind(address_of(values), values.nbytes)
                bound.append(address_of(values))

    def with_code(self, entry: int, precompute: int, keepalive: object) -> Session:
        session = super().with_code(entry, precompute, keepalive)
        assert isinstance(session, GpuSession)
        session._bind_weights()
        return session

    def on_device(self, values: np.ndarray) -> DeviceArray:
        """A copy of an array on the GPU."""
        array = np.ascontiguousarray(values)
        model = self._keepalive.model
        copy = DeviceArray.new(model, array.shape, array.dtype, "an array")
        if array.nbytes:
            model.write(copy.address, address_of(array), array.nbytes)
        return copy

    def _call_slowly(self, frame: CallFrame, arguments: Sequence[Any]) -> list[Any]:
        if not any(map(is_on_device, arguments)):
            return super()._call_slowly(frame, arguments)
        return self._call_on_device(frame, arguments, None)

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[Any] | Mapping[str, Any] | None = None) -> list[Any]:
        """As `Session.run`; arrays for results may lie on the GPU, too, all of them then."""
        given = [] if outputs is None else outputs_in_order(self.signature.outputs, outputs)
        if not any(map(is_on_device, given)):
            return super().run(inputs, outputs)
        if not all(map(is_on_device, given)) or len(given) != len(self.signature.outputs):
            raise InvalidInputError("some arrays for results lie on the GPU and some do not; give all there, or none")
        frame = self._take_frame()
        try:
            return self._call_on_device(frame, in_order(self.signature.inputs, [inputs]), given)
        finally:
            self._idle.append(frame.address)

    def _call_on_device(self, frame: CallFrame, arguments: Sequence[Any], outputs: Sequence[Any] | None) -> list[Any]:
        """Run where some arguments, or the arrays for all results, lie on the GPU."""
        specs, model = self.signature.inputs, self._keepalive.model
        check_count(specs, arguments)
        views = {
            index: view_of(value, f"input '{spec.name}'", show_type(spec.dtype, spec.shape), model)
            for index, (spec, value) in enumerate(zip(specs, arguments, strict=True))
            if is_on_device(value)
        }
        inputs = bind_in_order(specs, [views[index].array if index in views else value for index, value in enumerate(arguments)])
        frame.describe_inputs(inputs)
        shapes = [self._shape_of(spec, inputs) for spec in self.signature.outputs]
        results, places = self._new_places(shapes) if outputs is None else self._given_places(shapes, outputs)
        arrays = [view.array for view in views.values()]
        apart = outputs is not None and not _overlap(arrays, self.signature.outputs, places, shapes)
        place_next_call([address_of(values) for values in arrays], places, apart)
        memory = frame.new_results()
        frame.give_memory(memory)
        self._run(frame)
        on_host = frame.take_results(memory, self._reader_of(inputs))
        return [host if result is None else result for host, result in zip(on_host, results, strict=True)]

    def _shape_of(self, spec: TensorSpec, inputs: Sequence[np.ndarray]) -> tuple[int, ...] | None:
        """The shape of a result, as far as the arguments tell."""
        sizes: dict[object, int] = {}
        for given, values in zip(self.signature.inputs, inputs, strict=True):
            sizes |= dict(zip(given.shape, values.shape, strict=True))
        shape = tuple(dim if isinstance(dim, int) else sizes.get(dim, -1) if dim else -1 for dim in spec.shape)
        return None if any(size < 0 for size in shape) else shape

    def _new_places(self, shapes: Sequence[tuple[int, ...] | None]) -> tuple[list[DeviceArray | None], list[int]]:
        """Arrays on the GPU for results of known shapes, and where they are; results of other shapes come to the host."""
        model = self._keepalive.model
        made = [
            None if shape is None else DeviceArray.new(model, shape, spec.numpy_dtype, f"result '{spec.name}'")
            for spec, shape in zip(self.signature.outputs, shapes, strict=True)
        ]
        return made, [0 if one is None else one.address for one in made]

    def _given_places(self, shapes: Sequence[tuple[int, ...] | None], outputs: Sequence[Any]) -> tuple[list[Any], list[int]]:
        """The caller's arrays on the GPU, and where they are."""
        places = []
        for spec, shape, value in zip(self.signature.outputs, shapes, outputs, strict=True):
            expected = show_type(spec.dtype, spec.shape if shape is None else shape)
            view = view_of(value, f"output '{spec.name}'", expected, self._keepalive.model).array
            if shape is None:
                raise InvalidInputError(f"output '{spec.name}' is {expected}, whose size data decide; give no array for it")
            if view.shape != shape or view.dtype != spec.numpy_dtype:
                raise unfit_output(spec, view, expected)
            places.append(address_of(view))
        return list(outputs), places


def _overlap(
    arrays: Sequence[np.ndarray], specs: Sequence[TensorSpec], places: Sequence[int], shapes: Sequence[tuple[int, ...] | None]
) -> bool:
    """Whether memory for a result is also that of an argument, or of another result."""
    spans = [(address_of(values), values.nbytes) for values in arrays]
    for spec, place, shape in zip(specs, places, shapes, strict=True):
        size = spec.numpy_dtype.itemsize * math.prod(shape or ())
        if any(place < begin + length and begin < place + size for begin, length in spans):
            return True
        spans.append((place, size))
    return False


def _unbind(model: GpuModel, addresses: Sequence[int]) -> None:
    for address in addresses:
        model.unbind(address)

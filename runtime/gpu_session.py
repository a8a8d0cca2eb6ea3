"""Calls of models on a GPU: arrays of the host and of the GPU in, arrays of the same kind out."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..errors import InvalidInputError
from .arguments import bind_in_order, check_count, in_order
from .descriptors import address_of
from .device_array import DeviceArray, is_on_device, view_of
from .frame import CallFrame
from .gpu_model import TAKEN, CallPlaces, GpuModel
from .results import outputs_in_order, unfit_output
from .session import Session
from .signature import TensorSpec, show_type


class CodeOnGpu(Protocol):
    """Loaded code, and the model on the GPU that it works for."""

    model: GpuModel


@dataclass(frozen=True)
class DeviceCall:
    """What calls with the same arrays of the GPU have in common.

    `keys` tell those apart (None where some are not dlc's), `inputs` and `outputs` describe arguments and results, `places` say
    where these are, and `owners` keep the arguments of others.
    """

    keys: list[Any] | None
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]
    places: CallPlaces
    owners: list[object]


class GpuSession(Session):
    """A session of a model on a GPU, whose weights lie there. `keepalive` is its code (`CodeOnGpu`).

    Where an argument is an array of the GPU (anything with DLPack, as of torch and CuPy), so are the results: `DeviceArray`, which
    others take by DLPack without a copy. Calls of several threads run one after the other.
    """

    _keepalive: CodeOnGpu
    _last_call: DeviceCall | None = None

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
        check_count(self.signature.inputs, arguments)
        call = self._known_call(arguments, outputs) or self._new_call(arguments, outputs)
        frame.describe_inputs(call.inputs)
        call.places.use()
        memory = frame.new_results()
        frame.give_memory(memory)
        self._run(frame)
        delivered = call.places.delivered()
        on_host = frame.take_results(memory, self._reader_of(call.inputs))
        if outputs is None:
            return [self._new_result(*one) for one in zip(self.signature.outputs, delivered, on_host, strict=True)]
        for place, result, values in zip(delivered, on_host, call.outputs, strict=True):
            if not place and result.nbytes:
                self._keepalive.model.write(address_of(values), address_of(result), result.nbytes)
        return list(outputs)

    def _new_result(self, spec: TensorSpec, place: int, values: np.ndarray) -> DeviceArray:
        """A result of the last call, which it has put at `place`; what the host has computed is copied to the GPU."""
        return DeviceArray(self._keepalive.model, place, values.shape, spec.numpy_dtype) if place else self.on_device(values)

    def _known_call(self, arguments: Sequence[Any], outputs: Sequence[Any] | None) -> DeviceCall | None:
        """The last call, if it had the same arrays of the GPU."""
        last = self._last_call
        return last if last is not None and last.keys is not None and last.keys == _keys_of(arguments, outputs) else None

    def _new_call(self, arguments: Sequence[Any], outputs: Sequence[Any] | None) -> DeviceCall:
        """Check what a call is given; `InvalidInputError` names what is unfit."""
        specs, model = self.signature.inputs, self._keepalive.model
        views = {
            index: view_of(value, f"input '{spec.name}'", show_type(spec.dtype, spec.shape), model)
            for index, (spec, value) in enumerate(zip(specs, arguments, strict=True))
            if is_on_device(value)
        }
        inputs = bind_in_order(specs, [views[index].array if index in views else value for index, value in enumerate(arguments)])
        arrays = [view.array for view in views.values()]
        given = [] if outputs is None else self._given_arrays(inputs, outputs)
        targets = [TAKEN] * len(self.signature.outputs) if outputs is None else [address_of(values) for values in given]
        places = CallPlaces([address_of(values) for values in arrays], targets, not _overlap(arrays, given))
        owners = [view.owner for view in views.values()]
        call = DeviceCall(_keys_of(arguments, outputs), inputs, given, places, owners)
        self._last_call = call if call.keys is not None else None
        return call

    def _given_arrays(self, inputs: Sequence[np.ndarray], outputs: Sequence[Any]) -> list[np.ndarray]:
        """The caller's arrays on the GPU for results."""
        sizes: dict[object, int] = {}
        for given, values in zip(self.signature.inputs, inputs, strict=True):
            sizes |= dict(zip(given.shape, values.shape, strict=True))
        return [self._given_array(spec, value, sizes) for spec, value in zip(self.signature.outputs, outputs, strict=True)]

    def _given_array(self, spec: TensorSpec, value: Any, sizes: Mapping[object, int]) -> np.ndarray:
        shape = tuple(dim if isinstance(dim, int) else sizes.get(dim, -1) if dim else -1 for dim in spec.shape)
        is_known = min(shape, default=0) >= 0
        expected = show_type(spec.dtype, shape if is_known else spec.shape)
        if not is_known:
            raise InvalidInputError(f"output '{spec.name}' is {expected}, whose size data decide; give no array for it")
        view = view_of(value, f"output '{spec.name}'", expected, self._keepalive.model).array
        if view.shape != shape or view.dtype != spec.numpy_dtype:
            raise unfit_output(spec, view, expected)
        return view


def _keys_of(arguments: Sequence[Any], outputs: Sequence[Any] | None) -> list[Any] | None:
    """What tells arrays of dlc's on the GPU apart; None where there are others."""
    values = arguments if outputs is None else (*arguments, None, *outputs)
    if not all(value is None or type(value) is DeviceArray for value in values):
        return None
    return [None if value is None else value.key for value in values]


def _overlap(arguments: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> bool:
    """Whether memory for a result is also that of an argument, or of another result."""
    spans = [(address_of(values), values.nbytes) for values in arguments]
    for values in results:
        place, size = address_of(values), values.nbytes
        if any(place < begin + length and begin < place + size for begin, length in spans):
            return True
        spans.append((place, size))
    return False


def _unbind(model: GpuModel, addresses: Sequence[int]) -> None:
    for address in addresses:
        model.unbind(address)

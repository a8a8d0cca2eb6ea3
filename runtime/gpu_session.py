"""Calls of models on a GPU: arrays of the host and of the GPU in, arrays of the same kind out."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from .arguments import bind_in_order, check_count, in_order
from .descriptors import address_of
from .device_array import DeviceArray, is_on_device, view_of
from .frame import CallFrame
from .gpu_model import GpuModel, place_next_call
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

    def _call_slowly(self, frame: CallFrame, arguments: Sequence[Any]) -> list[Any]:
        if not any(map(is_on_device, arguments)):
            return super()._call_slowly(frame, arguments)
        return self._call_on_device(frame, arguments, [None] * len(self.signature.outputs))

    def run(
        self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> list[np.ndarray]:
        return super().run(inputs, outputs)

    def _call_on_device(self, frame: CallFrame, arguments: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
        """Run with arguments of which some lie on the GPU."""
        specs, model = self.signature.inputs, self._keepalive.model
        check_count(specs, arguments)
        views = [
            view_of(value, spec.name, show_type(spec.dtype, spec.shape), model) if is_on_device(value) else value
            for spec, value in zip(specs, arguments, strict=True)
        ]
        inputs = bind_in_order(specs, [view.array if view is not value else value for view, value in zip(views, arguments, strict=True)])
        frame.describe_inputs(inputs)
        places = [self._place(spec, inputs) for spec in self.signature.outputs]
        there = [address_of(view.array) for view, value in zip(views, arguments, strict=True) if view is not value]
        place_next_call(there, [0 if place is None else place.address for place in places])
        given = frame.new_results()
        frame.give_memory(given)
        self._run(frame)
        results = frame.take_results(given, self._reader_of(inputs))
        return [result if place is None else place for result, place in zip(results, places, strict=True)]

    def _place(self, spec: TensorSpec, inputs: Sequence[np.ndarray]) -> DeviceArray | None:
        """Memory on the GPU for a result; None where the arguments do not tell its size, so that the host gets it."""
        sizes: dict[object, int] = {}
        for given, values in zip(self.signature.inputs, inputs, strict=True):
            sizes |= dict(zip(given.shape, values.shape, strict=True))
        shape = tuple(dim if isinstance(dim, int) else sizes.get(dim, -1) if dim else -1 for dim in spec.shape)
        if any(size < 0 for size in shape):
            return None
        return DeviceArray.new(self._keepalive.model, shape, spec.numpy_dtype, spec.name)


def _unbind(model: GpuModel, addresses: Sequence[int]) -> None:
    for address in addresses:
        model.unbind(address)

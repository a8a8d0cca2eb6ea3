"""Calls compiled code: arrays in, arrays that own their memory out."""

from __future__ import annotations

import itertools
import math
import threading
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dlc.runtime.arguments import bind_arguments
from dlc.runtime.library import RuntimeLibrary, load_library
from dlc.runtime.signature import Signature, TensorSpec

_WORD = 8
_CARRIERS = {1: "|u1", 2: "<u2", 4: "<u4", 8: "<u8"}
"""Type strings under which memory is handed to NumPy, by item size, before it is viewed as the true dtype."""


class Session:
    """A loaded entry point with its parameters bound. Threads may call it at the same time.

    `entry` is the address of MLIR's packed form of `_mlir_ciface_<name>`: `void f(void **)`, whose table points at
    pointers to memref descriptors: one record for all results, then the inputs, then the parameters. `precompute` is
    the address of the function `signature.precompute`, which is called once, here. `keepalive` is whatever must live as
    long as the code does. `num_threads` (None: all processors) bounds the threads of one call.
    """

    def __init__(
        self,
        entry: int,
        signature: Signature,
        params: Mapping[str, np.ndarray],
        keepalive: object = None,
        num_threads: int | None = None,
        precompute: int = 0,
    ) -> None:
        self.signature = signature
        self._address = entry
        self._precompute = precompute
        self._keepalive = keepalive
        self._num_threads = num_threads
        self._library = load_library()
        self._param_arrays = self._bind(params)
        self._param_records = [array("q", describe(values)) for values in self._param_arrays]
        self._param_pointers = array("q", [record.buffer_info()[0] for record in self._param_records])
        self._threads = threading.local()

    def _bind(self, params: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """Arrays for the entry's parameters: the caller's, and those that are computed from them."""
        weights = self.signature.weights
        known = {spec.name: params[spec.name] for spec in weights if spec.name in params}
        bound = {spec.name: values for spec, values in zip(weights, bind_arguments(weights, [known]), strict=True)}
        computation = self.signature.precompute
        if computation is not None:
            frame = _Frame(Signature(computation.entry, computation.params, computation.results), ())
            frame.set_inputs([bound[spec.name] for spec in computation.params])
            self._invoke(self._precompute, frame)
            names = [spec.name for spec in computation.results]
            bound |= zip(names, frame.take_results(self._library), strict=True)
        return [bound[spec.name] for spec in self.signature.params]

    def _invoke(self, address: int, frame: _Frame) -> None:
        """Call compiled code with this session's number of threads."""
        previous = self._library.set_num_threads(self._num_threads)
        try:
            self._library.invoke(address, frame.table)
        finally:
            self._library.set_num_threads(previous)

    def with_params(self, params: Mapping[str, np.ndarray]) -> Session:
        """The same code with other parameters."""
        return Session(self._address, self.signature, params, self._keepalive, self._num_threads, self._precompute)

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        """Run on arrays by position, one list of arrays, or one dict by name; `InvalidInputError` if unfit.

        Sizes that do not fit each other are found while the model runs.
        """
        inputs = bind_arguments(self.signature.inputs, arguments)
        frame = self._frame()
        frame.set_inputs(inputs)
        self._invoke(self._address, frame)
        return frame.take_results(self._library, inputs)

    def _frame(self) -> _Frame:
        """This thread's frame."""
        try:
            return self._threads.frame
        except AttributeError:
            base = self._param_pointers.buffer_info()[0]
            frame = _Frame(self.signature, [base + _WORD * index for index in range(len(self._param_records))])
            self._threads.frame = frame
            return frame


class _Frame:
    """The memory of one call, in 8-byte words: descriptors of results and inputs, pointers to them, and the table.

    A thread keeps its frame from call to call: all but addresses and dynamic sizes stays the same.
    """

    def __init__(self, signature: Signature, param_pointers: Sequence[int]) -> None:
        self._outputs = signature.outputs
        specs = (*signature.outputs, *signature.inputs)
        positions = list(itertools.accumulate((3 + 2 * spec.rank for spec in specs), initial=0))
        self._output_positions = positions[: len(signature.outputs)]
        self._donated = [index for index, spec in enumerate(signature.inputs) if spec.donated]
        self._inputs = list(zip(signature.inputs, positions[len(signature.outputs) :], strict=False))
        records = [*self._output_positions[:1], *(position for _, position in self._inputs)]
        pointers, count = positions[-1], len(records)
        self._words = array("q", bytes(_WORD * (pointers + 2 * count + len(param_pointers))))
        base = self._words.buffer_info()[0]
        self.table = base + _WORD * (pointers + count)
        for index, position in enumerate(records):
            self._words[pointers + index] = base + _WORD * position
            self._words[pointers + count + index] = base + _WORD * (pointers + index)
        self._words[pointers + 2 * count :] = array("q", param_pointers)
        self._shapes: list[tuple[int, ...] | None] = [None] * len(self._inputs)

    def set_inputs(self, arrays: Sequence[np.ndarray]) -> None:
        """Point the descriptors at the arrays."""
        words = self._words
        for index, ((_, position), values) in enumerate(zip(self._inputs, arrays, strict=True)):
            if values.shape != self._shapes[index]:
                descriptor = array("q", describe(values))
                words[position : position + len(descriptor)] = descriptor
                self._shapes[index] = values.shape
            else:
                words[position] = words[position + 1] = values.__array_interface__["data"][0]

    def take_results(self, library: RuntimeLibrary, inputs: Sequence[np.ndarray] = ()) -> list[np.ndarray]:
        """Arrays that own the memory that the call has returned; those in the memory of donated `inputs` are views of them."""
        words, places = self._words, zip(self._outputs, self._output_positions, strict=True)
        if not self._donated:
            return [_result(spec, words[at : at + 3 + spec.rank], library) for spec, at in places]
        given = {inputs[index].__array_interface__["data"][0]: inputs[index] for index in self._donated}
        results = []
        for spec, at in places:
            descriptor = words[at : at + 3 + spec.rank]
            owner = given.get(descriptor[0])
            results.append(_result(spec, descriptor, library) if owner is None else _view(spec, descriptor, owner))
        return results


def describe(values: np.ndarray) -> list[int]:
    """Words of the memref descriptor of a row-major array: allocated, aligned, offset, sizes, strides in elements."""
    address = values.__array_interface__["data"][0]
    strides, stride = [], 1
    for size in reversed(values.shape):
        strides.append(stride)
        stride *= size
    return [address, address, 0, *values.shape, *reversed(strides)]


def _result(spec: TensorSpec, descriptor: array[int], library: RuntimeLibrary) -> np.ndarray:
    allocated, aligned, offset, *shape = descriptor
    dtype = spec.numpy_dtype
    address = aligned + offset * dtype.itemsize
    interface = {"version": 3, "data": (address, False), "shape": tuple(shape), "typestr": _CARRIERS[dtype.itemsize]}
    return np.asarray(_OwnedMemory(allocated, interface, library)).view(dtype)


def _view(spec: TensorSpec, descriptor: array[int], owner: np.ndarray) -> np.ndarray:
    """The result as a view of the donated array that it lies in."""
    allocated, aligned, offset, *shape = descriptor
    dtype = spec.numpy_dtype
    start = aligned - allocated + offset * dtype.itemsize
    size = math.prod(shape) * dtype.itemsize
    return owner.reshape(-1).view(np.uint8)[start : start + size].view(dtype).reshape(shape)


class _OwnedMemory:
    """Memory of the runtime, freed with the last array that shows it."""

    __slots__ = ("__array_interface__", "_allocated", "_library")

    def __init__(self, allocated: int, interface: dict[str, Any], library: RuntimeLibrary) -> None:
        self.__array_interface__ = interface
        self._allocated = allocated
        self._library = library

    def __del__(self) -> None:
        self._library.free(self._allocated)

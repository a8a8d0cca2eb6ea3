"""Calls compiled code: arrays in, arrays out, in memory of their own or the caller's."""

from __future__ import annotations

import copy
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dlc.runtime.arguments import bind_arguments
from dlc.runtime.descriptors import describe
from dlc.runtime.frame import WORD, Frame
from dlc.runtime.library import load_library
from dlc.runtime.results import MemorySpans, ResultReader, check_apart_from_weights, checked_outputs, unfit_output
from dlc.runtime.signature import Signature, show_type


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
        self._call = self._library.call
        self._reader = ResultReader(self._library)
        self._is_donating = any(spec.donated for spec in signature.inputs)
        self._param_arrays = self._bind(params)
        self._param_records = [array("q", describe(values)) for values in self._param_arrays]
        self._param_pointers = array("q", [record.buffer_info()[0] for record in self._param_records])
        self._weights = MemorySpans(self._param_arrays)
        self._idle: list[Frame] = []
        """Frames that no call uses. Taking one and putting it back are atomic."""

    def _bind(self, params: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """Arrays for the entry's parameters: the caller's, and those that are computed from them."""
        weights = self.signature.weights
        known = {spec.name: params[spec.name] for spec in weights if spec.name in params}
        bound = {spec.name: values for spec, values in zip(weights, bind_arguments(weights, [known]), strict=True)}
        computation = self.signature.precompute
        if computation is not None:
            signature = Signature(computation.entry, computation.params, computation.results)
            frame = Frame(self._precompute, signature, threads=self._num_threads)
            frame.describe_inputs([bound[spec.name] for spec in computation.params])
            given: list[np.ndarray | None] = [None] * len(computation.results)
            frame.give_memory(given)
            self._run(frame)
            names = [spec.name for spec in computation.results]
            bound |= zip(names, frame.take_results(given, self._reader), strict=True)
        return [bound[spec.name] for spec in self.signature.params]

    def _run(self, frame: Frame) -> None:
        if self._call(frame.pointer):
            raise self._library.last_error()

    def with_params(self, params: Mapping[str, np.ndarray]) -> Session:
        """The same code with other parameters."""
        return Session(self._address, self.signature, params, self._keepalive, self._num_threads, self._precompute)

    def with_code(self, entry: int, precompute: int, keepalive: object) -> Session:
        """The same parameters, in the same memory, for other code of the same signature."""
        session = copy.copy(self)
        session._address, session._precompute, session._keepalive = entry, precompute, keepalive
        session._idle = []
        return session

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        """Run on arrays by position, one list of arrays, or one dict by name; `InvalidInputError` if unfit.

        Sizes that do not fit each other are found while the model runs.
        """
        frame = self._take_frame()
        try:
            inputs = frame.bind(arguments)
            given = frame.give_results()
            if self._call(frame.pointer):
                raise self._library.last_error()
            return frame.take_results(given, self._reader_of(inputs) if self._is_donating else self._reader)
        finally:
            self._idle.append(frame)

    def run(
        self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> list[np.ndarray]:
        """Run with results in the caller's arrays `outputs`, in order or by name; results without one get their own memory.

        A result is computed in the caller's memory if the model allows it, else copied there. `InvalidInputError` if an array
        does not fit; the contents of `outputs` are undefined then.
        """
        if outputs is None:
            return self(inputs)
        given = checked_outputs(self.signature.outputs, outputs)
        check_apart_from_weights(self.signature.outputs, given, self._weights)
        frame = self._take_frame()
        arrays = frame.bind(inputs if isinstance(inputs, list | tuple) else [inputs])
        memory = [None if values is None or _shares(values, arrays) else values for values in given]
        frame.give_memory(memory)
        self._run(frame)
        results = frame.take_results(memory, self._reader_of(arrays) if self._is_donating else self._reader)
        frame.forget_memory()
        self._idle.append(frame)
        return [self._delivered(index, *pair) for index, pair in enumerate(zip(results, given, strict=True))]

    def _delivered(self, index: int, result: np.ndarray, given: np.ndarray | None) -> np.ndarray:
        """The caller's array with the result in it, the result itself if there is none."""
        if given is None:
            return result
        spec = self.signature.outputs[index]
        if result.shape != given.shape:
            raise unfit_output(spec, given, show_type(spec.dtype, result.shape))
        if result is not given:
            np.copyto(given, result)
        return given

    def _reader_of(self, inputs: Sequence[np.ndarray]) -> ResultReader:
        """A reader that knows the donated inputs."""
        specs = zip(self.signature.inputs, inputs, strict=True)
        return ResultReader(self._library, [values for spec, values in specs if spec.donated])

    def _take_frame(self) -> Frame:
        """A frame that no other call uses."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._new_frame()

    def _new_frame(self) -> Frame:
        base = self._param_pointers.buffer_info()[0]
        pointers = [base + WORD * index for index in range(len(self._param_records))]
        return Frame(self._address, self.signature, pointers, self._num_threads)


def _shares(values: np.ndarray, others: Sequence[np.ndarray]) -> bool:
    return any(np.may_share_memory(values, other) for other in others)

"""Calls compiled code: arrays in, arrays out, in memory of their own or the caller's."""

from __future__ import annotations

import contextlib
import copy
import itertools
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidInputError
from .arguments import bind_arguments, bind_in_order, check_count, in_order, listed
from .descriptors import describe
from .frame import WORD, CallFrame
from .library import load_library
from .native_calls import Unfinished
from .results import MemorySpans, ResultReader, check_apart_from_weights, checked_outputs, outputs_in_order, unfit_output
from .signature import Signature, show_type

_BATCH = 256
"""Requests that are prepared at once; each keeps some hundred bytes for the next ones."""


class Session:
    """A loaded entry point with its parameters bound. Threads may call it at the same time.

    `entry` is the address of MLIR's packed form of `_mlir_ciface_<name>`: `void f(void **)`, whose table points at
    pointers to memref descriptors: one record for all results, then the inputs, then the parameters. `precompute` is
    the address of the function `signature.precompute`, which is called once, here. `keepalive` is whatever must live as
    long as the code does. `num_threads` (None: all processors) bounds the threads of one call, `memory_limit` (None: the system's)
    the bytes that it holds at once.
    """

    def __init__(
        self,
        entry: int,
        signature: Signature,
        params: Mapping[str, np.ndarray],
        keepalive: object = None,
        num_threads: int | None = None,
        precompute: int = 0,
        memory_limit: int | None = None,
    ) -> None:
        self.signature = signature
        self._address = entry
        self._precompute = precompute
        self._keepalive = keepalive
        self._num_threads = num_threads
        self._memory_limit = memory_limit
        self._cancellations = array("q", [0])
        self._apart: set[Session] = set()
        self._library = load_library()
        self._call = self._library.call
        self._reader = ResultReader(self._library)
        self._is_donating = any(spec.donated for spec in signature.inputs)
        self._param_arrays = self._bind(params)
        self._param_records = [array("q", describe(values)) for values in self._param_arrays]
        self._param_pointers = array("q", [record.buffer_info()[0] for record in self._param_records])
        self._weights = MemorySpans(self._param_arrays)
        self._weight_bounds = self._weights.words()
        self._start_frames()

    def _start_frames(self) -> None:
        self._frames: dict[int, CallFrame] = {}
        """All frames, by address."""
        self._idle: list[int] = []
        """Those that no call uses. Taking one and putting it back are atomic."""
        # Donated inputs need more checks than those of native calls, which are left without frames.
        idle = [] if self._is_donating else self._idle
        inputs, outputs = ([spec.name for spec in specs] for specs in (self.signature.inputs, self.signature.outputs))
        callers = self._library.new_callers(idle, inputs, outputs)
        self._call_fast, self._run_fast, self._call_again, self._run_again = callers

    def _bind(self, params: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """Arrays for the entry's parameters: the caller's, and those that are computed from them."""
        weights = self.signature.weights
        known = {spec.name: params[spec.name] for spec in weights if spec.name in params}
        bound = {spec.name: values for spec, values in zip(weights, bind_arguments(weights, [known]), strict=True)}
        computation = self.signature.precompute
        if computation is not None:
            signature = Signature(computation.entry, computation.params, computation.results)
            frame = CallFrame(self._precompute, signature, self._library, threads=self._num_threads, limit=self._memory_limit)
            frame.describe_inputs([bound[spec.name] for spec in computation.params])
            given: list[np.ndarray | None] = [None] * len(computation.results)
            frame.give_memory(given)
            self._run(frame)
            names = [spec.name for spec in computation.results]
            bound |= zip(names, frame.take_results(given, self._reader), strict=True)
        return [bound[spec.name] for spec in self.signature.params]

    def _run(self, frame: CallFrame) -> None:
        if self._call(frame.pointer):
            raise self._library.last_error()

    def with_params(self, params: Mapping[str, np.ndarray]) -> Session:
        """The same code with other parameters."""
        threads, limit = self._num_threads, self._memory_limit
        return type(self)(self._address, self.signature, params, self._keepalive, threads, self._precompute, limit)

    def cancel(self) -> None:
        """End all calls that run now, each before its next kernel, with `CancelledError`; for other threads than theirs."""
        for session in (self, *tuple(self._apart)):
            self._library.cancel(session._cancellations.buffer_info()[0])

    @contextlib.contextmanager
    def apart(self) -> Iterator[Session]:
        """The same for calls that `cancel` of the session inside ends alone; `cancel` of this one ends them, too."""
        session = self.with_code(self._address, self._precompute, self._keepalive)
        self._apart.add(session)
        try:
            yield session
        finally:
            self._apart.discard(session)

    @property
    def bound_params(self) -> list[np.ndarray]:
        """The arrays that the entry reads, in the order of `signature.params`, those that were computed among them."""
        return self._param_arrays

    def with_code(self, entry: int, precompute: int, keepalive: object) -> Session:
        """The same parameters, in the same memory, for other code of the same signature."""
        session = copy.copy(self)
        session._cancellations = array("q", [0])
        session._apart = set()
        session._address, session._precompute, session._keepalive = entry, precompute, keepalive
        session._start_frames()
        return session

    def with_threads(self, num_threads: int | None) -> Session:
        """The same code and parameters, in the same memory, for calls of so many threads."""
        session = self.with_code(self._address, self._precompute, self._keepalive)
        session._num_threads = num_threads
        return session

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        """Run on arrays by position, one list of arrays, or one dict by name; `InvalidInputError` if unfit.

        Sizes that do not fit each other are found while the model runs.
        """
        results = self._call_fast(*arguments)
        return results if isinstance(results, list) else self._complete(results, arguments)

    def on_device(self, values: np.ndarray) -> Any:
        """`values` where the code computes: for code of CPUs the array itself."""
        return values

    def _complete(self, unfinished: Unfinished, arguments: Sequence[Any]) -> list[np.ndarray]:
        frame = self._frame_of(unfinished)
        try:
            if unfinished is not None:
                return frame.finish(unfinished[0], unfinished[2], self._reader)
            if len(arguments) == 1 and type(arguments[0]) is not np.ndarray:
                arguments = in_order(self.signature.inputs, arguments)
            return self._call_slowly(frame, arguments)
        finally:
            self._idle.append(frame.address)

    def _frame_of(self, unfinished: Unfinished) -> CallFrame:
        return self._take_frame() if unfinished is None else self._frames[unfinished[1]]

    def _call_slowly(self, frame: CallFrame, arguments: Sequence[Any]) -> list[np.ndarray]:
        """Run on whatever can be read as arrays of the right types."""
        inputs = self._bind_inputs(frame, arguments)
        given = frame.new_results()
        frame.give_memory(given)
        self._run(frame)
        return frame.take_results(given, self._reader_of(inputs))

    def _bind_inputs(self, frame: CallFrame, arguments: Sequence[Any]) -> list[np.ndarray]:
        """The arrays that the frame's descriptors point at now; they must live until the call ends."""
        check_count(self.signature.inputs, arguments)
        inputs = bind_in_order(self.signature.inputs, arguments)
        frame.describe_inputs(inputs)
        return inputs

    def run(
        self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> list[np.ndarray]:
        """Run with results in the caller's arrays `outputs`, in order or by name; results without one get their own memory.

        A result is computed in the caller's memory if the model allows it, else copied there. `InvalidInputError` if an array
        does not fit; the contents of `outputs` are undefined then.
        """
        if outputs is None:
            return self(inputs)
        results = self._run_fast(inputs, outputs)
        return results if isinstance(results, list) else self._complete_run(results, inputs, outputs)

    def _complete_run(self, unfinished: Unfinished, inputs: Any, outputs: Sequence[Any] | Mapping[str, Any]) -> list[np.ndarray]:
        arguments = in_order(self.signature.inputs, [inputs])
        given = tuple(outputs_in_order(self.signature.outputs, outputs))
        frame = self._frame_of(unfinished)
        try:
            if unfinished is None:
                results = self._run_slowly(frame, arguments, given)
            else:
                results = frame.finish(unfinished[0], given, self._reader)
        finally:
            self._idle.append(frame.address)
        return [
            result if result is values else self._delivered(index, result, values)
            for index, (result, values) in enumerate(zip(results, given, strict=True))
        ]

    def _run_slowly(self, frame: CallFrame, arguments: Sequence[Any], outputs: Sequence[Any]) -> list[np.ndarray]:
        """Results in `outputs` where they may lie there, else in memory of their own."""
        given = checked_outputs(self.signature.outputs, outputs)
        check_apart_from_weights(self.signature.outputs, given, self._weights)
        inputs = self._bind_inputs(frame, arguments)
        memory = [None if values is None or _shares(values, inputs) else values for values in given]
        frame.give_memory(memory)
        self._run(frame)
        return frame.take_results(memory, self._reader_of(inputs))

    def run_many(self, requests: Iterable[Any], first: int = 0) -> list[list[np.ndarray]]:
        """The results for each of `requests` (what `__call__` takes as one argument), several at a time.

        Each has a thread of the pool for itself; fewer requests than threads run one after the other on all. `InvalidInputError`
        names the first request that is wrong, counted from `first`.
        """
        waiting = listed(requests)
        if self._is_donating:
            # One after the other, since they may write to the same memory.
            return [self._run_numbered(number, request) for number, request in enumerate(waiting, first)]
        results = []
        for begin in range(0, len(waiting), _BATCH):
            results += self._run_batch(waiting[begin : begin + _BATCH], first + begin)
        return results

    def _run_batch(self, requests: Sequence[Any], begin: int) -> list[list[np.ndarray]]:
        """`begin` is the number of the first request, for messages."""
        frames = [self._take_frame() for _ in requests]
        try:
            prepared = [self._prepare(*one) for one in zip(frames, requests, itertools.count(begin))]
            failed = self._library.call_many([frame.pointer.value or 0 for frame in frames], self._num_threads)
            # Results of those that did not fail are taken even where others did: so somebody owns their memory.
            done = zip(frames, prepared, failed, strict=True)
            results = [[] if fails else frame.take_results(given, self._reader) for frame, (_, given), fails in done]
            if any(failed):
                raise self._library.last_error(f"request {begin + failed.index(True)}: ")
            return results
        finally:
            self._idle.extend(frame.address for frame in frames)

    def _run_numbered(self, number: int, request: Any) -> list[np.ndarray]:
        try:
            return self(request)
        except InvalidInputError as error:
            raise InvalidInputError(f"request {number}: {error}") from error

    def _prepare(self, frame: CallFrame, request: Any, number: int) -> tuple[Sequence[np.ndarray], list[np.ndarray | None]]:
        """Make a frame ready for `dlc_call`: the arrays that it reads, which must live until then, and those for results."""
        try:
            is_array = type(request) is np.ndarray
            arguments = (request,) if is_array else tuple(in_order(self.signature.inputs, [request]))
            given = frame.bind(arguments)
            if given is not None:
                return arguments, given
            inputs = self._bind_inputs(frame, arguments)
        except InvalidInputError as error:
            raise InvalidInputError(f"request {number}: {error}") from error
        given = frame.new_results()
        frame.give_memory(given)
        return inputs, given

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
        if not self._is_donating:
            return self._reader
        specs = zip(self.signature.inputs, inputs, strict=True)
        return ResultReader(self._library, [values for spec, values in specs if spec.donated])

    def _take_frame(self) -> CallFrame:
        """A frame that no other call uses."""
        try:
            return self._frames[self._idle.pop()]
        except IndexError:
            return self._new_frame()

    def _new_frame(self) -> CallFrame:
        base = self._param_pointers.buffer_info()[0]
        pointers = [base + WORD * index for index in range(len(self._param_records))]
        frame = CallFrame(
            self._address,
            self.signature,
            self._library,
            pointers,
            self._num_threads,
            self._weight_bounds,
            self._memory_limit,
            self._cancellations.buffer_info()[0],
        )
        self._frames[frame.address] = frame
        return frame


def _shares(values: np.ndarray, others: Sequence[np.ndarray]) -> bool:
    return any(np.may_share_memory(values, other) for other in others)

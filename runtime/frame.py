"""The memory of one call: descriptors of inputs and results, the table of pointers to them, and where results may lie."""

from __future__ import annotations

import ctypes
import itertools
import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .descriptors import address_of, describe
from .library import RuntimeLibrary
from .results import SMALL_BYTES, ResultReader, block_type
from .signature import Signature, TensorSpec

WORD = 8
_CALL_WORDS = 12
"""Words of the runtime's `DlcArrayCall`: entry, arguments, threads, results, their count, limit, cancellations; arrays, inputs'
count, class, weights, their count. The first seven are its `DlcCall`."""
_MEMORY_WORDS = 3
"""Words of a `DlcMemory`: address, size, name."""
_ARRAY_WORDS = 7
"""Words of a `DlcArray`: object, dtype, item size, rank, descriptor, sizes, bytes of a new one."""
_NEW_BYTES = 6
"""The last of them."""
_RAISED = 1
"""The `DlcOutcome` of a call whose entry raised an error."""

_empty = np.empty


class _Input:
    """One input: where its descriptor begins, and the shape that the descriptor has now."""

    __slots__ = ("at", "object", "shape")

    def __init__(self, at: int, place: int) -> None:
        self.at, self.object = at, place
        self.shape: tuple[int, ...] | None = None


class _Output:
    """One result: where its descriptor, its array, its expected sizes and the memory given for it are noted.

    `shape` is that of the last call when dims are dynamic, and None when no memory is given: the result lies where the entry
    says, or is large and may get another shape. `block` is the type of the runtime's memory for one that is large.
    """

    __slots__ = ("at", "block", "bytes", "dtype", "given", "is_static", "label", "object", "shape", "sizes")

    def __init__(self, spec: TensorSpec, at: int, place: int, sizes: int, given: int) -> None:
        self.at, self.object, self.sizes, self.given = at, place, sizes, given
        self.dtype = spec.numpy_dtype
        self.is_static = all(isinstance(dim, int) for dim in spec.shape)
        self.shape: tuple[int, ...] | None = None
        self.block: Any = None
        self.bytes = 0
        self.label = ctypes.create_string_buffer(f"result '{spec.name}'".encode())


class CallFrame:
    """What a call of the entry needs, in 8-byte words that stay where they are.

    A session keeps its frames from call to call: all but addresses and dynamic sizes stays the same. One call at a time uses
    a frame. `pointer`, to `address`, is its `DlcArrayCall`, which begins with its `DlcCall`. `weights` are begins and ends of
    memory that no result may lie in, in ascending order. A call may hold `limit` bytes (None: no bound), and ends when the counter
    at the address `cancellations` (0: none) grows.
    """

    def __init__(
        self,
        entry: int,
        signature: Signature,
        library: RuntimeLibrary,
        param_pointers: Sequence[int] = (),
        threads: int | None = None,
        weights: array[int] | None = None,
        limit: int | None = None,
        cancellations: int = 0,
    ) -> None:
        self._signature = signature
        self._is_donating = any(spec.donated for spec in signature.inputs)
        self._library = library
        self._weights = array("q") if weights is None else weights
        specs = (*signature.outputs, *signature.inputs)
        places = list(itertools.accumulate((3 + 2 * spec.rank for spec in specs), initial=0))
        inputs, outputs = len(signature.inputs), len(signature.outputs)
        records = [*places[:outputs][:1], *places[outputs:-1]]
        pointers, count = places[-1], len(records)
        table = pointers + count
        given = table + count + len(param_pointers)
        sizes = list(itertools.accumulate((spec.rank for spec in signature.outputs), initial=given + _MEMORY_WORDS * outputs))
        objects = sizes[-1]
        call = objects + _ARRAY_WORDS * len(specs)
        self._words = array("q", bytes(WORD * (call + _CALL_WORDS)))
        base = self._words.buffer_info()[0]
        for index, place in enumerate(records):
            self._words[pointers + index] = base + WORD * place
            self._words[table + index] = base + WORD * (pointers + index)
        self._words[table + count : given] = array("q", param_pointers)
        prepared = [entry, base + WORD * table, threads or 0, base + WORD * given, outputs, limit or 0, cancellations]
        self._words[call : call + len(prepared)] = array("q", prepared)
        begin, length = self._weights.buffer_info()
        self._words[call + len(prepared) :] = array("q", [base + WORD * objects, inputs, id(np.ndarray), begin, length // 2])
        self.address = base + WORD * call
        self.pointer = ctypes.c_void_p(self.address)
        array_places = [objects + _ARRAY_WORDS * index for index in range(len(specs))]
        self._inputs = [_Input(at, place) for at, place in zip(places[outputs:], array_places[:inputs], strict=False)]
        self._input_objects = array_places[:inputs]
        self._outputs = [
            _Output(spec, at, place, size, given + _MEMORY_WORDS * index)
            for index, (spec, at, place, size) in enumerate(
                zip(signature.outputs, places, array_places[inputs:], sizes, strict=False)
            )
        ]
        for spec, taken in zip(signature.inputs, self._inputs, strict=True):
            self._note_array(spec, taken.object, taken.at, taken.at + 3)
        for spec, slot in zip(signature.outputs, self._outputs, strict=True):
            self._note_array(spec, slot.object, slot.at, slot.sizes)
            self._words[slot.given + 2] = ctypes.addressof(slot.label)
            if slot.is_static:
                self._expect(slot, tuple(dim for dim in spec.shape if isinstance(dim, int)))

    def _note_array(self, spec: TensorSpec, place: int, descriptor: int, sizes: int) -> None:
        """Write a `DlcArray`; no array has its sizes yet."""
        base, dtype = self._words.buffer_info()[0], spec.numpy_dtype
        fields = [0, id(dtype), dtype.itemsize, spec.rank, base + WORD * descriptor, base + WORD * sizes, 0]
        self._words[place : place + _ARRAY_WORDS] = array("q", fields)
        self._words[sizes : sizes + spec.rank] = array("q", [-1] * spec.rank)

    def bind(self, arguments: Sequence[Any]) -> list[Any] | None:
        """Prepare a call with row-major arrays of the shapes of the last call: the arrays for `take_results` after it.

        None for any other arguments.
        """
        words = self._words
        if len(arguments) != len(self._input_objects):
            return None
        for place, value in zip(self._input_objects, arguments):  # noqa: B905  # checked, and 0.1 us faster
            words[place] = id(value)
        given: list[Any] = []
        for slot in self._outputs:
            if slot.shape is None:
                words[slot.object] = 0
                given.append(None)
            else:
                values = _empty(slot.shape, slot.dtype) if slot.block is None else self._new_large(slot)
                words[slot.object] = id(values)
                given.append(values)
        return None if self._library.bind_arrays(self.pointer, 0) else given

    def finish(self, outcome: int, given: Sequence[np.ndarray | None], reader: ResultReader) -> list[np.ndarray]:
        """The results of a call that came to `outcome`: an error, or results that may lie elsewhere than in `given`."""
        if outcome == _RAISED:
            raise self._library.last_error()
        return self.take_results(given, reader)

    def describe_inputs(self, arrays: Iterable[np.ndarray]) -> None:
        """Point the descriptors at arrays that fit."""
        words = self._words
        for slot, values in zip(self._inputs, arrays, strict=True):
            if values.shape != slot.shape:
                descriptor = array("q", describe(values))
                words[slot.at : slot.at + len(descriptor)] = descriptor
                slot.shape = values.shape
            else:
                words[slot.at] = words[slot.at + 1] = address_of(values)

    def new_results(self) -> list[np.ndarray | None]:
        """New arrays for the results whose shapes are known or guessed, None for the others."""
        return [
            None if slot.shape is None else np.empty(slot.shape, slot.dtype) if slot.block is None else self._new_large(slot)
            for slot in self._outputs
        ]

    def _new_large(self, slot: _Output) -> np.ndarray:
        """An array in the runtime's memory, which was in use by an earlier call and costs no page faults."""
        address = self._library.try_allocate(0, slot.bytes)
        if address is None:
            address = self._library.allocate(slot.bytes, what=slot.label.value.decode())  # raises, or there is memory by now
        return np.ndarray(slot.shape or (), slot.dtype, slot.block.from_address(address))

    def give_memory(self, arrays: Sequence[np.ndarray | None]) -> None:
        """Let the results of the next call lie in `arrays`, as far as there are any."""
        for slot, values in zip(self._outputs, arrays, strict=True):
            self._words[slot.given] = 0 if values is None else address_of(values)
            self._words[slot.given + 1] = 0 if values is None else values.nbytes

    def _expect(self, slot: _Output, shape: tuple[int, ...]) -> None:
        """Note the shape of the next results, and whether arrays for them are made before the call.

        None are for large ones that may get another shape, or may lie in a donated input: a cache would be allocated for nothing.
        """
        self._words[slot.sizes : slot.sizes + len(shape)] = array("q", shape)
        slot.bytes = slot.dtype.itemsize * math.prod(shape)
        is_large = slot.bytes >= SMALL_BYTES
        is_made_by_entry = is_large and (self._is_donating or not slot.is_static)
        slot.block = block_type(self._library, slot.bytes) if is_large and not is_made_by_entry else None
        self._plan(slot, None if slot.bytes == 0 or is_made_by_entry else shape)

    def _plan(self, slot: _Output, shape: tuple[int, ...] | None) -> None:
        """Have arrays of `shape` made for a result before calls, or none."""
        slot.shape = shape
        self._words[slot.object + _NEW_BYTES] = 0 if shape is None else slot.bytes

    def take_results(self, given: Sequence[np.ndarray | None], reader: ResultReader) -> list[np.ndarray]:
        """The results: those of `given` in which they lie, else what `reader` makes of their descriptors."""
        words, results = self._words, []
        for index, (slot, values) in enumerate(zip(self._outputs, given, strict=True)):
            at = slot.at
            if values is None or words[at] != words[slot.given]:
                results.append(self._read(index, reader))
            elif slot.is_static or words[at + 3 : at + 3 + values.ndim] == array("q", values.shape):
                results.append(values)
            else:
                results.append(values.reshape(words[at + 3 : at + 3 + values.ndim]))
        self._expect_shapes(results)
        return results

    def _read(self, index: int, reader: ResultReader) -> np.ndarray:
        """A result that lies elsewhere. Where memory was given in vain none is given again, unless sizes are dynamic."""
        slot, spec = self._outputs[index], self._signature.outputs[index]
        values = reader.read(spec, self._words[slot.at : slot.at + 3 + spec.rank])
        if slot.is_static and self._words[slot.given]:
            self._plan(slot, None)
        return values

    def _expect_shapes(self, results: Sequence[np.ndarray]) -> None:
        """Expect results of the same shapes from the next call, where dims are dynamic."""
        for slot, values in zip(self._outputs, results, strict=True):
            if not slot.is_static:
                self._expect(slot, values.shape)

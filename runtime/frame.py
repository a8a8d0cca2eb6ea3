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
_CALL_WORDS = 14
"""Words of the runtime's `DlcArrayCall`: entry, arguments, threads, results, their count, limit, cancellations; arrays, inputs'
count, class, weights, their count, sizes of dims, their count. The first seven are its `DlcCall`."""
_MEMORY_WORDS = 3
"""Words of a `DlcMemory`: address, size, name."""
_ARRAY_WORDS = 8
"""Words of a `DlcArray`: object, dtype, item size, rank, descriptor, sizes, bytes of a new one, dims."""
_NEW_BYTES = 6
"""The last of them but one."""
_RAISED = 1
"""The `DlcOutcome` of a call whose entry raised an error."""


class _Output:
    """One result: where its descriptor, its array, its expected sizes and the memory given for it are noted.

    The expected sizes are those of the last call when dims are dynamic. `block` is the type of the runtime's memory for one that
    is large.
    """

    __slots__ = ("at", "block", "dtype", "given", "is_static", "label", "object", "rank", "sizes")

    def __init__(self, spec: TensorSpec, at: int, place: int, sizes: int, given: int) -> None:
        self.at, self.object, self.sizes, self.given = at, place, sizes, given
        self.dtype, self.rank = spec.numpy_dtype, spec.rank
        self.is_static = all(isinstance(dim, int) for dim in spec.shape)
        self.block: Any = None
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
        dims = sizes[-1]
        numbered, decided = _numbered_dims((*signature.inputs, *signature.outputs))
        objects = dims + len(numbered)
        call = objects + _ARRAY_WORDS * len(specs)
        dim_sizes = call + _CALL_WORDS
        self._words = array("q", bytes(WORD * (dim_sizes + decided)))
        self._words[dims:objects] = numbered
        base = self._words.buffer_info()[0]
        for index, place in enumerate(records):
            self._words[pointers + index] = base + WORD * place
            self._words[table + index] = base + WORD * (pointers + index)
        self._words[table + count : given] = array("q", param_pointers)
        prepared = [entry, base + WORD * table, threads or 0, base + WORD * given, outputs, limit or 0, cancellations]
        self._words[call : call + len(prepared)] = array("q", prepared)
        begin, length = self._weights.buffer_info()
        arrays = [base + WORD * objects, inputs, id(np.ndarray), begin, length // 2, base + WORD * dim_sizes, decided]
        self._words[call + len(prepared) : dim_sizes] = array("q", arrays)
        self.address = base + WORD * call
        self.pointer = ctypes.c_void_p(self.address)
        array_places = [objects + _ARRAY_WORDS * index for index in range(len(specs))]
        self._inputs = places[outputs:-1]
        self._input_objects = array_places[:inputs]
        self._outputs = [
            _Output(spec, at, place, size, given + _MEMORY_WORDS * index)
            for index, (spec, at, place, size) in enumerate(
                zip(signature.outputs, places, array_places[inputs:], sizes, strict=False)
            )
        ]
        for spec, at, place in zip(signature.inputs, self._inputs, self._input_objects, strict=True):
            self._note_array(spec, place, at, at + 3, dims)
            dims += spec.rank
        for spec, slot in zip(signature.outputs, self._outputs, strict=True):
            self._note_array(spec, slot.object, slot.at, slot.sizes, dims)
            dims += spec.rank
            self._words[slot.given + 2] = ctypes.addressof(slot.label)
            if slot.is_static:
                self._expect(slot, tuple(dim for dim in spec.shape if isinstance(dim, int)))

    def _note_array(self, spec: TensorSpec, place: int, descriptor: int, sizes: int, dims: int) -> None:
        """Write a `DlcArray`; no array has its sizes yet."""
        base, dtype = self._words.buffer_info()[0], spec.numpy_dtype
        fields = [0, id(dtype), dtype.itemsize, spec.rank, *(base + WORD * at for at in (descriptor, sizes)), 0, base + WORD * dims]
        self._words[place : place + _ARRAY_WORDS] = array("q", fields)
        self._words[sizes : sizes + spec.rank] = array("q", [-1] * spec.rank)

    def bind(self, arguments: Sequence[Any]) -> list[np.ndarray | None] | None:
        """Prepare a call with row-major arrays of the model's types: the arrays for `take_results` after it.

        None for any other arguments.
        """
        if len(arguments) != len(self._input_objects):
            return None
        for place, value in zip(self._input_objects, arguments):  # noqa: B905  # checked, and 0.1 us faster
            self._words[place] = id(value)
        if self._library.bind_inputs(self.pointer, 1):
            return None
        given = self.new_results()
        self.give_memory(given)
        return given

    def finish(self, outcome: int, given: Sequence[np.ndarray | None], reader: ResultReader) -> list[np.ndarray]:
        """The results of a call that came to `outcome`: an error, or results that may lie elsewhere than in `given`."""
        if outcome == _RAISED:
            raise self._library.last_error()
        return self.take_results(given, reader)

    def describe_inputs(self, arrays: Iterable[np.ndarray]) -> None:
        """Point the descriptors at arrays that fit."""
        for at, values in zip(self._inputs, arrays, strict=True):
            descriptor = array("q", describe(values))
            self._words[at : at + len(descriptor)] = descriptor

    def new_results(self) -> list[np.ndarray | None]:
        """New arrays for the results whose shapes are known or guessed, None for the others."""
        return [self._new_result(slot) if self._words[slot.object + _NEW_BYTES] else None for slot in self._outputs]

    def _new_result(self, slot: _Output) -> np.ndarray:
        """An array of the expected sizes; a large one in the runtime's memory, which was in use before and costs no page faults."""
        shape = self._words[slot.sizes : slot.sizes + slot.rank].tolist()
        if slot.block is None:
            return np.empty(shape, slot.dtype)
        size = self._words[slot.object + _NEW_BYTES]
        address = self._library.try_allocate(0, size)
        if address is None:
            address = self._library.allocate(size, what=slot.label.value.decode())  # raises, or there is memory by now
        return np.ndarray(shape, slot.dtype, slot.block.from_address(address))

    def give_memory(self, arrays: Sequence[np.ndarray | None]) -> None:
        """Let the results of the next call lie in `arrays`, as far as there are any."""
        for slot, values in zip(self._outputs, arrays, strict=True):
            self._words[slot.given] = 0 if values is None else address_of(values)
            self._words[slot.given + 1] = 0 if values is None else values.nbytes

    def _expect(self, slot: _Output, shape: tuple[int, ...]) -> None:
        """Note the shape of the next results, and whether arrays for them are made before the call.

        None are for large ones that may get another shape, or may lie in a donated input: a cache would be allocated for nothing.
        """
        size = slot.dtype.itemsize * math.prod(shape)
        is_large = size >= SMALL_BYTES
        is_made_by_entry = is_large and (self._is_donating or not slot.is_static)
        self._words[slot.sizes : slot.sizes + slot.rank] = array("q", shape)
        self._words[slot.object + _NEW_BYTES] = 0 if is_made_by_entry else size
        slot.block = block_type(self._library, size) if is_large and not is_made_by_entry else None

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
            self._words[slot.object + _NEW_BYTES] = 0
        return values

    def _expect_shapes(self, results: Sequence[np.ndarray]) -> None:
        """Expect results of the same shapes from the next call, where dims are dynamic."""
        for slot, values in zip(self._outputs, results, strict=True):
            if not slot.is_static:
                self._expect(slot, values.shape)


def _numbered_dims(specs: Iterable[TensorSpec]) -> tuple[array[int], int]:
    """The `dims` of each spec's `DlcArray`, one after the other, and how many of them calls decide."""
    numbers: dict[object, int] = {}
    words = array("q")
    for spec in specs:
        for dim in spec.shape:
            key = object() if dim is None else dim  # each unnamed dim has a size of its own
            words.append(dim if isinstance(dim, int) else ~numbers.setdefault(key, len(numbers)))
    return words, len(numbers)

"""The memory of one call: descriptors of inputs and results, the table of pointers to them, and where results may lie."""

from __future__ import annotations

import ctypes
import itertools
import math
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from dlc.runtime.arguments import bind_arguments
from dlc.runtime.descriptors import address_of, describe
from dlc.runtime.results import SMALL_BYTES, ResultReader
from dlc.runtime.signature import Signature, TensorSpec

WORD = 8
_CALL_WORDS = 5
"""Words of the runtime's `DlcCall`: entry, arguments, threads, results, their count."""


class _Input:
    """One input: where its descriptor begins, and the shape that the descriptor has now."""

    __slots__ = ("at", "dtype", "shape")

    def __init__(self, spec: TensorSpec, at: int) -> None:
        self.at = at
        self.dtype = spec.numpy_dtype
        self.shape: tuple[int, ...] | None = None


class _Output:
    """One result: where its descriptor and the memory given for it are noted, and the shape that is expected.

    `shape` is that of the last call when dims are dynamic, and None when no memory is given: the result is large or lies
    where the entry says.
    """

    __slots__ = ("at", "dtype", "given", "is_static", "shape")

    def __init__(self, spec: TensorSpec, at: int, given: int) -> None:
        self.at, self.given = at, given
        self.dtype = spec.numpy_dtype
        self.is_static = all(isinstance(dim, int) for dim in spec.shape)
        self.shape: tuple[int, ...] | None = None


class Frame:
    """What a call of the entry needs, in 8-byte words that stay where they are.

    A session keeps its frames from call to call: all but addresses and dynamic sizes stays the same. One call at a time uses
    a frame. `pointer` is its `DlcCall`, for the runtime.
    """

    def __init__(self, entry: int, signature: Signature, param_pointers: Sequence[int] = (), threads: int | None = None) -> None:
        self._signature = signature
        specs = (*signature.outputs, *signature.inputs)
        places = list(itertools.accumulate((3 + 2 * spec.rank for spec in specs), initial=0))
        outputs = len(signature.outputs)
        records = [*places[:outputs][:1], *places[outputs:-1]]
        pointers, count = places[-1], len(records)
        table = pointers + count
        given = table + count + len(param_pointers)
        call = given + 2 * outputs
        self._words = array("q", bytes(WORD * (call + _CALL_WORDS)))
        base = self._words.buffer_info()[0]
        for index, place in enumerate(records):
            self._words[pointers + index] = base + WORD * place
            self._words[table + index] = base + WORD * (pointers + index)
        self._words[table + count : given] = array("q", param_pointers)
        self._words[call:] = array("q", [entry, base + WORD * table, threads or 0, base + WORD * given, outputs])
        self.pointer = ctypes.c_void_p(base + WORD * call)
        self._inputs = [_Input(spec, at) for spec, at in zip(signature.inputs, places[outputs:], strict=False)]
        self._outputs = [
            _Output(spec, at, given + 2 * index) for index, (spec, at) in enumerate(zip(signature.outputs, places, strict=False))
        ]
        self._names = dict.fromkeys(spec.name for spec in signature.inputs).keys()
        self._is_donating = any(spec.donated for spec in signature.inputs)
        for output, spec in zip(self._outputs, signature.outputs, strict=True):
            if output.is_static:
                self._expect(output, tuple(dim for dim in spec.shape if isinstance(dim, int)))

    def bind(self, arguments: Sequence[Any]) -> Sequence[np.ndarray]:
        """Point the descriptors at the arguments of a call; returns the arrays, which must live until it ends.

        `InvalidInputError` if they do not fit. Arrays of the shapes of the last call take the short way.
        """
        words = self._words
        if len(arguments) == 1 and type(arguments[0]) is dict and arguments[0].keys() == self._names:
            arguments = [arguments[0][name] for name in self._names]
        if self._is_donating or len(arguments) != len(self._inputs):
            return self._bind_slowly(arguments)
        for slot, value in zip(self._inputs, arguments, strict=True):
            if type(value) is not np.ndarray or value.dtype is not slot.dtype or value.shape != slot.shape:
                return self._bind_slowly(arguments)
            if not value.flags.carray:  # row-major, aligned and writable
                return self._bind_slowly(arguments)
            words[slot.at] = words[slot.at + 1] = address_of(value)
        return arguments

    def _bind_slowly(self, arguments: Sequence[Any]) -> list[np.ndarray]:
        arrays = bind_arguments(self._signature.inputs, arguments)
        self.describe_inputs(arrays)
        return arrays

    def describe_inputs(self, arrays: Sequence[np.ndarray]) -> None:
        """Point the descriptors at arrays that fit."""
        words = self._words
        for slot, values in zip(self._inputs, arrays, strict=True):
            if values.shape != slot.shape:
                descriptor = array("q", describe(values))
                words[slot.at : slot.at + len(descriptor)] = descriptor
                slot.shape = values.shape
            else:
                words[slot.at] = words[slot.at + 1] = address_of(values)

    def give_results(self) -> list[np.ndarray | None]:
        """New arrays for the small results whose shapes are known or guessed, None for the others."""
        words = self._words
        arrays: list[np.ndarray | None] = []
        for slot in self._outputs:
            if slot.shape is None:
                arrays.append(None)
                continue
            values = np.empty(slot.shape, slot.dtype)
            words[slot.given] = address_of(values)
            arrays.append(values)
        return arrays

    def give_memory(self, arrays: Sequence[np.ndarray | None]) -> None:
        """Let results lie in `arrays`, as far as there are any; `forget_memory` must follow."""
        for slot, values in zip(self._outputs, arrays, strict=True):
            self._words[slot.given] = 0 if values is None else address_of(values)
            self._words[slot.given + 1] = 0 if values is None else values.nbytes

    def forget_memory(self) -> None:
        """Expect again what was expected before `give_memory`."""
        for slot in self._outputs:
            self._expect(slot, slot.shape)

    def _expect(self, slot: _Output, shape: tuple[int, ...] | None) -> None:
        """Give memory for results of this shape from the next call on, if it is little."""
        size = 0 if shape is None else slot.dtype.itemsize * math.prod(shape)
        slot.shape = shape if 0 < size < SMALL_BYTES else None
        self._words[slot.given] = 0
        self._words[slot.given + 1] = 0 if slot.shape is None else size

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
        return results

    def _read(self, index: int, reader: ResultReader) -> np.ndarray:
        """A result that lies elsewhere. Where memory was given in vain none is given again, unless sizes are dynamic."""
        slot, spec = self._outputs[index], self._signature.outputs[index]
        descriptor = self._words[slot.at : slot.at + 3 + spec.rank]
        values = reader.read(spec, descriptor)
        self._expect(slot, None if slot.is_static else values.shape)
        return values

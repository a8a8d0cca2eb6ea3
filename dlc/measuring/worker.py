"""A process that holds one engine and times calls of one model at a time for its caller (see `contenders.py`).

It reads requests from standard input and answers on standard output until its caller ends.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dlc.errors import DLCError
from dlc.measuring.engines import ENGINES, LoadedModel, LoadOptions
from dlc.targets.cpu.protocol import error_record, receive, send


class Worker:
    """Answers requests `load`, `run` and `time`, each a record and, for arrays, the bytes of a .npz file."""

    def __init__(self, engine: str) -> None:
        self._engine = ENGINES[engine]
        self._model: LoadedModel | None = None

    def answer(self, record: Mapping[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
        """The reply to one request; errors of any kind are a reply, too."""
        try:
            if record["do"] == "load":
                return self._load(record, content), b""
            if self._model is None:
                raise DLCError("no model is loaded")
            if record["do"] == "run":
                self._model.call()
                return {}, pack_arrays({str(index): array for index, array in enumerate(self._model.outputs())})
            return {"seconds": time_calls(self._model, record["calls"], record["warm"])}, b""
        except DLCError as error:
            return {"error": error_record(error)}, b""
        except Exception as error:  # engines have exception types of their own
            first = str(error).strip().split("\n")[0]
            return {"error": error_record(DLCError(f"{type(error).__name__}: {first}"))}, b""

    def _load(self, record: Mapping[str, Any], content: bytes) -> dict[str, Any]:
        self._model = None
        gc.collect()
        begin = time.perf_counter()
        self._model = self._engine.load(Path(record["file"]), unpack_arrays(content), load_options(record["options"]))
        return {"seconds": time.perf_counter() - begin}


def load_options(record: Mapping[str, Any]) -> LoadOptions:
    """What `dataclasses.asdict` made a record."""
    return LoadOptions(**{**record, "donate": tuple(record.get("donate", ()))})


def time_calls(model: LoadedModel, calls: int, warm: int) -> list[float]:
    """Seconds of each of `calls` calls, after `warm` calls that bring code and data back into the caches."""
    seconds = [0.0] * calls
    clock, call = time.perf_counter, model.call
    gc.disable()
    for _ in range(warm):
        call()
    for index in range(calls):
        begin = clock()
        call()
        seconds[index] = clock() - begin
    gc.enable()
    return seconds


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Named arrays as bytes; element types that NumPy does not know go as their bits, strings as arrays of `str_`."""
    stream = io.BytesIO()
    kinds = {name: str(array.dtype) for name, array in arrays.items()}
    plain = {f"a {name}": _plain(array) for name, array in arrays.items()}
    np.savez(stream, allow_pickle=False, **plain, **{f"t {name}": np.array(kind) for name, kind in kinds.items()})  # type: ignore[arg-type]
    return stream.getvalue()


def _plain(array: np.ndarray) -> np.ndarray:
    if array.dtype == object:
        return array.astype(np.str_)
    return array.view(f"u{array.itemsize}") if array.dtype.kind == "V" else array


def unpack_arrays(content: bytes) -> dict[str, np.ndarray]:
    """The arrays that `pack_arrays` packed."""
    import ml_dtypes  # registers bfloat16 and the like with NumPy

    del ml_dtypes
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        names = [name[2:] for name in file.files if name.startswith("a ")]
        return {name: _unpacked(file[f"a {name}"], str(file[f"t {name}"])) for name in names}


def _unpacked(array: np.ndarray, kind: str) -> np.ndarray:
    return array.astype(object) if kind == "object" else array.view(np.dtype(kind))


def main(engine: str) -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is the caller's
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what engines print must not get between the answers
    worker = Worker(engine)
    while (request := receive(requests)) is not None:
        send(answers, *worker.answer(*request))

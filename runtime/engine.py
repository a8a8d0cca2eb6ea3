"""Engine files: a compiled model that runs without the compiler. The native library reads and maps them (`dlc/runtime.h`)."""

from __future__ import annotations

import copy
import ctypes
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import NUMPY_DTYPES
from ..errors import InvalidInputError, RuntimeLoadError, quoted
from ..memory_limit import memory_limit as find_limit
from .arguments import check_num_threads
from .callable_model import CallableModel
from .library import RuntimeLibrary, load_library
from .session import Session
from .signature import Signature, TensorSpec

if TYPE_CHECKING:
    from .gpu_model import GpuModel

_POINTER, _INT = ctypes.c_void_p, ctypes.c_int64
_SAME_BYTES = {1: "ui8", 2: "ui16", 4: "ui32", 8: "ui64"}
"""Types that NumPy has, by the bytes of an element: the entry alone knows what its parameters hold."""
_BYTES = {"f64": 8, "i64": 8, "ui64": 8, "f32": 4, "i32": 4, "ui32": 4, "f16": 2, "bf16": 2, "i16": 2, "ui16": 2}
"""Of an element; all other types have one."""


class _Options(ctypes.Structure):
    """`dlc_options`."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("threads", _INT),
        ("memory_limit", _INT),
        ("weights", ctypes.c_char_p),
        ("verify_at_load", ctypes.c_int32),
    )


class _Handle:
    """A `dlc_engine`, freed with the last object that needs its code or weights."""

    def __init__(self, library: RuntimeLibrary, address: int, keepalive: object) -> None:
        self._free = library.function("dlc_engine_free", [_POINTER], None)
        self.address, self._keepalive = address, keepalive

    def __del__(self) -> None:
        self._free(self.address)


@dataclass(frozen=True)
class _OnGpu:
    """What a session of an engine for a GPU works with (`CodeOnGpu`)."""

    model: GpuModel


class Engine(CallableModel):
    """A model from an engine file, called like a compiled one. `load` makes it.

    `target` is the variant that was chosen for this machine, `manifest` what the file says of itself (docs/engine-format.md).
    """

    def __init__(self, handle: _Handle, name: str, num_threads: int | None, limit: int | None) -> None:
        self._library = load_library()
        self._handle, self._name = handle, name
        self._num_threads, self._limit = num_threads, limit
        self._lock = threading.Lock()
        self._bound: Session | None = None
        self.manifest: Mapping[str, Any] = json.loads(_manifest_text(self._library, handle))
        number = self._library.function("dlc_engine_variant", [_POINTER], _INT)(handle.address)
        self._variant: Mapping[str, Any] = self.manifest["variants"][number]
        self.target: str = self._variant["target"]
        self._gpu = _model_on_gpu(self._library, handle) if "gpu" in self._variant else None
        signature = self.manifest["signature"]
        self._inputs, self._outputs = (tuple(_spec(self._name, each) for each in signature[kind]) for kind in ("inputs", "outputs"))

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape (a str or None is a dynamic dim) and dtype of each input, in order."""
        return self._inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each output, in order."""
        return self._outputs

    @property
    def profiled(self) -> tuple[str, ...]:
        """Names of the kernels by rows of the runtime's profile, from row 1 on; none unless compiled with `profile`."""
        return tuple(self._variant["profiled"])

    def verify(self) -> None:
        """Compare the weights with their checksum, which the first call does by itself. `RuntimeLoadError` if they are damaged."""
        if self._library.function("dlc_engine_verify", [_POINTER], ctypes.c_int32)(self._handle.address):
            raise self._library.last_error()

    @property
    def _session(self) -> Session:  # type: ignore[override]
        """Made at the first call, which has checked the weights."""
        return self._bound or self._bind()

    def _bind(self) -> Session:
        with self._lock:
            if self._bound is None:
                self.verify()
                params = self._variant["params"]
                specs = tuple(
                    TensorSpec(str(index), tuple(param["shape"]), _SAME_BYTES[_BYTES.get(param["dtype"], 1)])
                    for index, param in enumerate(params)
                )
                signature = Signature("", self._inputs, self._outputs, specs)
                entry = self._library.function("dlc_engine_entry", [_POINTER], _POINTER)(self._handle.address)
                arrays = self._params(specs)
                kind, code = (Session, self._handle) if self._gpu is None else _session_on_gpu(self._gpu)
                self._bound = kind(entry, signature, arrays, code, self._num_threads, memory_limit=self._limit)
        return self._bound

    def _params(self, specs: Sequence[TensorSpec]) -> dict[str, np.ndarray]:
        """The parameters, as they lie in the mapped file."""
        block = _weights(self._library, self._handle, self.manifest)
        found = {}
        for spec, param in zip(specs, self._variant["params"], strict=True):
            shape = tuple(dim for dim in spec.shape if isinstance(dim, int))
            found[spec.name] = np.ndarray(shape, spec.numpy_dtype, block.data, param["offset"])
        return found

    def with_threads(self, num_threads: int | None) -> Engine:
        """The same engine, in the same memory, whose calls take `num_threads` threads (None: all processors); on a GPU just it."""
        check_num_threads(num_threads)
        if self._gpu is not None:
            return self
        engine = copy.copy(self)
        engine._num_threads, engine._lock = num_threads, threading.Lock()
        engine._bound = self._session.with_threads(num_threads)
        return engine

    def cancel(self) -> None:
        """End all calls of the engine that run now in other threads, see `CallableModel.cancel`."""
        if self._bound is not None:
            self._bound.cancel()

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, specs)) for specs in (self._inputs, self._outputs))
        return f"<dlc.Engine {self._name} for {self.target}: ({inputs}) -> ({outputs})>"


def load(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview,
    num_threads: int | None = None,
    *,
    weights: str | os.PathLike[str] | None = None,
    memory_limit: int | str | None = None,
    verify: bool = False,
    verify_key: str | os.PathLike[str] | None = None,
) -> Engine:
    """Load an engine file, or its bytes; the code for this machine is mapped, nothing is compiled or computed.

    Of its variants, one for the GPU is used where there is a GPU that runs it, else one for the processor.

    `num_threads` and `memory_limit` are those of `dlc.compile`. `weights` is the file of weights that lie apart; by default it has
    its name beside the engine. Weights are compared with their checksum at the first call, or now with `verify`. The file must not
    be changed while the engine lives; to replace it, rename another over it. Set `DLC_VERBOSE=1` to be told which variant is used.
    With `verify_key`, a file with an Ed25519 public key (PEM), the engine must be one that `--sign-key` has signed with the private
    half: all of it is read and compared before anything runs.
    Raises `RuntimeLoadError` for a file that is no engine, damaged, not signed so or of another version, `TargetError` for one that
    this machine cannot run.
    """
    check_num_threads(num_threads)
    if not isinstance(verify, bool):
        raise InvalidInputError(f"verify must be True or False, not {quoted(verify)}")
    limit, library = find_limit(memory_limit), load_library()
    options = _Options(
        ctypes.sizeof(_Options), num_threads or 0, limit or 0, None if weights is None else os.fsencode(_path(weights)), verify
    )
    found = ctypes.c_void_p()
    if isinstance(source, (bytes, bytearray, memoryview)):
        content = _bytes_of(source)
        name, keepalive = "in memory", content
        arguments: list[Any] = [content.ctypes.data, content.nbytes]
        function = library.function("dlc_engine_load_memory", [_POINTER, ctypes.c_size_t, _POINTER, _POINTER], ctypes.c_int32)
    else:
        name, keepalive = _path(source), None
        arguments = [os.fsencode(name)]
        function = library.function("dlc_engine_load", [ctypes.c_char_p, _POINTER, _POINTER], ctypes.c_int32)
    if function(*arguments, ctypes.byref(options), ctypes.byref(found)):
        raise library.last_error()
    handle = _Handle(library, found.value or 0, keepalive)
    if verify_key is not None:
        _check_signature(library, handle, name, verify_key)
    return Engine(handle, name, num_threads, limit)


def _model_on_gpu(library: RuntimeLibrary, handle: _Handle) -> GpuModel:
    """The engine's kernels on the GPU, which go with the engine."""
    from .gpu_model import GpuModel  # which engines for processors do without

    address = library.function("dlc_engine_gpu", [_POINTER], _POINTER)(handle.address)
    if not address:
        raise library.last_error()
    return GpuModel(address, _let_go, handle)


def _let_go(handle: _Handle) -> None:
    """The end of a model on the GPU, which has kept `handle` until now."""


def _session_on_gpu(model: GpuModel) -> tuple[type[Session], object]:
    """The kind of a session of an engine for a GPU, and its code."""
    from .gpu_session import GpuSession

    return GpuSession, _OnGpu(model)


def _manifest_text(library: RuntimeLibrary, handle: _Handle) -> bytes:
    size = ctypes.c_size_t()
    read = library.function("dlc_engine_manifest", [_POINTER, _POINTER], _POINTER)
    return ctypes.string_at(read(handle.address, ctypes.byref(size)), size.value)


def _weights(library: RuntimeLibrary, handle: _Handle, manifest: Mapping[str, Any]) -> np.ndarray:
    """The bytes of the weights, as they are mapped."""
    return _view(library.function("dlc_engine_weights", [_POINTER], _POINTER)(handle.address), manifest["weights"]["size"])


def _view(address: int, size: int) -> np.ndarray:
    """Bytes that are mapped and may not be written."""
    if not size:
        return np.empty(0, np.uint8)
    block: Any = (ctypes.c_char * size).from_address(address)
    view = np.frombuffer(block, np.uint8)
    view.flags.writeable = False
    return view


def _check_signature(library: RuntimeLibrary, handle: _Handle, name: str, key: str | os.PathLike[str]) -> None:
    """Compare what is mapped, which is what would run, with what was signed."""
    from .engine_signature import check_signature

    size = ctypes.c_uint64()
    file = _view(
        library.function("dlc_engine_bytes", [_POINTER, _POINTER], _POINTER)(handle.address, ctypes.byref(size)), size.value
    )
    text = _manifest_text(library, handle)

    def parts() -> Iterator[tuple[str, np.ndarray, str]]:
        manifest = json.loads(text)
        for variant in manifest["variants"]:
            code = variant["code"]
            yield f"code for {variant['target']}", file[code["offset"] : code["offset"] + code["size"]], code["sha256"]
            for part in variant.get("gpu", {}).get("kernels", ()):
                yield f"kernels for {variant['target']}", file[part["offset"] : part["offset"] + part["size"]], part["sha256"]
        yield "weights", _weights(library, handle, manifest), manifest["weights"]["sha256"]

    check_signature(f"'{name}'", file, text, parts(), key)


def _bytes_of(source: bytes | bytearray | memoryview) -> np.ndarray:
    try:
        return np.frombuffer(source, np.uint8)
    except BufferError:
        raise InvalidInputError("the bytes of an engine do not lie one behind the other; give bytes(source)") from None


def _path(given: str | os.PathLike[str]) -> str:
    if not isinstance(given, (str, bytes, os.PathLike)):
        raise InvalidInputError(f"an engine, its weights and its key are files, or bytes of an engine, not {type(given).__name__}")
    path = os.fsdecode(given)
    if "\0" in path or not _is_encodable(path):
        raise RuntimeLoadError(f"{path!r} is no path of a file")
    return path


def _is_encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _spec(engine: str, entry: Mapping[str, Any]) -> TensorSpec:
    dtype = entry["dtype"]
    if dtype not in NUMPY_DTYPES:
        raise RuntimeLoadError(f"'{engine}': '{entry['name']}' is of {dtype}, which NumPy has by the package ml_dtypes; install it")
    return TensorSpec(entry["name"], tuple(entry["shape"]), dtype, entry["donated"])

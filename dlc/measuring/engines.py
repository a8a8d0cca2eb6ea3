"""What can run a model: dlc, onnxruntime, OpenVINO, IREE, OpenBLAS for single products of matrices, and engines for GPUs.

An engine is loaded in a process of its own (`worker.py`), so their thread pools and allocators do not meet.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from dlc.errors import InvalidInputError
from dlc.option_values import DEFAULT_TARGET
from dlc.targets.machine import GpuMachine
from dlc.targets.registry import find_target
from dlc.versions.spelling import read_spelled_sizes

if TYPE_CHECKING:
    import onnx

    import dlc

PEAK = "peak"
"""Stands among the engines for the limit of one core; its result is no result of the model."""
BASELINE = "baseline"
"""Stands among the engines for dlc as another checkout has it, in that checkout's environment."""
NOT_INSTALLED = "not installed"
"""How the failure of an engine begins that is not there."""
Precision = Literal["f32", "tf32", "bf16"]
Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class LoadOptions:
    """How a model is loaded. What dlc alone knows: `donate` names inputs that it may write; `lenient`, `timeout` and
    `schedule`, a file, are those of `compile`, and `values` are those of inputs that it makes constants. `sizes` are those of dims,
    as `--sizes` has them; with `specialize`, calls begin once their sizes have a version. Unless a model
    `is_dynamic`, OpenVINO is told the sizes of its inputs. `target` is what dlc compiles for; on a GPU, inputs lie there already.
    """

    threads: int = 1
    precision: Precision = "f32"
    shapes: Mapping[str, Sequence[int | str]] = field(default_factory=dict)
    donate: tuple[str, ...] = ()
    lenient: bool = False
    timeout: float | None = None
    schedule: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    sizes: tuple[str, ...] = ()
    specialize: str | None = None
    is_dynamic: bool = False
    target: str = DEFAULT_TARGET

    @property
    def all_shapes(self) -> dict[str, Any] | None:
        """Shapes of inputs and sizes of dims together."""
        return {**self.shapes, **read_spelled_sizes(self.sizes)} or None


class LoadedModel(Protocol):
    """A model with its inputs bound: calls copy nothing that the engine lets one avoid."""

    def call(self) -> None:
        """Run once."""

    def outputs(self) -> list[np.ndarray]:
        """The outputs of the last call, in the model's order."""


Loader = Callable[[Path, Arrays, LoadOptions], LoadedModel]


@dataclass(frozen=True)
class KnownEngine:
    """An engine by name: the module that has it, what to install for that, how a model is loaded, which files it reads."""

    name: str
    module: str
    package: str
    load: Loader
    suffixes: tuple[str, ...] = (".onnx",)

    @property
    def problem(self) -> str:
        """Why the engine cannot run anything; empty where it can."""
        return "" if self.installed else f"{NOT_INSTALLED}; pip install {self.package}"

    @property
    def installed(self) -> bool:
        try:
            return importlib.util.find_spec(self.module) is not None
        except ModuleNotFoundError:  # the parent of a dotted name
            return False


def find_engines(names: Sequence[str]) -> list[KnownEngine]:
    """The engines of these names, installed or not; `InvalidInputError` names one that is unknown."""
    known = [name for name in ENGINES if name not in (PEAK, BASELINE)]
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise InvalidInputError(f"error: there is no engine '{unknown}' (engines: {', '.join(known)})")
    return [ENGINES[name] for name in dict.fromkeys(names)]


class _Peak:
    """No model at all: a loop of multiply-adds, which tells the machine's mood in the same rounds."""

    def __init__(self, file: Path, inputs: Arrays, options: LoadOptions) -> None:
        from dlc.measuring.peaks import fma_loop

        del file, inputs, options
        self.call = fma_loop()

    def outputs(self) -> list[np.ndarray]:
        return []


class _Dlc:
    """Inputs and outputs are bound here, too: each call writes the arrays that the first one gave.

    Not so where inputs are donated, where some are strings, or where data decide how large outputs are.
    """

    def __init__(self, file: Path, inputs: Arrays, options: LoadOptions) -> None:
        import dlc
        from dlc.runtime.signature import TensorSpec

        precision = None if options.precision == "f32" else options.precision
        self.model = dlc.compile(
            file,
            options.target,
            options.threads,
            shapes=options.all_shapes,
            donate=options.donate,
            precision=precision,
            lenient=options.lenient,
            timeout=options.timeout,
            schedule=options.schedule,
            values=options.values or None,
            specialize=options.specialize,
        )
        self._inputs = [inputs[spec.name] for spec in self.model.inputs]
        specialize_now(self.model, self._inputs)
        known = {dim for spec in self.model.inputs if isinstance(spec, TensorSpec) for dim in spec.shape}
        sizes = [dim for spec in self.model.outputs if isinstance(spec, TensorSpec) for dim in spec.shape]
        are_numbers = all(isinstance(spec, TensorSpec) for spec in (*self.model.inputs, *self.model.outputs))
        are_known = all(isinstance(dim, int) or (dim is not None and dim in known) for dim in sizes)
        self._binds = not options.donate and are_numbers and are_known
        self._outputs: list[np.ndarray] = []
        self._bound: list[np.ndarray] | None = None
        if isinstance(find_target(options.target).machine(options.target), GpuMachine) and are_numbers:
            self._inputs = [self.model.on_device(values) for values in self._inputs]

    def call(self) -> None:
        self._outputs = self.model.run(self._inputs, self._bound)
        if self._binds:
            self._bound = self._outputs

    def outputs(self) -> list[np.ndarray]:
        return [np.asarray(values) if hasattr(values, "__dlpack_device__") else values for values in self._outputs]


def specialize_now(model: dlc.CompiledModel, inputs: Sequence[np.ndarray]) -> None:
    """Call a model until the sizes of `inputs` have their version, where it makes versions in the background."""
    from dlc.versions.versioned_model import VersionedModel

    if not isinstance(model, VersionedModel):
        return
    while not model.is_settled_for(inputs):
        model(list(inputs))


class OnnxRuntime:
    """Inputs and outputs are bound, so that a call neither copies nor allocates them; strings cannot be."""

    providers: tuple[str, ...] = ("CPUExecutionProvider",)
    device = "cpu"

    def __init__(self, file: Path, inputs: Arrays, options: LoadOptions) -> None:
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.log_severity_level = 3
        settings.intra_op_num_threads, settings.inter_op_num_threads = options.threads, 1
        session = onnxruntime.InferenceSession(onnx_source(file, options), settings, providers=[*self.providers])
        names = [output.name for output in session.get_outputs()]
        self._session, self._binding = session, session.io_binding()
        has_strings = any(entry.type == "tensor(string)" for entry in (*session.get_inputs(), *session.get_outputs()))
        self._fed = dict(inputs) if has_strings else None
        if self._fed:
            return
        self._values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(array, self.device) for name, array in inputs.items()}
        for name, value in self._values.items():
            self._binding.bind_ortvalue_input(name, value)
        for name, array in zip(names, session.run(None, dict(inputs)), strict=True):
            self._values[f"output {name}"] = onnxruntime.OrtValue.ortvalue_from_numpy(np.asarray(array), self.device)
            self._binding.bind_ortvalue_output(name, self._values[f"output {name}"])

    def call(self) -> None:
        if self._fed:
            self._given = self._session.run(None, self._fed)
        else:
            self._session.run_with_iobinding(self._binding)

    def outputs(self) -> list[np.ndarray]:
        return [np.asarray(array) for array in (self._given if self._fed else self._binding.copy_outputs_to_cpu())]


class _OpenVino:
    def __init__(self, file: Path, inputs: Arrays, options: LoadOptions) -> None:
        import openvino

        core = openvino.Core()
        source = onnx_source(file, options)
        model = core.read_model(source) if isinstance(source, str) else core.read_model(model=source)
        for port in model.inputs:  # OpenVINO finds faster code for shapes that it knows
            if port.partial_shape.is_dynamic and not options.is_dynamic:
                model.reshape({name: list(inputs[name].shape) for name in inputs})
                break
        settings = {
            "INFERENCE_NUM_THREADS": options.threads,
            "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": options.precision,
        }
        self._request = core.compile_model(model, "CPU", settings).create_infer_request()
        self._tensors = {name: openvino.Tensor(array, shared_memory=True) for name, array in inputs.items()}
        for name, tensor in self._tensors.items():
            self._request.set_tensor(name, tensor)

    def call(self) -> None:
        self._request.infer()

    def outputs(self) -> list[np.ndarray]:
        return [np.array(tensor.data) for tensor in self._request.output_tensors]


class _Iree:
    """Compiled for this processor; one thread is IREE's synchronous driver."""

    def __init__(self, file: Path, inputs: Arrays, options: LoadOptions) -> None:
        from iree import compiler, runtime
        from iree.compiler.tools.import_onnx import __main__ as importer

        with tempfile.TemporaryDirectory() as folder:
            text, source = Path(folder) / "model.mlir", Path(folder) / "model.onnx"
            source.write_bytes(onnx_model(file, options).SerializeToString())
            importer.main(importer.parse_arguments([str(source), "-o", str(text), "--opset-version", "17"]))
            flags = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"]
            code = compiler.compile_file(str(text), target_backends=["llvm-cpu"], input_type="onnx", extra_args=flags)
        if options.threads > 1:
            runtime.flags.parse_flags(f"--task_topology_group_count={options.threads}")
        config = runtime.Config("local-sync" if options.threads == 1 else "local-task")
        module = runtime.load_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, code), config)
        (name,) = (name for name in module.vm_module.function_names if not name.startswith("__") and not name.endswith("$async"))
        self._function = module[name]
        self._arguments = [runtime.asdevicearray(config.device, np.ascontiguousarray(array)) for array in inputs.values()]
        self._results: object = None

    def call(self) -> None:
        self._results = self._function(*self._arguments)

    def outputs(self) -> list[np.ndarray]:
        results = self._results if isinstance(self._results, tuple | list) else [self._results]
        return [np.asarray(result) for result in results]


class _OpenBlas:
    """NumPy's product of a graph that is one MatMul of an input and an initializer or of two inputs."""

    def __init__(self, file: Path, inputs: Arrays, options: LoadOptions) -> None:
        import onnx
        from onnx import numpy_helper

        graph = onnx.load(file).graph
        nodes = [node for node in graph.node if node.op_type != "Identity"]
        if len(nodes) != 1 or nodes[0].op_type != "MatMul":
            raise InvalidInputError("error: openblas runs graphs of one MatMul only; leave it out of --vs")
        known = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer} | dict(inputs)
        self._left, self._right = (known[name] for name in nodes[0].input)
        self._out = np.empty((*self._left.shape[:-1], self._right.shape[-1]), self._left.dtype)

    def call(self) -> None:
        np.matmul(self._left, self._right, out=self._out)

    def outputs(self) -> list[np.ndarray]:
        return [self._out]


def onnx_source(file: Path, options: LoadOptions) -> str | bytes:
    """The file's name, or its content with other input shapes."""
    return bytes(onnx_model(file, options).SerializeToString()) if options.all_shapes else str(file)


def onnx_model(file: Path, options: LoadOptions) -> onnx.ModelProto:
    from dlc.frontends.onnx.input_shapes import input_shapes
    from dlc.frontends.onnx.loader import load_model, override_shapes

    model, _ = load_model(file)
    shapes = input_shapes(model, options.all_shapes)
    return override_shapes(model, shapes) if shapes else model


def _on_gpu(engine: str, file: Path, inputs: Arrays, options: LoadOptions) -> LoadedModel:
    """A model in an engine for GPUs."""
    from dlc.measuring.gpu_engines import load_on_gpu

    return load_on_gpu(engine, file, inputs, options)


_GPU_ENGINES = (
    ("onnxruntime-cuda", "onnxruntime", "onnxruntime-gpu"),
    ("torch", "onnx2torch", "torch onnx2torch"),
    ("inductor", "onnx2torch", "torch onnx2torch"),
)
"""Name, module and packages. Where the module is there without a GPU, loading says so."""

ENGINES: Mapping[str, KnownEngine] = {
    engine.name: engine
    for engine in (
        KnownEngine(PEAK, "dlc", "dlc", _Peak, (".onnx", ".mlir")),
        KnownEngine("dlc", "dlc", "dlc", _Dlc, (".onnx", ".mlir")),
        KnownEngine(BASELINE, "dlc", "dlc", _Dlc, (".onnx", ".mlir")),
        KnownEngine("onnxruntime", "onnxruntime", "onnxruntime", OnnxRuntime),
        KnownEngine("openvino", "openvino", "openvino", _OpenVino),
        KnownEngine("iree", "iree.compiler", "iree-base-compiler iree-base-runtime", _Iree),
        KnownEngine("openblas", "numpy", "numpy", _OpenBlas),
        *(KnownEngine(name, module, package, partial(_on_gpu, name)) for name, module, package in _GPU_ENGINES),
    )
}

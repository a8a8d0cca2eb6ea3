"""`dlc.compile`: every kind of model, every option, and what importing costs."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import dlc
from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph

_W = np.random.default_rng(0).standard_normal((8, 32)).astype(np.float32)
_X = np.random.default_rng(1).standard_normal((3, 8)).astype(np.float32)

LINALG = """
func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %sum = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def graph() -> Graph:
    with Graph() as graph:
        graph.output("y", dl.matmul(graph.input("x", ("n", 8)), graph.param("w", _W)))
    return graph


@pytest.fixture(scope="module")
def proto() -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 32])
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="product")
    made = helper.make_graph([node], "product", [x], [y], [numpy_helper.from_array(_W, "w")])
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def _is_product(model: dlc.CompiledModel) -> bool:
    return np.allclose(model(_X)[0], _X @ _W, rtol=1e-5, atol=1e-5)


def test_onnx(proto: onnx.ModelProto, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    onnx.save(proto, file)
    for model in (proto, file, str(file), dlc.import_onnx(proto), dlc.import_onnx(file)):
        assert _is_product(dlc.compile(model))
    assert dlc.compile(proto, shapes={"x": [3, 8]}).inputs[0].shape == (3, 8)


def test_module_and_text(graph: Graph) -> None:
    before, contexts = str(graph.module), ir.Context._get_live_count()
    assert _is_product(dlc.compile(graph.module, params=graph.params))
    assert _is_product(dlc.compile(str(graph.module), params=graph.params))
    assert str(graph.module) == before
    assert graph.module.context == graph.context
    assert ir.Context._get_live_count() == contexts


def test_mlir_files(graph: Graph, tmp_path: Path) -> None:
    dlc.save_params(tmp_path / "w.safetensors", graph.params)
    with_reference = str(graph.module).replace("module {", 'module attributes {dl.params = "w.safetensors"} {', 1)
    (tmp_path / "model.mlir").write_text(with_reference)
    buffer = io.BytesIO()
    dlc.parse_module(with_reference.encode(), "text").operation.write_bytecode(buffer)
    (tmp_path / "model.mlirbc").write_bytes(buffer.getvalue())
    for name in ("model.mlir", "model.mlirbc"):
        assert _is_product(dlc.compile(tmp_path / name))
        assert not np.any(dlc.compile(tmp_path / name, params={"w": np.zeros_like(_W)})(_X)[0])
    with pytest.raises(dlc.ParseError, match=r"w\.safetensors: error: the module's weights .* are not there"):
        dlc.compile(with_reference)
    assert _is_product(dlc.compile(with_reference, params=graph.params))


def test_linalg_by_hand_needs_no_signature() -> None:
    model = dlc.compile(LINALG)
    assert str(model.inputs[0]) == "arg0: f32[4]"
    np.testing.assert_array_equal(model(np.arange(4, dtype=np.float32))[0], np.arange(4) * 2)


def test_lowered_modules_keep_their_signature() -> None:
    """Types of the dl level, which the types of lower levels do not tell."""
    with Graph() as graph:
        graph.output("y", dl.cast(graph.input("x", ("n",), "ui8"), to="i32"))
    for level in ("linalg", "affine", "llvm"):
        model = dlc.compile(dlc.lower(graph.module, to=level))
        assert [str(spec) for spec in (*model.inputs, *model.outputs)] == ["x: ui8[n]", "y: i32[n]"]
        np.testing.assert_array_equal(model(np.array([0, 200], np.uint8))[0], [0, 200])


def test_modules_without_an_entry() -> None:
    with pytest.raises(dlc.PassError, match="no public function with a body"):
        dlc.compile("module {}")
    with pytest.raises(dlc.PassError, match="memref"):
        dlc.compile("func.func @f(%x: memref<4xf32>) {\n  return\n}\n")


def test_progress_names_the_steps(graph: Graph) -> None:
    seen: list[str] = []
    dlc.compile(graph.module, params=graph.params, progress=seen.append)
    assert seen[0] == "dl-name-result-dims"
    assert "convert-dl-to-linalg" in seen
    assert seen[-1].startswith("generate machine code (")


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
def test_opt_levels(graph: Graph, opt_level: int) -> None:
    assert _is_product(dlc.compile(graph.module, params=graph.params, opt_level=opt_level))


def test_the_number_of_threads_changes_no_bit() -> None:
    with Graph() as graph:
        x = graph.input("x", (96, 256))
        product = dl.matmul(x, graph.param("w", np.random.default_rng(2).standard_normal((256, 512)).astype(np.float32)))
        graph.output("y", dl.softmax(product, axis=-1))
    x_value = np.random.default_rng(3).standard_normal((96, 256)).astype(np.float32)
    one, two = (dlc.compile(graph.module, params=graph.params, num_threads=count)(x_value)[0] for count in (1, 2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_threads": 0}, dlc.InvalidInputError, "num_threads must be a positive integer of 31 bits or None, not 0"),
        ({"num_threads": "2"}, dlc.InvalidInputError, "num_threads"),
        ({"opt_level": 4}, dlc.InvalidInputError, "opt_level must be 0, 1, 2 or 3, not 4"),
        ({"target": "abacus"}, dlc.TargetError, "unknown target 'abacus' .targets: cpu"),
        ({"shapes": {"x": [1, 8]}}, dlc.InvalidInputError, "for ONNX models only"),
        ({"params": {}}, dlc.InvalidInputError, "'w'"),
    ],
)
def test_options_that_do_not_fit(graph: Graph, options: dict, error: type[dlc.DLCError], message: str) -> None:
    with pytest.raises(error, match=message):
        dlc.compile(graph.module, **options)


def test_random_inputs() -> None:
    with Graph() as graph:
        graph.output("y", dl.gather(graph.input("x", ("n", 4)), graph.input("i", (None, 2), "i64"), axis=0))
    model = dlc.compile(graph.module)
    arrays = dlc.random_inputs(model.inputs, seed=1, sizes={"n": 5})
    assert {name: (array.shape, array.dtype.name) for name, array in arrays.items()} == {
        "x": ((5, 4), "float32"),
        "i": ((1, 2), "int64"),
    }
    np.testing.assert_array_equal(model(arrays)[0], arrays["x"][arrays["i"]])


_IMPORTS = """
import sys
before = set(sys.modules)
import dlc
assert callable(dlc.DLCError) and "compile" in dir(dlc)
print(*sorted(set(sys.modules) - before))
"""


def test_importing_dlc_imports_nothing_else() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", _IMPORTS], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    roots = {name.split(".")[0] for name in done.stdout.split()}
    assert not roots & {"numpy", "onnx", "torch_mlir", "mlir", "torch", "click", "safetensors", "ml_dtypes"}


RELU = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
_COMPILES = "import sys, dlc; print(dlc.compile(sys.argv[1]).build_report.whole, *sorted(sys.modules))"


def test_a_model_in_the_cache_is_loaded_without_passes_on_loops(tmp_path: Path) -> None:
    file = tmp_path / "relu.mlir"
    file.write_text(RELU)
    command = [sys.executable, "-c", _COMPILES, file]
    environment = os.environ | {"DLC_CACHE_DIR": str(tmp_path / "cache")}
    cold, warm = (subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2))
    assert cold.stdout.split()[0] == "False" and "dlc.lowering.affine.search.choose" in cold.stdout.split()
    assert warm.stdout.split()[0] == "True"
    assert "islpy" not in warm.stdout.split()
    assert not any(name.startswith(("dlc.lowering.affine.", "torch_mlir.dialects.linalg")) for name in warm.stdout.split())


def test_public_names() -> None:
    assert all(getattr(dlc, name) is not None for name in dlc.__all__)
    with pytest.raises(AttributeError, match="no attribute 'compil'"):
        _ = dlc.compil

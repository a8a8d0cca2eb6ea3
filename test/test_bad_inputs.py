"""Bad input of every kind gives one clear error: exit status 1 or one typed exception, the place and the way out, no traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from fork_server import write_clients
from onnx import TensorProto, helper

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph

_RELU = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def _constant(value: str, kind: str) -> str:
    return f'func.func @f() -> {kind} {{\n  %0 = "dl.constant"() {{value = {value}}} : () -> {kind}\n  return %0 : {kind}\n}}\n'


# name: file content, flags, what standard error must match
DLC_OPT: dict[str, tuple[bytes | None, list[str], str]] = {
    "syntax error": (b"func.func @f( {\n}\n", [], r"input\.mlir:1:\d+: error: "),
    "unknown op of dl": (
        b'func.func @f(%x: tensor<4xf32>) {\n  "dl.rleu"(%x) : (tensor<4xf32>) -> ()\n  return\n}\n',
        [],
        r"input\.mlir:2:3: error: .*dl\.rleu",
    ),
    "unquoted dl op": (
        b"func.func @f(%x: tensor<4xf32>) {\n  %0 = dl.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return\n}\n",
        [],
        r"input\.mlir:2:\d+: error: .*dl\.relu.*quot",
    ),
    "argument of a type that dl has not": (
        b"func.func @f(%x: tensor<?xf8E3M4>) -> tensor<?xf8E3M4> {\n  return %x : tensor<?xf8E3M4>\n}\n",
        ["--compile-to=linalg"],
        r"input\.mlir:1:14: error: a value is tensor<\?xf8E3M4>; models at level dl hold ranked tensors of f64, f32",
    ),
    "attribute of a kind that the bindings have not": (
        b"func.func @f(%x: tensor<3x8xf32>) {\n"
        b'  %0 = "dl.avg_pool"(%x) {kernel = array<f16>} : (tensor<3x8xf32>) -> tensor<3x8xf32>\n  return\n}\n',
        [],
        r"input\.mlir:2:8: error: 'dl\.avg_pool' op attribute 'kernel' expects .* but got an attribute of a kind that no op has",
    ),
    "unknown dialect": (b'"nosuch.op"() : () -> ()\n', [], r"input\.mlir:1:\d+: error: .*allow-unregistered-dialect"),
    "verifier": (
        b"func.func @f(%a: tensor<4x8xf32>, %b: tensor<7x3xf32>) {\n"
        b'  %0 = "dl.matmul"(%a, %b) : (tensor<4x8xf32>, tensor<7x3xf32>) -> tensor<4x3xf32>\n  return\n}\n',
        [],
        r"input\.mlir:2:8: error: 'dl\.matmul' op c\d: .*8.*7",
    ),
    "element type that dl has not": (
        _RELU.replace("xf32", "xf8E3M4").encode(),
        [],
        r":2:8: error: 'dl\.relu' op t1: an operand is tensor<4xf8E3M4>, whose element type must be one of f64",
    ),
    "unknown attribute": (
        _RELU.replace("(%x) :", "(%x) {axis = 1 : i64} :").encode(),
        [],
        r":2:8: error: 'dl\.relu' op has no attribute 'axis'",
    ),
    "undeclared value": (_RELU.replace('"(%x)', '"(%y)').encode(), [], r"input\.mlir:2:\d+: error: use of undeclared SSA value"),
    "unknown pass": (_RELU.encode(), ["--pass-pipeline=builtin.module(canonicalise)"], r"error: .*canonicalise.*canonicalize"),
    "unknown flag": (_RELU.encode(), ["--no-such-flag"], r"error: .*no-such-flag"),
    "unknown pass option": (_RELU.encode(), ["--pass-pipeline=builtin.module(canonicalize{max-iter=3})"], r"error: .*max-iter"),
    "malformed pipeline": (_RELU.encode(), ["--pass-pipeline=builtin.module(cse"], r"<pipeline>:1:\d+|error: .*\)"),
    "failed pass": (_RELU.encode(), ["--convert-linalg-to-affine"], r"input\.mlir:\d+:\d+: error: .*needs memrefs; run"),
    "missing file": (None, [], r"input\.mlir: error: no such file"),
    "not UTF-8": (b"func.func @f() { \xff\xfe }\n", [], r"input\.mlir.*error: .*UTF-8"),
    "truncated bytecode": (b"ML\xefR\x06", [], r"input\.mlir.*error: "),
    "unwritable output": (
        _RELU.encode(),
        ["-o", "/nonexistent-folder/out.mlir"],
        r"/nonexistent-folder/out\.mlir.*error: |error: .*nonexistent-folder",
    ),
}


@pytest.mark.parametrize("kind", DLC_OPT)
def test_dlc_opt(tools, kind: str, tmp_path: Path) -> None:
    content, flags, pattern = DLC_OPT[kind]
    file = tmp_path / "input.mlir"
    if content is not None:
        file.write_bytes(content)
    _expect_failure(tools, ["dlc-opt", str(file), *flags], pattern)


def _model(nodes: list[onnx.NodeProto], inputs: list[onnx.ValueInfoProto], outputs: list[str]) -> onnx.ModelProto:
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    return helper.make_model(helper.make_graph(nodes, "bad", inputs, results), opset_imports=[helper.make_opsetid("", 17)])


def _input(shape: list[int | str] | None, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info("x", kind, shape)


def _unsupported() -> onnx.ModelProto:
    nodes = [
        helper.make_node("NonMaxSuppression", ["x", "x"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="fine"),
        helper.make_node("NoSuchOp", ["b"], ["y"], name="second", domain="my.domain"),
    ]
    model = _model(nodes, [_input([1, 1, 4])], ["y"])
    model.opset_import.append(helper.make_opsetid("my.domain", 1))
    return model


def _mismatch() -> onnx.ModelProto:
    weight = onnx.numpy_helper.from_array(np.zeros((5, 3), np.float32), "w")
    model = _model([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], [_input([2, 4])], ["y"])
    model.graph.initializer.append(weight)
    return model


def _external_data() -> onnx.ModelProto:
    model = _mismatch()
    tensor = model.graph.initializer[0]
    onnx.external_data_helper.set_external_data(tensor, location="missing.bin")
    tensor.ClearField("raw_data")
    return model


IMPORTER: dict[str, tuple[Callable[[], onnx.ModelProto | bytes], str]] = {
    "not a model": (lambda: b"not an onnx file at all", r"model\.onnx: error: not an ONNX model"),
    "empty file": (lambda: b"", r"model\.onnx: error: not an ONNX model"),
    "unsupported nodes, all of them": (
        _unsupported,
        r"2 unsupported nodes:\n.*first.*NonMaxSuppression.*\n.*second.*my\.domain\.NoSuchOp",
    ),
    "shapes that do not fit": (_mismatch, r"model\.onnx: error: [\s\S]*product.*MatMul.*4.*5"),
    "string input": (
        lambda: _model([helper.make_node("Relu", ["x"], ["y"])], [_input([1], TensorProto.STRING)], ["y"]),
        r"model\.onnx: error: [\s\S]*('x'.*string is not compiled|Relu.*is not supported for string\[1\])",
    ),
    "input of unknown rank": (
        lambda: _model([helper.make_node("Relu", ["x"], ["y"])], [_input(None)], ["y"]),
        r"'x'.*rank is unknown",
    ),
    "undefined value": (
        lambda: _model([helper.make_node("Relu", ["z"], ["y"], name="n")], [_input([1])], ["y"]),
        r"node 'n' \(Relu\): uses 'z'",
    ),
    "missing external data": (_external_data, r"model\.onnx: error: .*missing\.bin"),
}


@pytest.mark.parametrize("kind", IMPORTER)
def test_importer(tools, kind: str, tmp_path: Path) -> None:
    make, pattern = IMPORTER[kind]
    made = make()
    file = tmp_path / "model.onnx"
    file.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    _expect_failure(tools, ["dlc", "compile", str(file), "--emit=dl"], pattern)
    with pytest.raises(dlc.DLCError, match=pattern):
        dlc.compile(file)


_GOOD = np.ones((2, 4), np.float32)
_HUGE = 10**5000
"""Python does not write out a number of so many digits."""
COMPILE: dict[str, tuple[Callable[[], object], type[dlc.DLCError], str]] = {
    "a type that is no model": (lambda: dlc.compile(3), dlc.InvalidInputError, "not int"),  # type: ignore[arg-type]
    "argument of a type that dl has not": (
        lambda: dlc.compile("func.func @f(%x: tensor<4xf8E3M4>) -> tensor<4xf8E3M4> {\n  return %x : tensor<4xf8E3M4>\n}\n"),
        dlc.VerifyError,
        "argument 0 is tensor<4xf8E3M4>; models at level dl take and give ranked tensors",
    ),
    "schedule of another kind": (
        lambda: dlc.compile(_RELU, schedule=[1]),  # type: ignore[arg-type]
        dlc.InvalidInputError,
        "a schedule is a file, its content or None, not list",
    ),
    "constant of a type that dl has not": (
        lambda: dlc.compile(_constant("dense<1.0> : tensor<3xf8E3M4>", "tensor<3xf8E3M4>")),
        dlc.DLCError,
        "attribute 'value' expects dense elements but got values of f8E3M4; give one of",
    ),
    "constant that no machine has memory for": (
        lambda: dlc.compile(_constant("dense<1.0> : tensor<9223372036854775807xf32>", "tensor<9223372036854775807xf32>")),
        dlc.DLCError,
        "got more than 256 MiB of tensor<9223372036854775807xf32>; make it a dl.param",
    ),
    "infinite scale": (
        lambda: dlc.compile(
            'func.func @f(%x: tensor<4xf32>) -> tensor<?xf32> {\n  %0 = "dl.resize"(%x) {axes = array<i64: 0>, '
            "scales = array<f64: 0x7FF0000000000000>} : (tensor<4xf32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}\n"
        ),
        dlc.DLCError,
        r"c2: sizes \[\] and scales \[inf\]",
    ),
    "level of LLVM that is no integer": (lambda: dlc.compile(_RELU, opt_level=1.0), dlc.InvalidInputError, "opt_level must be"),  # type: ignore[arg-type]
    "target that is no name": (lambda: dlc.compile(_RELU, target=3), dlc.TargetError, "a target is a name"),  # type: ignore[arg-type]
    "weights that are no dictionary": (lambda: dlc.compile(_RELU, params=3), dlc.InvalidInputError, "params is 3; give a dict"),  # type: ignore[arg-type]
    "donated inputs that are no list": (lambda: dlc.compile(_RELU, donate="x"), dlc.InvalidInputError, "donate takes a list"),
    "missing model file": (lambda: dlc.compile("no/such/file.onnx"), dlc.ParseError, "no such file"),
    "unknown target": (lambda: dlc.compile(_RELU, target="tpu"), dlc.TargetError, "unknown target 'tpu'.*cpu"),
    "threads that are no number": (lambda: dlc.compile(_RELU, num_threads=True), dlc.InvalidInputError, "num_threads must .* True"),
    "more threads than 32 bits count": (lambda: dlc.compile(_RELU, num_threads=1 << 31), dlc.InvalidInputError, "num_threads must"),
    "threads of thousands of digits": (
        lambda: dlc.compile(_RELU, num_threads=_HUGE),
        dlc.InvalidInputError,
        "num_threads must .* not a number of thousands of digits",
    ),
    "size of tiles that is no integer": (lambda: dlc.compile(_RELU, winograd=2.0), dlc.InvalidInputError, "winograd must .* 2.0"),  # type: ignore[arg-type]
    "size of tiles that is a flag": (lambda: dlc.compile(_RELU, winograd=False), dlc.InvalidInputError, "winograd must .* False"),
    "several sizes of tiles": (
        lambda: dlc.compile(_RELU, winograd=np.array([2, 4])),  # type: ignore[arg-type]
        dlc.InvalidInputError,
        "winograd must be one of 0, 2, 4",
    ),
    "memory without an end": (lambda: dlc.compile(_RELU, memory_limit="9" * 400), dlc.InvalidInputError, "1 to 2.62"),
    "memory of thousands of digits": (lambda: dlc.compile(_RELU, memory_limit=_HUGE), dlc.InvalidInputError, "1 to 2.62"),
    "specializations of thousands of digits": (
        lambda: dlc.compile(_RELU, max_specializations=_HUGE),
        dlc.InvalidInputError,
        "max_specializations is a number of thousands of digits; give a whole number",
    ),
    "calls of thousands of digits": (
        lambda: dlc.compile(_RELU, specialize="9" * 5000),
        dlc.InvalidInputError,
        "give auto, off, or a number of calls",
    ),
    "seconds of thousands of digits": (lambda: dlc.compile(_RELU, timeout=_HUGE), dlc.InvalidInputError, "timeout is a number of"),
    "flag that is a text": (lambda: dlc.compile(_RELU, cache="no"), dlc.InvalidInputError, "cache must be True or False, not 'no'"),  # type: ignore[arg-type]
    "leniency that is a number": (lambda: dlc.compile(_RELU, lenient=3), dlc.InvalidInputError, "lenient must be True or False"),  # type: ignore[arg-type]
    "progress that is no function": (lambda: dlc.compile(_RELU, progress=3), dlc.InvalidInputError, "progress is 3; give a func"),  # type: ignore[arg-type]
    "no threads": (lambda: dlc.compile(_RELU, num_threads=0), dlc.InvalidInputError, "num_threads must be"),
    "bad MLIR text": (lambda: dlc.compile("func.func @f( {\n}"), dlc.ParseError, "<text>:1:"),
    "module without a function": (lambda: dlc.compile("module {\n}"), dlc.PassError, "function"),
    "weights that are not given": (lambda: dlc.compile(_with_weight().module), dlc.InvalidInputError, "'w'"),
    "weights of another shape": (
        lambda: dlc.compile(_with_weight().module, params={"w": np.zeros(3, np.float32)}),
        dlc.InvalidInputError,
        "'w'.*4.*3",
    ),
    "lowering upwards": (lambda: dlc.lower(dlc.lower(_RELU, to="affine"), to="linalg"), dlc.DLCError, "affine.*linalg"),
    "unknown level": (lambda: dlc.lower(_RELU, to="gpu"), dlc.DLCError, "gpu"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("kind", COMPILE)
def test_compile(kind: str) -> None:
    call, error, pattern = COMPILE[kind]
    with pytest.raises(error, match=re.compile(pattern, re.DOTALL)):
        call()


def _with_weight() -> Graph:
    with Graph() as graph:
        graph.output("y", dl.add(graph.input("x", (4,)), graph.param("w", np.ones(4, np.float32))))
    return graph


@pytest.fixture(scope="module")
def model() -> dlc.CompiledModel:
    with Graph() as graph:
        x, y = graph.input("x", ("n", 4)), graph.input("y", ("n", 4))
        graph.output("z", dl.add(x, y))
    return dlc.compile(graph.module)


CALLS: dict[str, tuple[tuple[object, ...], str]] = {
    "too few inputs": ((_GOOD,), "expected 2 inputs but got 1"),
    "too many inputs": ((_GOOD, _GOOD, _GOOD), "expected 2 inputs but got 3"),
    "missing name": (({"x": _GOOD},), "missing 'y'"),
    "unknown name": (({"x": _GOOD, "y": _GOOD, "q": _GOOD},), "unknown 'q'"),
    "wrong dtype": ((_GOOD, _GOOD.astype(np.float64)), "input 'y' expects f32.* but got f64"),
    "wrong rank": ((_GOOD, _GOOD[0]), "input 'y'.*rank is 1 instead of 2"),
    "wrong dim": ((_GOOD, np.ones((2, 5), np.float32)), "input 'y'.*dim 1 is 5 instead of 4"),
    "dims that must be equal": ((_GOOD, np.ones((3, 4), np.float32)), "dim 'n' is 3 here but 2 in input 'x'"),
    "no array": ((_GOOD, "text"), "input 'y' expects an array.*got str"),
}


@pytest.mark.parametrize("kind", CALLS)
def test_call(kind: str, model: dlc.CompiledModel) -> None:
    arguments, pattern = CALLS[kind]
    with pytest.raises(dlc.InvalidInputError, match=pattern):
        model(*arguments)


DLC: dict[str, tuple[list[str], str]] = {
    "unknown command": (["frobnicate"], r"No such command 'frobnicate'"),
    "unknown level": (["compile", "m.onnx", "--emit=spirv"], r"'spirv' is not one of"),
    "missing model": (["run", "no-such-model.onnx"], r"no-such-model\.onnx: error: no such file"),
    "size in other digits": (["run", "no-such-model.onnx", "--shape", "x=²x4"], r"expects NAME=1x3x224x224 but got 'x=²x4'"),
    "size of thousands of digits": (["run", "no-such-model.onnx", "--shape", f"x={'9' * 5000}x4"], r"expects NAME=1x3x224x224"),
    "dim in other digits": (["run", "no-such-model.onnx", "--dim", "N=²"], r"expects a size for 'N' but got '²'"),
    "dim of thousands of digits": (["run", "no-such-model.onnx", "--dim", f"N={'9' * 5000}"], r"expects a size for 'N'"),
    "range of thousands of digits": (["run", "no-such-model.onnx", "--sizes", f"N=1..{'9' * 5000}"], r"--sizes: error: expects"),
    "step of 0": (["run", "no-such-model.onnx", "--sizes", "N=8..16:0"], r"--sizes: error: expects NAME=1\.\.64"),
    "negative seed": (["run", "no-such-model.onnx", "--seed=-1"], r"--seed.*x>=0"),
    "tolerance that is no number": (["run", "no-such-model.onnx", "--tolerance=nan"], r"--tolerance.*nan is no number"),
    "seconds that are no number": (["bench", "no-such-model.onnx", "--seconds=nan"], r"--seconds.*nan is no number"),
    "bad shape": (["run", "no-such-model.onnx", "--shape", "oops"], r"expects NAME=1x3x224x224"),
}


@pytest.mark.parametrize("kind", DLC)
def test_dlc(tools, kind: str) -> None:
    arguments, pattern = DLC[kind]
    _expect_failure(tools, ["dlc", *arguments], pattern)


@pytest.fixture(scope="module")
def tools() -> Iterator[tuple[Path, dict[str, str]]]:
    """The folder of the commands, which are children of one process that has imported dlc, and their environment."""
    with tempfile.TemporaryDirectory() as folder:  # not pytest's: paths of sockets are short
        address = Path(folder) / "socket"
        server = subprocess.Popen([sys.executable, Path(__file__).with_name("fork_server.py"), address], stdin=subprocess.PIPE)
        yield Path(folder) / "tools", os.environ | write_clients(Path(folder) / "tools", address, os.environ)
        server.communicate()


def _expect_failure(tools: tuple[Path, dict[str, str]], command: list[str], pattern: str) -> None:
    """The command exits with status 1, prints nothing to standard output and one matching error without a traceback."""
    folder, environment = tools
    done = subprocess.run(
        [str(folder / command[0]), *command[1:]],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
        env=environment,
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert re.search(pattern, done.stderr), done.stderr
    assert done.stderr.lower().count("error:") == 1, done.stderr
    assert done.stdout == ""

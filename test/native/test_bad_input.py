"""What native code refuses, when it is made and when it is called: one error each, which says what to do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.exceptions import BadParameter
from native_models import COMPILER, LIBRARIES, STRICT, checked_run, example_model, mixed_types, needs_compiler, odd_models

from dlc.errors import InvalidInputError, TargetError
from dlc.native.names import field_names, model_name, quoted
from dlc.tools.commands.compile_command import command


@pytest.mark.parametrize("text, name", [("resnet50-v1.12", "resnet50_v1_12"), ("m", "m"), ("großes modell", "gro_es_modell")])
def test_names_of_models(text: str, name: str) -> None:
    assert model_name(text) == name


@pytest.mark.parametrize("text", ["3d", "", "_x", "int", "dlc", "dlc_model", "x" * 65])
def test_names_that_c_does_not_have(text: str) -> None:
    with pytest.raises(InvalidInputError, match="give another with --name"):
        model_name(text)


def test_fields_are_told_apart() -> None:
    assert field_names(["a.b", "a_b", "1", "new", ""]) == ["a_b", "a_b_2", "_1", "new_", "unnamed"]
    assert quoted('a"\\\n?é') == '"a\\042\\134\\012\\077\\303\\251"'


@pytest.mark.parametrize(
    "options, message",
    [
        (("--emit=lib", "-o", "-"), "is written to a file"),
        (("--emit=exe", "--target", "cpu:haswell,cpu:x86-64"), "holds code for one"),
        (("--emit=obj", "--name", "x"), "only native code has names in C"),
    ],
)
def test_options_that_clash(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    onnx.save(example_model(), tmp_path / "mlp.onnx")
    with pytest.raises(BadParameter, match=message):
        command.main([str(tmp_path / "mlp.onnx"), *options], standalone_mode=False)


@pytest.mark.parametrize(
    "variables, target, message",
    [
        ({"CC": "no-such-cc"}, "cpu", "needs a C compiler, and there is no no-such-cc; install gcc"),
        ({"CC": "cc -no-such-option"}, "cpu", "no-such-option"),
        ({"DLC_NATIVE_RUNTIME": "/none.a"}, "cpu", "there is no '/none.a'"),
        ({"CC": "cc"}, "cpu:cortex-a72", "runtime here is of x86_64; build libdlc_native.a for aarch64"),
        ({"CC": "no-such-cc"}, "cpu:neoverse-n1", "install gcc-aarch64-linux-gnu"),
        ({}, "cpu:apple-m1", "whose linker is Apple's alone; write the object with --emit=obj"),
        ({}, "gpu:sm_90", "no native code; name a CPU"),
    ],
)
@needs_compiler
def test_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], target: str, message: str
) -> None:
    onnx.save(example_model(), tmp_path / "mlp.onnx")
    for name in ("CC", "DLC_NATIVE_RUNTIME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(TargetError, match=message.replace(".", r"\.")):
        options = ["--emit=lib", "--target", target, "-o", str(tmp_path / "libmlp.so")]
        command.main([str(tmp_path / "mlp.onnx"), *options], standalone_mode=False)
    assert not (tmp_path / "libmlp.so").exists()


def complaint(program: Path, folder: Path, *arguments: str) -> str:
    """What a program says that ends with an error."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, cwd=folder)
    assert done.returncode in (1, 2) and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@needs_compiler
def test_programs_refuse_arrays(native_folder: Path, tmp_path: Path) -> None:
    row = np.zeros((2, 4), np.float32)
    arrays = {
        "good": row,
        "wide": np.zeros((2, 5), np.float32),
        "f64": row.astype(float),
        "flat": row.ravel(),
        "fortran": row.copy("F"),
    }
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    whole = (tmp_path / "good.npy").read_bytes()
    (tmp_path / "short.npy").write_bytes(whole[:-3])
    (tmp_path / "long.npy").write_bytes(whole + b"0")
    (tmp_path / "huge.npy").write_bytes(whole.replace(b"(2, 4)", b"(2305843009213693952, 4)"))
    (tmp_path / "big.npy").write_bytes(np.lib.format.magic(1, 0) + b"\xff\xff" + b"{")
    (tmp_path / "text.npy").write_text("no array", encoding="utf-8")
    said = {
        "wide.npy": "dim 1 is 5 instead of 4",
        "f64.npy": "holds <f8, and input 'x' takes <f4 (f32)",
        "flat.npy": "has 1 dims, and input 'x' has 2",
        "fortran.npy": "in Fortran's order",
        "short.npy": "has not as many bytes as its shape needs",
        "long.npy": "has not as many bytes as its shape needs",
        "huge.npy": "error",
        "big.npy": "is no .npy file",
        "text.npy": "is no .npy file",
        "none.npy": "cannot be read: No such file",
    }
    for file, message in said.items():
        assert message in complaint(native_folder / "mlp", tmp_path, file), file
    assert "takes 1 inputs, not 2" in complaint(native_folder / "mlp", tmp_path, "good.npy", "good.npy")
    assert "no option '-q'" in complaint(native_folder / "mlp", tmp_path, "-q")
    assert "no number of threads" in complaint(native_folder / "mlp", tmp_path, "-t", "0", "good.npy")
    assert "cannot be written" in complaint(native_folder / "mlp", tmp_path, "-o", "nowhere", "good.npy")


@needs_compiler
def test_files_of_weights_are_checked(tmp_path: Path) -> None:
    onnx.save(example_model(), tmp_path / "mlp.onnx")
    options = ["--emit=exe", "--weights=separate", "-o", str(tmp_path / "program")]
    command.main([str(tmp_path / "mlp.onnx"), *options], standalone_mode=False)
    np.save(tmp_path / "x.npy", np.zeros((1, 4), np.float32))
    checked_run([tmp_path / "program", "x.npy"], cwd=tmp_path)
    weights = tmp_path / "mlp.weights"
    whole = weights.read_bytes()
    changes = {
        b"": "cannot be read",
        whole[:40]: "is too short",
        b"x" + whole[1:]: "is no file of weights",
        whole[:30] + b"x" + whole[31:]: "header is damaged",
        whole[:-1]: "ends before the weights do",
        whole[:4100] + bytes([whole[4100] ^ 1]) + whole[4101:]: "the checksum is wrong",
    }
    for content, message in changes.items():
        weights.write_bytes(content)
        assert message in complaint(tmp_path / "program", tmp_path, "x.npy")
    weights.unlink()
    assert "No such file" in complaint(tmp_path / "program", tmp_path, "x.npy")


def said_by(source: str, model: onnx.ModelProto, name: str, folder: Path) -> list[str]:
    """The lines that a C program of this folder prints, linked with a model of that name."""
    library, program = folder / f"lib{name}.a", folder / "calls"
    onnx.save(model, folder / f"{name}.onnx")
    command.main([str(folder / f"{name}.onnx"), "--emit=static-lib", "-o", str(library)], standalone_mode=False)
    checked_run([COMPILER, *STRICT, f"-I{folder}", Path(__file__).parent / source, library, *LIBRARIES, "-o", program])
    return checked_run([program]).splitlines()


@needs_compiler
def test_calls_are_checked(tmp_path: Path) -> None:
    assert said_by("bad_calls.c", mixed_types(), "mixed", tmp_path) == [
        "1 options of model 'mixed': threads (31 bits) and memory_limit are 0 or more",
        "1 options of model 'mixed': allocate and release come together",
        "2 model 'mixed': no memory for its context",
        "1 model 'mixed': size 'n' is -1; give 0 or more",
        "1 model 'mixed': input 'int' is null",
        "1 model 'mixed': the memory of input 'int' is not aligned to its elements",
        "1 model 'mixed': input 'input.1' has more bytes than 63 bits can count",
        "1 model 'mixed': output 'sum/0' is null",
        "0",
    ]


@needs_compiler
def test_results_of_unknown_sizes(tmp_path: Path) -> None:
    """A call without memory for such a result makes it, and one with too little is refused."""
    assert said_by("places.c", odd_models()["sizes"][0], "places", tmp_path) == [
        "2 x 3: 2 at the end",
        "2 x 3: 2 at the end",
        "1 model 'places': output 'y' takes 48 bytes, and there is room for 40",
    ]

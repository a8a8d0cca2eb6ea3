"""The C interface of engines: programs in C give Python's results to the bit, and the library shows what its headers declare."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from engine_models import small_input

import dlc
from bench.networks import mlp, resnet50
from dlc.runtime.library import find_library
from dlc.targets.machine import host_facts
from dlc.tools.commands.compile_command import command

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "runtime"
COMPILER, CXX, NM, VALGRIND = (shutil.which(tool) for tool in ("cc", "g++", "nm", "valgrind"))
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")

STABLE = {
    "dlc_engine_cancel",
    "dlc_engine_free",
    "dlc_engine_input",
    "dlc_engine_input_count",
    "dlc_engine_kernel",
    "dlc_engine_kernel_count",
    "dlc_engine_load",
    "dlc_engine_load_memory",
    "dlc_engine_manifest",
    "dlc_engine_output",
    "dlc_engine_output_count",
    "dlc_engine_run",
    "dlc_engine_run_async",
    "dlc_engine_target",
    "dlc_engine_verify",
    "dlc_last_error",
    "dlc_profile_reset",
    "dlc_profile_rows",
    "dlc_runtime_version",
    "dlc_tensor_free",
}
"""The interface of version 1.0. A name is added with a new minor version, and goes with a new major one."""


def compiled(source: Path, program: Path, options: Sequence[str] = (), library: Path | None = None) -> Path:
    """A C program that uses the library."""
    found = library or find_library()
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{RUNTIME / 'include'}", *options]
    command = [str(COMPILER), *flags, str(source), str(found), f"-Wl,-rpath,{found.parent}", "-o", str(program)]
    subprocess.run(command, check=True, timeout=120)
    return program


def run(command: Sequence[object], **options: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **options)  # type: ignore
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_compiler
def test_a_c_program_gives_pythons_results(model: dlc.CompiledModel, engine_file: Path, tmp_path: Path) -> None:
    program = compiled(Path(__file__).parent / "native" / "run_engine.c", tmp_path / "run_engine")
    for rows in (1, 37):
        x = small_input(rows)
        x.tofile(tmp_path / "x.bin")
        run([program, engine_file, rows, tmp_path / "x.bin", tmp_path / "y.bin"])
        np.testing.assert_array_equal(np.fromfile(tmp_path / "y.bin", np.float32).reshape(rows, -1), model(x)[0])


PIXELS = (np.arange(3 * 224 * 224) % 7).astype(np.float32).reshape(1, 3, 224, 224)
"""What the program of the README gives the model."""


def compiled_readme(folder: Path) -> None:
    """The program of the README, `main`, which loads `model.dlce` of the current folder."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```c\n(.*?)```", text, re.DOTALL)
    (folder / "main.c").write_text(program)
    compiled(folder / "main.c", folder / "main")


@needs_compiler
def test_the_program_of_the_readme(tmp_path: Path) -> None:
    compiled_readme(tmp_path)
    nodes = [
        onnx.helper.make_node("AveragePool", ["x"], ["pooled"], kernel_shape=[32, 32], strides=[32, 32]),
        onnx.helper.make_node("Tanh", ["pooled"], ["y"]),
    ]
    infos = [onnx.helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [1, 3, 224, 224]), ("y", [1, 3, 7, 7]))]
    graph = onnx.helper.make_graph(nodes, "g", infos[:1], infos[1:])
    model = dlc.compile(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]))
    model.save(tmp_path / "model.dlce")
    printed = run([tmp_path / "main"], cwd=tmp_path)
    np.testing.assert_array_equal(np.array(printed.split(), np.float32), model(PIXELS)[0].ravel())


@pytest.mark.slow
@needs_compiler
def test_resnet50_from_c(tmp_path: Path) -> None:
    """The program of the README with an engine, and its like with a static library, whose names are all the model's or dlc's."""
    onnx.save(resnet50.build(), tmp_path / "resnet50.onnx")
    model = dlc.compile(tmp_path / "resnet50.onnx")
    model.save(tmp_path / "model.dlce")
    compiled_readme(tmp_path)
    command.main(
        [str(tmp_path / "resnet50.onnx"), "--emit=static-lib", "-o", str(tmp_path / "libresnet50.a")], standalone_mode=False
    )
    source = Path(__file__).parent / "native" / "run_resnet50.c"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{tmp_path}"]
    run([COMPILER, *flags, source, tmp_path / "libresnet50.a", "-lm", "-lpthread", "-o", tmp_path / "linked"])
    expected = model(PIXELS)[0].ravel()
    for program in ("main", "linked"):
        printed = run([tmp_path / program], cwd=tmp_path)
        np.testing.assert_array_equal(np.array(printed.split(), np.float32), expected, program)
    if NM:
        lines = run([NM, "--defined-only", "--extern-only", tmp_path / "libresnet50.a"]).splitlines()
        names = [line.split()[-1] for line in lines if len(line.split()) == 3]
        assert names and all(name.startswith(("resnet50_", "dlc_")) for name in names)


@needs_compiler
def test_calls_are_cancelled_from_c(tmp_path: Path) -> None:
    dlc.compile(mlp.build(widths=(256,) * 40)).save(tmp_path / "m.dlce")
    program = compiled(Path(__file__).parent / "native" / "cancel_engine.c", tmp_path / "cancel_engine")
    run([program, tmp_path / "m.dlce"])


@needs_compiler
def test_engines_of_a_foreign_directory_are_refused_in_words(tmp_path: Path) -> None:
    program = compiled(Path(__file__).parent / "native" / "run_engine.c", tmp_path / "run_engine")
    (tmp_path / "no.dlce").write_bytes(b"text" * 100)
    done = subprocess.run([program, tmp_path / "no.dlce", "1", "x", "y"], capture_output=True, text=True, timeout=60, check=False)
    assert "it is no engine: it does not begin with the bytes of one" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(VALGRIND is None or COMPILER is None or CXX is None, reason="needs valgrind and a compiler")
def test_under_sanitizers_and_valgrind(model: dlc.CompiledModel, tmp_path: Path) -> None:
    """Code for the least processor, since valgrind does not know all instructions of this one."""
    model.save(tmp_path / "m.dlce", targets=["cpu:x86-64"])
    small_input(3).tofile(tmp_path / "x.bin")
    sources = [str(file) for file in sorted((RUNTIME / "src").glob("**/*.cpp"))]
    for name, options, prefix in (
        ("asan", ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"], []),
        ("valgrind", [], [str(VALGRIND), "--quiet", "--error-exitcode=9", "--leak-check=full"]),
    ):
        library = tmp_path / f"lib{name}.so"
        command = [
            str(CXX),
            "-std=c++17",
            "-g",
            "-O1",
            "-fPIC",
            "-shared",
            "-pthread",
            *options,
            f"-I{RUNTIME / 'include'}",
            *sources,
        ]
        subprocess.run([*command, "-ldl", "-o", str(library)], check=True, timeout=300)
        source = Path(__file__).parent / "native" / "run_engine.c"
        text = source.read_text().replace('dlc_engine_target(engine), "cpu")', 'dlc_engine_target(engine), "cpu:x86-64")')
        (tmp_path / "run.c").write_text(text)
        program = compiled(tmp_path / "run.c", tmp_path / name, options, library)
        run([*prefix, program, tmp_path / "m.dlce", 3, tmp_path / "x.bin", tmp_path / "y.bin"])


def declared(header: Path) -> set[str]:
    """Functions that a header exports."""
    text = re.sub(r"#define.*|__attribute__\(\(\w+\)\)", "", header.read_text(encoding="utf-8"))
    return set(re.findall(r"(?:DLC_API|DLC_EXPORT)[^;(]*?(\w+)\(", text))


@pytest.mark.skipif(NM is None, reason="needs nm")
def test_the_library_shows_what_is_declared() -> None:
    shown = {line.split()[-1] for line in run([NM, "-D", "--defined-only", find_library()]).splitlines()}
    public, internal = declared(RUNTIME / "include" / "dlc" / "runtime.h"), declared(RUNTIME / "src" / "dlc_runtime.h")
    of_llvm = declared(RUNTIME / "src" / "half.h") if host_facts().arch == "x86_64" else set()
    assert public == set(STABLE)
    assert shown == public | internal | of_llvm
    of_mlir = {"memrefCopy", "_mlir_memref_to_llvm_alloc", "_mlir_memref_to_llvm_aligned_alloc", "_mlir_memref_to_llvm_free"}
    assert {name for name in shown if not name.startswith("dlc_")} == of_mlir | of_llvm


@needs_compiler
@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_header_stands_alone(tmp_path: Path, language: str) -> None:
    (tmp_path / "t.c").write_text("#include <dlc/runtime.h>\nint main(void) { return 0; }\n")
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{RUNTIME / 'include'}", "-x", language]
    run([COMPILER, *flags, tmp_path / "t.c"])

"""Models as native code: programs in C and C++ get Python's results to the bit, and nothing but their functions is seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from native_models import (
    COMPILER,
    CXX,
    EXAMPLES,
    LIBRARIES,
    NM,
    STRICT,
    VALGRIND,
    checked_run,
    example_model,
    mixed_types,
    needs_compiler,
    odd_models,
    small_cnn,
)

import dlc
from dlc.targets.machine import host_facts
from dlc.tools.commands.compile_command import command

pytestmark = needs_compiler
X = np.array([[0.5, -1, 2, 0.25], [1.5, 0, -0.75, 1]], np.float32)


@pytest.fixture(scope="module")
def expected() -> list[float]:
    return dlc.compile(example_model())(X)[0].ravel().tolist()


def floats(text: str) -> list[float]:
    return [float.fromhex(line) for line in text.split()]


def emitted(folder: Path, model: onnx.ModelProto, *options: str, name: str = "model") -> None:
    onnx.save(model, folder / f"{name}.onnx")
    command.main([str(folder / f"{name}.onnx"), *options], standalone_mode=False)


@pytest.mark.parametrize("library", ["libmlp.a", "libmlp.so"])
def test_c_program_gets_pythons_results(native_folder: Path, tmp_path: Path, library: str, expected: list[float]) -> None:
    program = tmp_path / "run"
    paths = [f"-I{native_folder}", f"-Wl,-rpath,{native_folder}"]
    checked_run([COMPILER, *STRICT, *paths, EXAMPLES / "run_mlp.c", native_folder / library, *LIBRARIES, "-o", program])
    assert floats(checked_run([program])) == expected
    needed = checked_run(["ldd", program])
    assert "libstdc++" not in needed and "libpython" not in needed and "libgcc_s" not in needed


@pytest.mark.skipif(CXX is None, reason="needs a C++ compiler")
def test_cpp_program_lends_its_memory(native_folder: Path, tmp_path: Path, expected: list[float]) -> None:
    program = tmp_path / "run"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{native_folder}"]
    checked_run([CXX, *flags, EXAMPLES / "run_mlp.cpp", native_folder / "libmlp.a", *LIBRARIES, "-o", program])
    assert floats(checked_run([program])) == expected


@pytest.mark.skipif(NM is None, reason="needs nm")
def test_nothing_else_is_shown(native_folder: Path) -> None:
    def names(*arguments: object) -> set[str]:
        lines = checked_run([NM, "--defined-only", *arguments]).splitlines()
        return {line.split()[-1] for line in lines if len(line.split()) == 3}

    functions = {f"mlp_{name}" for name in ("init", "run", "cancel", "free", "message")}
    assert names("-D", native_folder / "libmlp.so") == functions
    shown = names("--extern-only", native_folder / "libmlp.a")
    assert functions <= shown and all(name.startswith(("mlp_", "dlc_")) for name in shown), sorted(shown)


def test_header_is_plain_c(native_folder: Path, tmp_path: Path) -> None:
    header = (native_folder / "mlp.h").read_text(encoding="utf-8")
    includes = [line for line in header.splitlines() if line.startswith("#include")]
    assert includes == ["#include <stddef.h>", "#include <stdint.h>"]
    source = tmp_path / "use.c"
    source.write_text('#include "mlp.h"\nint use(void) { return MLP_OK; }\n', encoding="utf-8")
    checked_run([COMPILER, *STRICT, "-std=c99", f"-I{native_folder}", "-c", source, "-o", tmp_path / "use.o"])


def test_program_reads_and_writes_arrays(native_folder: Path, tmp_path: Path, expected: list[float]) -> None:
    np.save(tmp_path / "x.npy", X)
    said = checked_run([native_folder / "mlp", "-t", "2", f"x={tmp_path / 'x.npy'}", "-o", tmp_path])
    assert said.startswith("scores: f32[2, 3] in ")
    assert np.load(tmp_path / "scores.npy").ravel().tolist() == expected


@pytest.mark.parametrize("weights", ["inside", "separate"])
def test_cnn_as_a_program(tmp_path: Path, weights: str) -> None:
    image = np.random.default_rng(2).standard_normal((1, 3, 16, 16)).astype(np.float32)
    np.save(tmp_path / "image.npy", image)
    emitted(tmp_path, small_cnn(), "--emit=exe", f"--weights={weights}", "-o", str(tmp_path / "program"))
    checked_run([tmp_path / "program", "image.npy"], cwd=tmp_path)
    assert np.array_equal(np.load(tmp_path / "probabilities.npy"), dlc.compile(small_cnn())(image)[0])


_TWO = """
#include "mlp.h"
#include "small.h"
#include <stdio.h>

int main(void) {
  static const float image[SMALL_IMAGE_ELEMENTS];
  float scores[6], probabilities[SMALL_PROBABILITIES_ELEMENTS];
  const float x[8] = {0};
  mlp_context *first = NULL;
  small_context *second = NULL;
  if (mlp_init(NULL, &first) || small_init(NULL, &second))
    return 1;
  mlp_inputs inputs = {x, 2};
  mlp_outputs outputs = {scores};
  small_inputs images = {image};
  small_outputs results = {probabilities};
  if (mlp_run(first, &inputs, &outputs) || small_run(second, &images, &results))
    return 1;
  for (int i = 0; i < SMALL_PROBABILITIES_ELEMENTS; ++i)
    printf("%a\\n", probabilities[i]);
  mlp_free(first);
  small_free(second);
  return 0;
}
"""


def test_two_models_share_a_runtime(native_folder: Path, tmp_path: Path) -> None:
    emitted(tmp_path, small_cnn(), "--emit=static-lib", "-o", str(tmp_path / "libsmall.a"), name="small")
    (tmp_path / "two.c").write_text(_TWO, encoding="utf-8")
    libraries = [native_folder / "libmlp.a", tmp_path / "libsmall.a", *LIBRARIES]
    checked_run([COMPILER, *STRICT, f"-I{native_folder}", f"-I{tmp_path}", tmp_path / "two.c", *libraries, "-o", tmp_path / "two"])
    expected = dlc.compile(small_cnn())(np.zeros((1, 3, 16, 16), np.float32))[0]
    assert floats(checked_run([tmp_path / "two"])) == expected.ravel().tolist()


@pytest.mark.parametrize("target", ["cpu", *(["cpu:x86-64-v2"] if host_facts().arch == "x86_64" else [])])
def test_names_and_types_of_all_kinds(target: str, tmp_path: Path) -> None:
    """The second target has no instructions for halves."""
    emitted(tmp_path, mixed_types(), "--emit=exe", "--target", target, "-o", str(tmp_path / "program"))
    emitted(tmp_path, mixed_types(), "--emit=header", "-o", str(tmp_path / "model.h"))
    checked_run([COMPILER, *STRICT, "-c", "-x", "c", tmp_path / "model.h", "-o", tmp_path / "model.o"])
    header = (tmp_path / "model.h").read_text(encoding="utf-8")
    fields = ("const int64_t *input_1;", "const int64_t *int_;", "int64_t size_n;", "uint16_t *_1half;", "uint8_t *is_greater;")
    assert all(field in header for field in fields), header
    arrays = [np.arange(6).reshape(2, 3), np.ones((2, 3), np.int64), np.array(3)]
    for number, array in enumerate(arrays):
        np.save(tmp_path / f"{number}.npy", array)
    checked_run([tmp_path / "program", "0.npy", "1.npy", "2.npy"], cwd=tmp_path)
    for name, result in zip(("sum_0", "1half", "is:greater"), dlc.compile(mixed_types())(*arrays), strict=True):
        found = np.load(tmp_path / f"{name}.npy")
        assert found.dtype == result.dtype and np.array_equal(found, result)


@pytest.mark.parametrize("name", list(odd_models()))
def test_signatures_of_all_kinds(name: str, tmp_path: Path) -> None:
    model, inputs = odd_models()[name]
    emitted(tmp_path, model, "--emit=exe", "-o", str(tmp_path / "program"))
    for number, array in enumerate(inputs):
        np.save(tmp_path / f"{number}.npy", array)
    checked_run([tmp_path / "program", *(f"{number}.npy" for number in range(len(inputs)))], cwd=tmp_path)
    compiled = dlc.compile(model)
    for spec, result in zip(compiled.outputs, compiled(inputs), strict=True):
        found = np.load(tmp_path / f"{spec.name}.npy")
        assert (found.dtype, found.shape) == (result.dtype, result.shape) and np.array_equal(found, result)


def test_same_bytes_each_time(native_folder: Path, tmp_path: Path) -> None:
    for form, file in (("static-lib", "libmlp.a"), ("lib", "libmlp.so")):
        command.main([str(native_folder / "mlp.onnx"), f"--emit={form}", "-o", str(tmp_path / file)], standalone_mode=False)
        assert (tmp_path / file).read_bytes() == (native_folder / file).read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(VALGRIND is None, reason="needs valgrind")
def test_no_memory_is_lost(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    emitted(tmp_path, example_model(), "--emit=exe", "--target", "cpu:haswell", "-o", str(tmp_path / "program"))
    run = [VALGRIND, "--error-exitcode=9", "--leak-check=full", tmp_path / "program", "-t", "2", tmp_path / "x.npy", "-o", tmp_path]
    checked_run(run)
    assert (tmp_path / "scores.npy").exists()

"""CMake's find_package and pkg-config find what is installed, and the example builds with it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import onnx
import pytest
from native_models import COMPILER, EXAMPLES, LIBRARIES, NM, ROOT, checked_run, example_model

from dlc.runtime.library import find_library

FOLDER = find_library().parents[1]
CMAKE, PKG_CONFIG = shutil.which("cmake"), shutil.which("pkg-config")


def api_version() -> str:
    text = (ROOT / "runtime" / "include" / "dlc" / "runtime.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"#define DLC_RUNTIME_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def test_versions_are_the_interfaces() -> None:
    config = (ROOT / "runtime" / "cmake" / "dlc-config-version.cmake").read_text(encoding="utf-8")
    assert f"PACKAGE_VERSION {api_version()})" in config


@pytest.mark.skipif(PKG_CONFIG is None or COMPILER is None, reason="needs pkg-config and a C compiler")
def test_pkg_config_finds_the_runtime(tmp_path: Path) -> None:
    places = os.environ | {"PKG_CONFIG_PATH": str(FOLDER / "lib" / "pkgconfig")}
    assert checked_run([PKG_CONFIG, "--modversion", "dlc"], env=places).strip() == api_version()
    flags = checked_run([PKG_CONFIG, "--cflags", "--libs", "dlc"], env=places).split()
    source, program = tmp_path / "version.c", tmp_path / "version"
    text = '#include <dlc/runtime.h>\n#include <stdio.h>\nint main(void) { printf("%d", (int)dlc_runtime_version()); return 0; }\n'
    source.write_text(text, encoding="utf-8")
    checked_run([COMPILER, source, *flags, f"-Wl,-rpath,{FOLDER / 'lib'}", "-o", program])
    major, minor, patch = map(int, api_version().split("."))
    assert int(checked_run([program])) == major * 1000000 + minor * 1000 + patch


_BOTH = """
#include "mlp.h"
#include <dlc/runtime.h>
#include <stdio.h>

int main(void) {
  const mlp_options options = {.threads = -1};
  mlp_context *context = NULL;
  dlc_engine *engine = NULL;
  mlp_init(&options, &context);
  dlc_engine_load("nowhere.dlce", NULL, &engine);
  printf("%s\\n%s\\n", mlp_message(), dlc_last_error());
  return 0;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_engines_and_native_code_in_one_program(native_folder: Path, tmp_path: Path) -> None:
    source, program = tmp_path / "both.c", tmp_path / "both"
    source.write_text(_BOTH, encoding="utf-8")
    paths = [f"-I{native_folder}", f"-I{FOLDER / 'include'}", f"-Wl,-rpath,{FOLDER / 'lib'}"]
    runtime = FOLDER / "lib" / "libdlc_runtime.so"
    checked_run([COMPILER, source, *paths, native_folder / "libmlp.a", runtime, *LIBRARIES, "-o", program])
    of_model, of_engine = checked_run([program]).splitlines()
    assert of_model.startswith("options of model 'mlp'") and "nowhere.dlce" in of_engine
    exported = checked_run([NM, "-D", "--defined-only", native_folder / "mlp"]) if NM else ""
    assert "dlc_" not in exported


@pytest.mark.skipif(CMAKE is None or COMPILER is None, reason="needs CMake and a C compiler")
def test_cmake_builds_the_examples(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "source")
    onnx.save(example_model(), tmp_path / "source" / "mlp.onnx")
    checked_run([CMAKE, "-S", tmp_path / "source", "-B", tmp_path / "build", f"-Ddlc_ROOT={FOLDER}"])
    checked_run([CMAKE, "--build", tmp_path / "build"])
    outputs = {checked_run([tmp_path / "build" / program]) for program in ("run_mlp_c", "run_mlp_cpp")}
    assert len(outputs) == 1 and len(outputs.pop().split()) == 6

"""What files, settings and full disks can do to the commands: one error or warning, and no file left behind."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import dlc
from dlc.dialects.nesting import MOST_NESTED

_TOOLS = Path(sys.executable).parent
_TEXT = 'func.func @f(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {\n  %0 = "dl.exp"(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>\n  return %0 : tensor<64x64xf32>\n}\n'  # noqa: E501
_NESTED = {
    "module": ("module {", "}"),
    "attribute": ("module attributes {a = " + "[", "]" + "} {}"),
    "type": ("func.func private @f(" + "tuple<", "i32>" + ")"),
    "expression": ("#m = affine_map<(d0) -> (" + "(", "d0)" + ")>\nmodule {}"),
}


def _run(
    words: Sequence[object],
    environment: Mapping[str, str] | None = None,
    limit: int | None = None,
    stdout: object = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Run a command; `limit` bounds the bytes of files that it writes."""

    def bound() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    tool, *arguments = map(str, words)
    return subprocess.run(
        [str(_TOOLS / tool), *arguments],
        stdout=stdout,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **(environment or {})},
        preexec_fn=bound,
    )


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "f.mlir"
    file.write_text(_TEXT, "utf-8")
    return file


@pytest.mark.parametrize("command", [["dlc", "run"], ["dlc", "compile"], ["dlc", "explain"], ["dlc-opt"]], ids=" ".join)
def test_deep_nesting_in_every_command(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "deep.mlir"
    file.write_text("module {\n" * 20000 + "}\n" * 20000, "utf-8")
    done = _run([*command, file])
    assert done.returncode == 1
    assert f"{file}:{MOST_NESTED + 1}:8: error: nested more than {MOST_NESTED} levels deep" in done.stderr


@pytest.mark.parametrize("kind", _NESTED)
@pytest.mark.parametrize("count", [MOST_NESTED + 1, 100_000])
def test_deep_nesting_in_this_process(kind: str, count: int) -> None:
    begin, end = _NESTED[kind]
    text = begin[:-1] + begin[-1] * count + end if kind != "module" else begin * count + end * count
    with pytest.raises(dlc.ParseError, match=r"nested more than|expected"):
        dlc.parse_module(text.encode(), "deep.mlir")


def test_long_texts_are_not_deep() -> None:
    op = '  %{} = "dl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n'
    body = "".join(op.format(index) for index in range(3000))
    dlc.parse_module(f"func.func @f(%x: tensor<4xf32>) {{\n{body}  return\n}}\n".encode(), "long.mlir")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "words",
    [["dlc-opt", "{text}"], ["dlc-opt", "--help"], ["dlc", "--help"], ["dlc", "compile", "{text}", "--emit=dl"]],
    ids=" ".join,
)
def test_output_that_is_full(words: list[str], text: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = _run([word.format(text=text) for word in words], stdout=full)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "no space left on device" in done.stderr.lower()


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="needs /dev/zero")
@pytest.mark.parametrize(
    "words",
    [
        ["dlc-opt", "/dev/zero"],
        ["dlc", "run", "/dev/zero"],
        ["dlc", "import", "/dev/zero"],
        ["dlc", "run", "{text}", "--schedule=/dev/zero"],
        ["dlc-check-proof", "{text}", "{text}", "/dev/zero"],
        ["dlc-opt", "{text}", "--affine-check-legality=before=/dev/zero"],
    ],
    ids=" ".join,
)
def test_devices_without_an_end(words: list[str], text: Path) -> None:
    done = _run([word.format(text=text) for word in words])
    assert done.returncode in (1, 2)
    assert done.stderr.count("is a device that may never end; name a file") == 1
    assert _run(["dlc-opt", "/dev/null"]).returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ["dlc-opt", "{text}", "--compile-to=llvm", "-o", "{out}"],
        ["dlc", "compile", "{text}", "--emit=llvm", "-o", "{out}"],
        ["dlc", "explain", "{text}", "--json", "-o", "{out}"],
        ["dlc", "run", "{text}", "--output", "out0={out}.npy"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_file_that_is_not_written_whole_does_not_stay(words: list[str], text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    command = [word.format(text=text, out=folder / "file") for word in words]
    cache = {"DLC_CACHE_DIR": str(tmp_path / "cache")}
    assert _run(command, cache).returncode == 0  # machine code is in the cache now: LLVM writes no files
    for file in folder.iterdir():
        file.unlink()
    done = _run(command, cache, limit=100)
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert "internal error" not in done.stderr
    assert list(folder.iterdir()) == []


def test_settings_that_do_not_fit(text: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", "utf-8")
    for setting, status, said in (
        ({"DLC_THREAD_AFFINITY": "1023"}, 1, "error: DLC_THREAD_AFFINITY is '1023'; give processors like 0,2-5 ("),
        ({"DLC_NUM_THREADS": "abc"}, 1, "error: DLC_NUM_THREADS is 'abc'"),
        ({"DLC_MEMORY_LIMIT": "x"}, 1, "error: DLC_MEMORY_LIMIT is 'x'"),
        ({"DLC_CACHE_DIR": str(file)}, 0, f"warning: cannot write the compilation cache '{file}'"),
        ({"DLC_CACHE_DIR": str(tmp_path / "new"), "DLC_CACHE_SIZE": "x"}, 0, "warning: DLC_CACHE_SIZE is 'x'"),
    ):
        done = _run(["dlc", "run", text], setting)
        assert (done.returncode, done.stderr.count("\n")) == (status, 1), done.stderr
        assert said in done.stderr


def test_target_that_is_a_gpu(text: Path) -> None:
    done = _run(["dlc", "run", text, "--target=gpu:sm_90"], {"DLC_CUDA_LIBRARY": "libnothing.so"})
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "models cannot run on 'gpu:sm_90' here: there is no driver of NVIDIA's" in done.stderr
    assert "dlc compile --target gpu:sm_90 --emit=ptx" in done.stderr


def test_value_of_an_upstream_option(text: Path) -> None:
    done = _run(["dlc-opt", text, "--affine-loop-tile=tile-size=x"])
    assert done.returncode == 1
    assert "error: unfit value for option 'tile-size' of pass 'affine-loop-tile'" in done.stderr


def test_function_without_return_names_its_file(tmp_path: Path) -> None:
    file = tmp_path / "open.mlir"
    file.write_text("func.func @f(%x: tensor<4xf32>) {\n}\n", "utf-8")
    for command in (["dlc-opt"], ["dlc", "run"]):
        done = _run([*command, file])
        assert done.returncode == 1
        assert done.stderr.startswith(f"{file}:1:1: error: ")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('    name = "x"\n    def run(self, op): pass', "gives 'name', a method of dlc.Pass, another meaning"),
        ("    pass_name = 3\n    def run(self, op): pass", "must give 'pass_name' as a text"),
        ('    pass_name = "no name"\n    def run(self, op): pass', "'no name' is no name of a pass"),
        ("    anchor = None\n    def run(self, op): pass", "must give 'anchor' as a text"),
        ("    options = 1", "has no method run"),
    ],
)
def test_plugins_that_are_no_passes(body: str, said: str, text: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin.py"
    plugin.write_text(f"from dlc import Pass\nclass Odd(Pass):\n{body}\n", "utf-8")
    done = _run(["dlc-opt", text, f"--load-pass-plugin={plugin}", "--plugin"])
    assert done.returncode == 1
    assert f"{plugin}: error: can't load the passes" in done.stderr
    assert said in done.stderr

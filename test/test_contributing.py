"""Follows CONTRIBUTING.md: its files, dropped into a copy of the sources, are a pass and an op with no other edit."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dlc
from dlc.lowering.affine.ir.tile import CODE_GENERATORS
from dlc.runtime.library import find_library

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"^( *)```(?:python|mlir)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"(?:#|//) (\S+\.(?:py|mlir))\n")
_FOLDERS = ("dialects", "frontends", "analysis", "lowering", "targets", "runtime", "serving", "tools")

# The editable install's finder comes before sys.path, so it has to go for the copy to be imported.
_LAUNCHER = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "Scikit" not in type(finder).__name__]
sys.path.insert(0, {tree!r})
"""


def files_in_text() -> dict[str, str]:
    """The files that CONTRIBUTING.md shows, by path."""
    found = {}
    for match in _BLOCK.finditer((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        body = textwrap.dedent(match[2])
        path = _PATH.match(body)
        if path:
            found[path[1]] = body[path.end() :]
    return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the files of CONTRIBUTING.md added, and nothing else changed."""
    top = tmp_path_factory.mktemp("contributing")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dlc", top / "dlc", ignore=ignore)
    for folder in _FOLDERS:
        shutil.copytree(ROOT / folder, top / "dlc" / folder, ignore=ignore)
    for path, text in files_in_text().items():
        target = top / path if path.startswith("test/") else top / "dlc" / path
        assert not target.exists(), f"{path} is there already"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return top


def run(tree: Path, code: str, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DLC_RUNTIME_LIBRARY": str(find_library())}
    command = [sys.executable, "-c", _LAUNCHER.format(tree=str(tree)) + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, input=stdin, env=environment)


def run_lit_lines(tree: Path, file: Path) -> None:
    """Run the RUN lines of a lit test whose tools are dlc-opt, not and filecheck."""
    lines = [line.split("RUN:", 1)[1] for line in file.read_text(encoding="utf-8").split("\n") if "// RUN:" in line]
    assert lines
    for line in lines:
        text, expect_failure = "", False
        for stage in line.replace("%s", str(file)).replace("2>&1", "").split("|"):
            tool, *arguments = shlex.split(stage)
            if tool == "not":
                expect_failure, (tool, *arguments) = True, arguments
            if tool == "filecheck":
                command = [str(Path(sys.executable).with_name("filecheck")), *arguments]
                done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
                assert done.returncode == 0, done.stdout + done.stderr
                continue
            done = run(tree, "from dlc.tools.dlc_opt import main; sys.exit(main())", *arguments, stdin=text)
            assert (done.returncode == 1) == expect_failure, done.stderr
            text = done.stdout + done.stderr


def test_the_text_shows_a_pass_and_an_op() -> None:
    assert len(files_in_text()) == 7


def test_pass_appears_in_help_and_passes_its_lit_test(tree: Path) -> None:
    done = run(tree, "from dlc.tools.dlc_opt import main; sys.exit(main())", "--help")
    assert "--dl-remove-double-negation" in done.stdout
    assert "most pairs to remove" in done.stdout
    run_lit_lines(tree, tree / "test/lowering/dl/simplify/remove_double_negation.mlir")


@pytest.mark.parametrize("name", ["ops", "invalid"])
def test_op_passes_its_lit_tests(tree: Path, name: str) -> None:
    run_lit_lines(tree, tree / f"test/dialects/dl/squareplus/{name}.mlir")


def test_op_passes_its_numeric_cases(tree: Path) -> None:
    shutil.copy(ROOT / "test/dialects/dl/case.py", tree / "test/dialects/dl")
    shutil.copy(ROOT / "test/dialects/dl/test_numerics.py", tree / "test/dialects/dl")
    code = "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    file = str(tree / "test/dialects/dl/test_numerics.py")
    done = run(tree, code, "-q", "-p", "no:cacheprovider", "-k", "squareplus", f"--rootdir={tree}", file)
    assert done.returncode == 0, done.stdout
    assert "8 passed" in done.stdout


_LINK = re.compile(r"\[[\w.]+\]\(([\w./]+)\)")
_SOFTMAX = """
func.func @main_graph(%x: tensor<128x1000xf32>) -> tensor<128x1000xf32> {
  %0 = "dl.softmax"(%x) {axis = 1 : i64} : (tensor<128x1000xf32>) -> tensor<128x1000xf32>
  return %0 : tensor<128x1000xf32>
}
"""


def test_walk_to_the_line_that_decides(tmp_path: Path) -> None:
    """`dlc explain` names the pass that the walk goes on from; its files are there, and each holds what the walk looks for."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = text.split("## From a slow op to the line that decides", 1)[1].split("\n## ", 1)[0]
    sources = [(ROOT / link).read_text("utf-8") for link in _LINK.findall(walk)]
    assert len(sources) == 5
    for name in ("chosen", "def chosen", "def step", "KNOWN_CPUS", "class Machine"):
        assert any(name in source for source in sources), name
    model = tmp_path / "softmax.mlir"
    model.write_text(_SOFTMAX, encoding="utf-8")
    found = dlc.explain(model, target="cpu:skylake-avx512").schedules.to_json()
    (nests,) = found.values()
    assert {CODE_GENERATORS[nest["code_generator"]] for nest in nests.values()} == {"affine-vectorize-loops"}
    assert {nest["lanes"] for nest in nests.values()} == {16}

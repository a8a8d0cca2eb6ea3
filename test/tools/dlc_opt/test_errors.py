"""Every kind of error ends in one located message and exit status 1, never in a traceback, and leaves outputs alone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import dlc.tools.opt_driver  # noqa: F401 - loaded here once, the runs fork
from dlc.tools.dlc_opt import main

TOOL = Path(sys.executable).with_name("dlc-opt")
PASSES = Path(__file__).parent / "Inputs" / "test_passes.py"
PLUGIN = f"--load-pass-plugin={PASSES}"
RELU = b"""func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run dlc-opt on standard input, in a process of its own."""
    return subprocess.run([TOOL, *arguments], input=RELU, capture_output=True, check=False, timeout=60)


def check_error(status: int, message: str) -> None:
    """One error, exit status 1, no traceback."""
    assert status == 1, message
    assert len(re.findall(r"(?:^|: )error: ", message, re.MULTILINE)) == 1, message
    assert "Traceback" not in message and 'File "' not in message


# arguments, input, what standard error must match
CASES: dict[str, tuple[list[str], bytes, str]] = {
    "syntax": ([], b"func.func @f( {\n}", r"^input\.mlir:1:14: error: "),
    "caret under tabs": ([], b'\t"dl.relu"(%x) : () -> ()', r"^input\.mlir:1:18: error: .*type but had 0\n\t.*\n\t {16}\^"),
    "unknown op": ([], b'\n"dl.nosuch"() : () -> ()', r"^input\.mlir:2:1: error: unregistered operation 'dl\.nosuch'"),
    "unquoted op": ([], RELU.replace(b'"', b""), r"^input\.mlir:2:8: error: .*quote its name: \"dl\.relu\""),
    "unquoted op after a quoted one": (
        [],
        b'// dl.relu(\n"dl.relu"(dl.exp(',
        r"^input\.mlir:2:\d+: error: ",
    ),
    "verifier": (
        [],
        RELU.replace(b"4xf32> {", b"5xf32> {")
        .replace(b"-> tensor<4", b"-> tensor<5")
        .replace(b": tensor<4xf32>\n}", b": tensor<5xf32>\n}"),
        r"^input\.mlir:2:8: error: 'dl\.relu' op",
    ),
    "unknown flag": (["--verify-diagnostic"], RELU, r"<command line>:1:20: error: .*did you mean 'verify-diagnostics'\?"),
    "unknown pass": (["--canonicalise"], RELU, r"<command line>:1:20: error: .*did you mean 'canonicalize'\?"),
    "unfit pass option": (["--canonicalize=max-iterations=x"], RELU, r"<command line>:1:20: error: unfit value for"),
    "unknown pass option": (["--cse=a=b"], RELU, r"error: pass 'cse' has no option 'a' \(options: none\)"),
    "option of a Python pass": ([PLUGIN, "--test-refuse=reson=a"], RELU, r"has no option 'reson' \(options: reason\)"),
    "pipeline": (["--pass-pipeline=builtin.module(cse"], RELU, r"^<pipeline>:1:15: error: this '\(' is never closed\n"),
    "empty pipeline": (["--pass-pipeline="], RELU, r"^<pipeline>:1:1: error: the pipeline is empty"),
    "flag without value": (["--pass-pipeline"], RELU, r"error: flag '--pass-pipeline' needs a value"),
    "bad boolean": (["--verify-each=maybe"], RELU, r"flag '--verify-each' expects true or false but got 'maybe'"),
    "bad number": (["--mlir-elide-elementsattrs-if-larger=-1"], RELU, r"expects a number but got '-1'"),
    "two inputs": (["b.mlir"], RELU, r"^<command line>:1:20: error: there is an input already: 'input\.mlir'"),
    "not UTF-8": ([], b"func.func @f() {\n  return \xff\n}", r"^input\.mlir:2:10: error: byte 0xff is neither UTF-8 text"),
    "truncated bytecode": ([], b"ML\xefR\x0d", r"^input\.mlir: error: "),
    "corrupt bytecode": ([], b"ML\xefR\x0dxyz\x00" + bytes(range(200)), r"^input\.mlir: error: "),
    "output folder": (["-o", "nosuch/x.mlir"], RELU, r"^nosuch/x\.mlir: error: no such file or directory"),
    "output is a folder": (["-o", "."], RELU, r"^\.: error: is a directory"),
    "refusal": ([PLUGIN, "--test-refuse"], RELU, r"^input\.mlir:1:1: error: needs nothing; run test-mark first\nfunc\.func @f"),
    "exception": ([PLUGIN, "--test-raise"], RELU, r"error: internal error in pass 'test-raise': KeyError: 'missing'"),
    "broken IR": ([PLUGIN, "--test-break"], RELU, r"note: pass 'test-break' left IR that does not verify"),
    "native pass": (
        ["--transform-interpreter"],
        b"module {}",
        r"^input\.mlir:1:1: error: could not find .*\n(.*\n)*.*'transform-int",
    ),
    "no reproducer": (["--run-reproducer"], RELU, r"^input\.mlir: error: this is no reproducer"),
    "plugin": (["--load-pass-plugin=nosuch.py"], RELU, r"^nosuch\.py: error: can't load the passes: No such file"),
    "start without an end": (["--compile-from=dl"], RELU, r"^--compile-from: error: needs --compile-to=<stage>, too"),
    "printing": (["--mlir-print-ir-after=csse"], RELU, r"error: no pass is called 'csse'; did you mean 'cse'\?"),
    "tree": (["--cse", "--mlir-print-ir-tree-dir=input.mlir"], RELU, r"^input\.mlir/.*cse\.mlir: error: "),
    "stage": (["--compile-to=nosuch"], RELU, r"error: no stage is called 'nosuch'"),
    "two top-level ops": (["--no-implicit-module"], RELU + b"module {}", r"^input\.mlir:.*error: "),
}


@pytest.mark.parametrize("case", CASES)
def test_error(case, folder, capfd):
    arguments, text, pattern = CASES[case]
    (folder / "input.mlir").write_bytes(text)
    status = main(["input.mlir", *arguments])
    message = capfd.readouterr().err
    check_error(status, message)
    assert re.search(pattern, message), message


@pytest.mark.parametrize(("name", "reason"), [("nosuch.mlir", "no such file or directory"), (".", "is a directory")])
def test_input_that_can_not_be_read(name, reason, folder, capfd):
    status = main([name])
    message = capfd.readouterr().err
    check_error(status, message)
    assert message == f"{name}: error: {reason}\n"


def test_plugin_with_a_syntax_error(folder, capfd):
    (folder / "plugin.py").write_text("def f(:\n")
    (folder / "input.mlir").write_bytes(RELU)
    status = main(["--load-pass-plugin=plugin.py", "input.mlir"])
    message = capfd.readouterr().err
    check_error(status, message)
    assert re.match(r"plugin\.py:1:\d+: error: .*\ndef f\(:\n +\^", message)


@pytest.mark.parametrize("arguments", [["--test-refuse"], ["--test-crash"], ["--nosuch"]])
def test_an_existing_output_stays_when_there_is_an_error(arguments, folder):
    (folder / "out.mlir").write_text("before")
    done = run(PLUGIN, *arguments, "-o", "out.mlir")
    check_error(done.returncode, done.stderr.decode())
    assert (folder / "out.mlir").read_text() == "before"
    assert not list(folder.glob(".out*"))


def test_output_replaces_a_file_and_keeps_its_mode_and_links(tmp_path):
    target, link = tmp_path / "out.mlir", tmp_path / "link.mlir"
    target.write_text("before")
    target.chmod(0o600)
    link.symlink_to(target)
    assert run("-o", str(link)).returncode == 0
    assert "dl.relu" in target.read_text() and link.is_symlink() and target.stat().st_mode & 0o777 == 0o600


def test_unverified_ir_passes_through_when_asked():
    done = run(PLUGIN, "--test-break", "--verify-each=false", "--mlir-print-op-generic")
    assert done.returncode == 0, done.stderr


def test_closed_output_is_no_error_message():
    command = f"'{TOOL}' - | true"
    done = subprocess.run(["bash", "-c", command], input=RELU, capture_output=True, check=False, timeout=60)
    assert done.stderr == b""


def test_empty_input_is_an_empty_module(folder, capfd):
    (folder / "input.mlir").touch()
    assert main(["input.mlir"]) == 0
    assert capfd.readouterr().out == "module {\n}\n"

"""A pass that takes the process down ends in a message and a reproducer that replays."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(sys.executable).with_name("dlc-opt")
PLUGIN = f"--load-pass-plugin={Path(__file__).parent / 'Inputs' / 'test_passes.py'}"
TEXT = """
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
{-#
  dialect_resources: { builtin: { blob: "0x0400000001000000" } }
#-}
"""


def run(*arguments: str, folder: Path, text: str = TEXT) -> subprocess.CompletedProcess[str]:
    command = [TOOL, *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=folder, timeout=60)


@pytest.mark.parametrize(("name", "reason"), [("test-crash", "SIGABRT"), ("test-exit", "exit status 1")])
def test_a_crash_names_the_pass_and_leaves_a_reproducer(name, reason, tmp_path):
    done = run(PLUGIN, "--cse", f"--{name}", "--sccp", folder=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert f"<stdin>: error: pass '{name}' crashed ({reason})\n" in done.stderr
    (reproducer,) = tmp_path.glob("dlc-opt-reproducer-*.mlir")
    text = reproducer.read_text()
    assert f'pipeline: "builtin.module({name})"' in text
    assert text.count("arith.addi") == 1, "the IR is that after cse"


def test_the_printed_command_replays_the_crash(tmp_path):
    done = run(PLUGIN, "--test-crash", folder=tmp_path)
    command = re.search(r"replay with: dlc-opt (.*)", done.stderr)
    again = run(*shlex.split(command[1]), folder=tmp_path)
    assert again.returncode == 1 and "pass 'test-crash' crashed" in again.stderr


def test_resources_and_the_pipeline_share_one_block(tmp_path):
    resource = TEXT.replace("return %2", "%w = arith.constant dense_resource<blob> : tensor<1xi32>\n  return %2")
    done = run(PLUGIN, "--test-crash", "--mlir-pass-pipeline-crash-reproducer=r.mlir", folder=tmp_path, text=resource)
    assert done.returncode == 1
    text = (tmp_path / "r.mlir").read_text()
    assert text.count("{-#") == 1 and "0x0400000001000000" in text
    assert "crashed" in run(PLUGIN, "--run-reproducer", "r.mlir", folder=tmp_path).stderr


def test_a_crash_in_a_nested_pipeline(tmp_path):
    text = f"builtin.module(builtin.module({'test-crash'}))"
    done = run(PLUGIN, f"--pass-pipeline={text}", folder=tmp_path, text=f"module {{ {TEXT.split('{-#')[0]} }}")
    assert done.returncode == 1 and "pass 'test-crash' crashed" in done.stderr


def test_a_failing_pass_leaves_no_reproducer_unless_asked(tmp_path):
    assert run(PLUGIN, "--test-refuse", folder=tmp_path).returncode == 1
    assert not list(tmp_path.iterdir())


def test_only_the_part_that_crashes_is_kept(tmp_path):
    text = "func.func @good() { return }\n// -----\nfunc.func @bad() { return }\n"
    done = run(PLUGIN, "--test-crash", "--split-input-file", folder=tmp_path, text=text)
    (reproducer,) = tmp_path.glob("dlc-opt-reproducer-*.mlir")
    assert done.returncode == 1 and "@good" in reproducer.read_text()


def test_an_unwritable_reproducer_is_an_error(tmp_path):
    done = run(PLUGIN, "--test-crash", "--mlir-pass-pipeline-crash-reproducer=nosuch/r.mlir", folder=tmp_path)
    assert done.returncode == 1 and "nosuch/r.mlir: error: no such file" in done.stderr
    assert "Traceback" not in done.stderr


def test_reproducers_are_deterministic(tmp_path):
    for _ in range(2):
        run(PLUGIN, "--test-crash", folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1

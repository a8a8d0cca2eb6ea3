"""Command lines of `dlc-opt` and `dlc`, as a shell starts them, in a folder with a few files."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import numpy as np
from onnx import TensorProto, helper

from dlc.lowering.registry import find_pass
from fuzz.cases import ACCEPTED, CLEAN, LEFTOVER, NATIVE, SIGNAL, Phase, Verdict
from fuzz.command_words import dlc_command, opt_command
from fuzz.judging import judge_text, shape_of
from fuzz.reducing import without_parts

_GOOD = """func.func @f(%x: tensor<2x4xf32> {dl.name = "x"}) -> (tensor<2x4xf32> {dl.name = "y"}) {
  %0 = "dl.relu"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = "dl.add"(%0, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
"""
_AFFINE = """func.func @f(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %c: memref<8x8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      affine.for %k = 0 to 8 {
        %0 = affine.load %a[%i, %k] : memref<8x8xf32>
        %1 = affine.load %b[%k, %j] : memref<8x8xf32>
        %2 = affine.load %c[%i, %j] : memref<8x8xf32>
        %3 = arith.mulf %0, %1 : f32
        %4 = arith.addf %2, %3 : f32
        affine.store %4, %c[%i, %j] : memref<8x8xf32>
      }
    }
  }
  return
}
"""
_PLUGIN = '''"""A pass of a user."""

from dataclasses import dataclass

from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class UserPass(Pass):
    """Does nothing."""

    def run(self, op):
        return
'''


class CommandFamily:
    """Both tools."""

    name, suffix, batch, weight = "command", ".json", 50, 5

    def __init__(self) -> None:
        self._files: Mapping[str, bytes] = {}

    def prepare(self) -> None:
        import dlc.tools.dlc
        import dlc.tools.dlc_opt
        import dlc.tools.opt_driver

        self._files = _files()
        for make in (opt_command, dlc_command):
            make(Random(0))
        dlc.lower(_GOOD)

    def make(self, random: Random) -> bytes:
        return json.dumps(opt_command(random) if random.random() < 0.6 else dlc_command(random)).encode()

    def execute(self, payload: bytes, phase: Phase) -> Verdict:
        words = [str(word) for word in json.loads(payload)]
        with tempfile.TemporaryDirectory(prefix="dlc-fuzz-") as folder:
            for name, content in self._files.items():
                (Path(folder) / name).write_bytes(content)
            phase(" ".join(words[:2])[:80])
            status, text = _run(words, Path(folder))
            left = [file.name for file in Path(folder).iterdir() if file.name.endswith(".partial")]
        if left:
            return Verdict(LEFTOVER, f"{words[0]} leaves a partial file", text[-2000:])
        return _verdict(words, status, text)

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        words = json.loads(payload)
        for kept in without_parts(words[1:]):
            yield json.dumps([words[0], *kept]).encode()
        for index, word in enumerate(words[1:], 1):
            if len(word) > 3:
                for rest in without_parts(word):
                    yield json.dumps([*words[:index], "".join(rest), *words[index + 1 :]]).encode()


def _files() -> dict[str, bytes]:
    value = helper.make_tensor_value_info
    node = helper.make_node("Relu", ["x"], ["y"])
    graph = helper.make_graph([node], "g", [value("x", TensorProto.FLOAT, ["n", 4])], [value("y", TensorProto.FLOAT, ["n", 4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    array = io.BytesIO()
    np.save(array, np.zeros((2, 4), np.float32))
    return {
        "good.mlir": _GOOD.encode(),
        "affine.mlir": _AFFINE.encode(),
        "bad.mlir": b"func.func @f( {\n",
        "empty": b"",
        "binary": bytes(range(256)),
        "good.onnx": model.SerializeToString(),
        "input.npy": array.getvalue(),
        "plugin.py": _PLUGIN.encode(),
        "broken.py": b"def f(:\n",
        "schedule.json": b"{}",
    }


def _run(words: list[str], folder: Path) -> tuple[int, str]:
    """Exit status and standard error of a command in a process of its own; a signal is a negative status."""
    errors = folder / ".stderr"
    child = os.fork()
    if child == 0:
        _become(words, folder, errors)
    _, status = os.waitpid(child, 0)
    text = errors.read_text(encoding="utf-8", errors="replace")
    return os.waitstatus_to_exitcode(status), text


def _become(words: list[str], folder: Path, errors: Path) -> None:
    from dlc.tools import entry

    try:
        os.chdir(folder)
        output = os.open(errors, os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 2)
        sys.argv = list(words)
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        os.environ["DLC_CACHE_DIR"] = str(folder / "cache")
        (entry.dlc_opt if words[0] == "dlc-opt" else entry.dlc)()
    except BaseException as error:
        os.write(2, f"Traceback (most recent call last): {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(70)


def _verdict(words: list[str], status: int, text: str) -> Verdict:
    if status < 0:
        return Verdict(SIGNAL, f"{words[0]} ends by signal {-status}", text[-2000:])
    crash = next((line for line in text.splitlines() if "crashed (" in line), "")
    if crash:
        native = words[0] == "dlc-opt" and not _is_own(crash)
        return Verdict(NATIVE if native else SIGNAL, crash[crash.index("error:") :], text[-2000:])
    verdict = judge_text(status, text)
    if verdict.kind != CLEAN:
        return verdict
    return Verdict(CLEAN if status else ACCEPTED, "" if not status else shape_of(text))


def _is_own(crash: str) -> bool:
    """Whether the pass that crashed is one of dlc's."""
    return find_pass(crash.partition("pass '")[2].partition("'")[0]) is not None

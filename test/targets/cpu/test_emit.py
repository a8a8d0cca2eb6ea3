"""Modules as LLVM IR, assembly and objects; the object runs without the compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dlc._mlir import ir
from dlc.errors import TargetError
from dlc.lowering.pipeline import Pipeline
from dlc.runtime.library import find_library
from dlc.runtime.session import Session
from dlc.targets.cpu import emit
from dlc.targets.signature import signature_of

NEGATE = """
module attributes {dl.signature = {entry = "f", inputs = [{name = "x", type = tensor<?xf32>}],
    outputs = [{name = "y", type = tensor<?xf32>}], params = []}} {
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.negf ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}}
"""


@pytest.fixture
def module() -> Iterator[ir.Module]:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(NEGATE)
        Pipeline.parse("linalg-to-affine,affine-to-llvm").run(module)
        yield module


def test_llvm_ir(module: ir.Module) -> None:
    text = emit.emit_llvm_ir(module)
    assert "define void @_mlir_ciface_f(" in text
    assert "define internal void @kernel_0" in text


def test_object_runs_without_the_compiler(module: ir.Module, tmp_path: Path) -> None:
    compiler = shutil.which("g++") or pytest.skip("needs g++")
    content = emit.emit_object(module)
    assert content[:4] == b"\x7fELF"
    (tmp_path / "f.o").write_bytes(content)
    command = [compiler, "-shared", "-Wl,--fatal-warnings", "-o", "f.so", "f.o", str(find_library())]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "f.so"))
    address = ctypes.cast(library["_mlir__mlir_ciface_f"], ctypes.c_void_p).value
    assert address
    session = Session(address, signature_of(module), {}, library)
    np.testing.assert_array_equal(session(np.arange(5, dtype=np.float32))[0], -np.arange(5, dtype=np.float32))


def test_assembly(module: ir.Module) -> None:
    if not shutil.which("objdump"):
        pytest.skip("needs objdump")
    text = emit.emit_assembly(module)
    assert text.startswith("Disassembly of section")
    assert "<_mlir_ciface_f>:" in text


def test_assembly_without_binutils(module: ir.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(TargetError, match="assembly needs 'objdump', which is missing; install binutils"):
        emit.emit_assembly(module)


def test_module_without_entry() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse("llvm.func @f() { llvm.return }")
        with pytest.raises(TargetError, match="no entry point"):
            emit.emit_object(module)
        with pytest.raises(TargetError, match=r"found 'func\.func'"):
            emit.emit_llvm_ir(ir.Module.parse("func.func @f() { return }"))

"""Machine code of contractions uses tensor cores, by NVIDIA's disassembler, and `ptxas` spills none of their registers."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.targets.gpu.ptxas import Assembly, assemble, find_ptxas
from dlc.targets.gpu.target import GpuTarget

_TEXT = """
func.func @f(%A: memref<512x512x{kind}> {{llvm.noalias}}, %B: memref<512x512x{kind}> {{llvm.noalias}},
             %C: memref<512x512x{wide}> {{llvm.noalias}}) {{
  %zero = arith.constant {zero} : {wide}
  affine.for %i = 0 to 512 {{
    affine.for %j = 0 to 512 {{
      %sum = affine.for %k = 0 to 512 iter_args(%s = %zero) -> {wide} {{
        %a = affine.load %A[%i, %k] : memref<512x512x{kind}>
        %b = affine.load %B[%k, %j] : memref<512x512x{kind}>
        %x = arith.{widen} %a : {kind} to {wide}
        %y = arith.{widen} %b : {kind} to {wide}
        %p = arith.mul{suffix} %x, %y : {wide}
        %n = arith.add{suffix} %s, %p : {wide}
        affine.yield %n : {wide}
      }}
      affine.store %sum, %C[%i, %j] : memref<512x512x{wide}>
    }} {{dlc.parallel}}
  }} {{dlc.parallel}}
  return
}}"""
_FLOATS = {"wide": "f32", "zero": "0.0", "widen": "extf", "suffix": "f"}
_INTEGERS = {"wide": "i32", "zero": "0", "widen": "extsi", "suffix": "i"}


def _disassembler() -> str | None:
    """The `nvdisasm` of NVIDIA's wheel `nvidia-cuda-nvdisasm`, else one on the PATH."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    found = [path for root in roots for path in Path(root).glob("*/bin/nvdisasm")]
    return str(found[0]) if found else shutil.which("nvdisasm")


def _assembly(kind: str, chip: str) -> Assembly:
    target = GpuTarget()
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_TEXT.format(kind=kind, **(_INTEGERS if kind == "i8" else _FLOATS)))
        target.state(module.operation, f"gpu:{chip}")
        Pipeline.parse("affine-to-gpu,gpu-to-nvvm").run(module)
        return assemble(target.emit(module, "ptx"))


@pytest.mark.skipif(find_ptxas() is None, reason="NVIDIA's ptxas is not installed (pip install 'dlc[ptxas]')")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
@pytest.mark.parametrize("kind, name", [("f16", "HMMA.16816.F32"), ("bf16", "HMMA.16816.F32.BF16"), ("i8", "IMMA.16832.S8.S8")])
def test_tensor_cores_are_in_the_machine_code(kind: str, name: str, chip: str, tmp_path: Path) -> None:
    found = _assembly(kind, chip)
    (usage,) = found.usage.values()
    assert not usage.spills
    program = _disassembler()
    if program is None:
        pytest.skip("NVIDIA's nvdisasm is not installed (pip install nvidia-cuda-nvdisasm)")
    cubin = tmp_path / "kernel.cubin"
    cubin.write_bytes(found.cubin)
    text = subprocess.run([program, str(cubin)], capture_output=True, text=True, check=True, timeout=60).stdout
    assert name in text
    assert "LDSM.16.M88.4" in text and "LDGSTS.E.BYPASS.128" in text

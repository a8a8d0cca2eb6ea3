"""Machine code of contractions uses tensor cores, by NVIDIA's disassembler, and `ptxas` spills none of their registers."""

from __future__ import annotations

import re

import pytest

import dlc
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.targets.gpu import nvdisasm
from dlc.targets.gpu.nvdisasm import disassemble, find_nvdisasm
from dlc.targets.gpu.ptxas import Assembly, assemble, find_ptxas
from dlc.targets.gpu.target import GpuTarget

_TEXT = """
func.func @f(%A: memref<{size}x{size}x{kind}> {{llvm.noalias}}, %B: memref<{size}x{size}x{kind}> {{llvm.noalias}},
             %C: memref<{size}x{size}x{wide}> {{llvm.noalias}}) {{
  %zero = arith.constant {zero} : {wide}
  affine.for %i = 0 to {size} {{
    affine.for %j = 0 to {size} {{
      %sum = affine.for %k = 0 to {size} iter_args(%s = %zero) -> {wide} {{
        %a = affine.load %A[%i, %k] : memref<{size}x{size}x{kind}>
        %b = affine.load %B[{right}] : memref<{size}x{size}x{kind}>
        %x = arith.{widen} %a : {kind} to {wide}
        %y = arith.{widen} %b : {kind} to {wide}
        %p = arith.mul{suffix} %x, %y : {wide}
        %n = arith.add{suffix} %s, %p : {wide}
        affine.yield %n : {wide}
      }}
      affine.store %sum, %C[%i, %j] : memref<{size}x{size}x{wide}>
    }} {{dlc.parallel}}
  }} {{dlc.parallel}}
  return
}}"""
_FLOATS = {"wide": "f32", "zero": "0.0", "widen": "extf", "suffix": "f"}
_INTEGERS = {"wide": "i32", "zero": "0", "widen": "extsi", "suffix": "i"}
_ASYNC, _TMA = "LDGSTS.E.BYPASS.128", "UTMALDG.2D"
_INSTRUCTIONS = [
    ("sm_80", "f16", 512, r"HMMA\.16816\.F32 ", _ASYNC),
    ("sm_80", "bf16", 512, r"HMMA\.16816\.F32\.BF16 ", _ASYNC),
    ("sm_80", "i8", 512, r"IMMA\.16832\.S8\.S8\.SAT ", _ASYNC),
    ("sm_90", "f16", 512, r"HGMMA\.64x64x16\.F32 ", _TMA),
    ("sm_90", "f16", 4096, r"HGMMA\.64x256x16\.F32 ", _TMA),
    ("sm_90", "bf16", 4096, r"HGMMA\.64x256x16\.F32\.BF16 ", _TMA),
    ("sm_90", "i8", 4096, r"IGMMA\.64x256x32\.S8\.S8 ", _TMA),
    ("sm_90", "i8 by columns", 4096, r"IGMMA\.64x256x32\.S8\.S8 ", _TMA),
]
"""Chip, elements (and how the right operand lies), side, what multiplies them, and what copies them to shared memory."""
_LOCAL = re.compile(r"\b(LDL|STL)\b")
"""Accesses of a thread's own memory: spilled registers."""


def _assembly(kind: str, chip: str, size: int) -> Assembly:
    target = GpuTarget()
    kind, _, columns = kind.partition(" ")
    words = (_INTEGERS if kind == "i8" else _FLOATS) | {"right": "%j, %k" if columns else "%k, %j"}
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_TEXT.format(kind=kind, size=size, **words))
        target.state(module.operation, f"gpu:{chip}")
        Pipeline.parse("affine-to-gpu,gpu-to-nvvm").run(module)
        return assemble(target.emit(module, "ptx"))


@pytest.mark.skipif(
    find_ptxas() is None or find_nvdisasm() is None, reason="NVIDIA's tools are not installed (pip install 'dlc[ptxas]')"
)
@pytest.mark.parametrize("chip, kind, size, instruction, copies", _INSTRUCTIONS)
def test_tensor_cores_are_in_the_machine_code(chip: str, kind: str, size: int, instruction: str, copies: str) -> None:
    found = _assembly(kind, chip, size)
    assert not any(usage.spills for usage in found.usage.values())
    text = disassemble(found.cubin).decode()
    assert re.search(instruction, text) and not _LOCAL.search(text)
    assert copies in text and ("LDSM.16.M88.4" in text) == ("GMMA" not in instruction)


def test_without_the_disassembler_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvdisasm, "find_nvdisasm", lambda: None)
    with pytest.raises(dlc.TargetError, match=r"nvdisasm, which is not installed; pip install 'dlc\[ptxas\]', or write cubin"):
        disassemble(b"")


@pytest.mark.skipif(find_nvdisasm() is None, reason="NVIDIA's nvdisasm is not installed (pip install 'dlc[ptxas]')")
def test_the_disassembler_refuses_nonsense() -> None:
    with pytest.raises(dlc.TargetError, match=r"nvdisasm refuses the kernels: .*; report this model, or write cubin"):
        disassemble(b"no cubin")

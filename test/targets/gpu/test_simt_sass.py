"""Machine code of exact products is multiply-adds beside few other instructions, by NVIDIA's disassembler, and spills nothing."""

from __future__ import annotations

import re

import pytest

import dlc
from dlc.targets.gpu.nvdisasm import disassemble, find_nvdisasm
from dlc.targets.gpu.ptxas import assemble, find_ptxas
from dlc.targets.gpu.target import GpuTarget

_TOOLS = find_ptxas() is not None and find_nvdisasm() is not None
_PRODUCT = """func.func @main(%a: tensor<{m}x{k}x{t}>, %b: tensor<{k}x{n}x{t}>) -> tensor<{m}x{n}x{t}> {{
  %0 = "dl.matmul"(%a, %b) : (tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>) -> tensor<{m}x{n}x{t}>
  return %0 : tensor<{m}x{n}x{t}>
}}"""
_CONVOLUTION = """
!x = tensor<8x256x14x14xf32>
!w = tensor<256x256x3x3xf32>
func.func @main(%x: !x, %w: !w) -> !x {
  %0 = "dl.conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (!x, !w) -> !x
  return %0 : !x
}"""


def _product(m: int, n: int, k: int, element: str = "f32") -> str:
    return _PRODUCT.format(m=m, n=n, k=k, t=element)


@pytest.mark.skipif(not _TOOLS, reason="NVIDIA's ptxas and nvdisasm are not installed (pip install 'dlc[ptxas]')")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
@pytest.mark.parametrize(
    ("text", "least"),
    [
        (_product(4096, 4096, 4096), 0.85),
        (_product(128, 3072, 768), 0.7),
        (_product(200, 333, 777), 0.55),
        (_product(1024, 1024, 512, "f64"), 0.7),
        (_CONVOLUTION, 0.65),
    ],
    ids=["large", "few rows", "ragged", "doubles", "convolution"],
)
def test_the_loop_is_multiply_adds(text: str, least: float, chip: str) -> None:
    """`least` is their share; vectors are read from shared memory, and results of small tiles take more of them."""
    target = GpuTarget()
    module = dlc.lower(dlc.optimize(text, target=f"gpu:{chip}"), "nvvm", target=f"gpu:{chip}")
    assembly = assemble(target.emit(module, "ptx"))
    assert not any(usage.spills for usage in assembly.usage.values())
    loop = max(_loops(disassemble(assembly.cubin).decode()), key=lambda ops: sum(_multiplies(op) for op in ops))
    assert sum(map(_multiplies, loop)) >= least * len(loop)
    assert any(op.startswith("LDS.128") for op in loop) and any(op.startswith("LDGSTS") for op in loop)


def _multiplies(op: str) -> bool:
    return op.startswith(("FFMA", "DFMA"))


def _loops(text: str) -> list[list[str]]:
    """The instructions between each label and the last branch back to it, without their predicates."""
    labels: dict[str, int] = {}
    ops, found = list[str](), list[list[str]]()
    for line in text.splitlines():
        label = re.match(r"\s*(\.L_x?_?\d+):", line)
        if label:
            labels[label[1]] = len(ops)
        op = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([^;]*);", line)
        if op is None:
            continue
        ops.append(op[1])
        target = re.search(r"BRA.*`\((\.L_x?_?\d+)\)", op[1])
        if target and target[1] in labels:
            found.append(ops[labels[target[1]] :])
    return found

"""Convolutions by register tiles have the registers that they need, by NVIDIA's assembler."""

from __future__ import annotations

import pytest

from bench import nodes
from dlc._mlir import ir
from dlc.sources import read_source
from dlc.targets.gpu.ptxas import assemble, find_ptxas
from dlc.targets.gpu.target import GpuTarget


@pytest.mark.sweep(every=2)
@pytest.mark.skipif(find_ptxas() is None, reason="NVIDIA's ptxas is not installed (pip install 'dlc[ptxas]')")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
@pytest.mark.parametrize(("inner", "outer", "size"), [(256, 256, 56), (512, 512, 28), (64, 64, 56)])
def test_no_register_is_spilled(inner: int, outer: int, size: int, chip: str) -> None:
    """Places of channels and taps are found by division in 3x3 windows, which takes registers beside the tile's."""
    model = nodes.conv((1, inner, size, size), (outer, inner, 3, 3), (1, outer, size, size), {"pads": [1] * 4})
    module, target = read_source(model).module, GpuTarget()
    with module.context, ir.Location.unknown():
        target.state(module.operation, f"gpu:{chip}")
        target.passes("dl", "nvvm").run(module, verify_each=False)
        usage = assemble(target.emit(module, "ptx")).usage
    assert not [name for name, each in usage.items() if each.spills]

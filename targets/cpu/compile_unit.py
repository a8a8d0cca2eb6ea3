"""One unit to an object: the rest of the pipeline, then LLVM."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipeline_run import Instrument
from dlc.targets.cpu.emit import emit_unit
from dlc.targets.units import KERNEL_PREFIX


def compile_unit(
    module: ir.Module, symbol: str, pipeline: Pipeline, opt_level: int, instruments: Sequence[Instrument] = ()
) -> bytes:
    """Lower `module` in place by `pipeline`, which ends at the llvm dialect, and compile it; `symbol` is its function.

    `instruments` see its passes. Raises `PassError` or `TargetError`.
    """
    with module.context, ir.Location.unknown():
        pipeline.run(module, verify_each=False, instruments=instruments)
        return emit_unit(module, symbol, opt_level, KERNEL_PREFIX)

"""LLVM IR of kernels to PTX, by llvmlite's LLVM; MLIR's own is built without the back end."""

from __future__ import annotations

import functools
import re

import llvmlite.binding as llvm

from dlc.errors import TargetError
from dlc.lowering.older_text import older_text

_TRIPLE = "nvptx64-nvidia-cuda"
_OF_DRIVER = {"vprintf", "__assertfail"}
"""Functions that the driver links in."""

_UNDEFINED = re.compile(r"\.extern \.func\s*(?:\([^)]*\)\s*)?([\w.$]+)")


def ptx_of(text: str, chip: str, features: str) -> str:
    """The LLVM IR `text` as PTX for `chip` (`sm_90`); `TargetError` where LLVM cannot make it."""
    _initialize()
    try:
        target = llvm.Target.from_triple(_TRIPLE)
    except RuntimeError:
        raise TargetError("the installed llvmlite makes no code for NVIDIA's GPUs; install a release from PyPI") from None
    machine = target.create_target_machine(cpu=chip, features=features, opt=3)
    try:
        module = llvm.parse_assembly(older_text(text))
    except RuntimeError as error:
        raise TargetError(f"the LLVM that makes PTX cannot read the kernels: {error}") from None
    module.triple = _TRIPLE
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    ptx = str(machine.emit_assembly(module))
    missing = sorted(set(_UNDEFINED.findall(ptx)) - _OF_DRIVER)
    if missing:
        raise TargetError(f"the kernels call {', '.join(missing)}, which no library of the GPU has")
    return ptx


@functools.lru_cache(maxsize=1)
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()

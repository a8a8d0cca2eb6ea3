"""lit's settings: how the `.mlir` tests find their tools, and which features this machine has.

Tools come from the environment that runs lit. Tests write `filecheck`; `not` is lit's own. Features for `REQUIRES:`:
`x86`, `aarch64`, `onnxruntime`, `cuda`, `ptxas`, `nvdisasm`; `slow` with `--param slow=1`.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lit.formats

from dlc.targets.gpu.nvdisasm import find_nvdisasm
from dlc.targets.gpu.ptxas import find_ptxas

ROOT = Path(__file__).resolve().parent
TOOLS = Path(sys.executable).parent


def has_cuda() -> bool:
    """Whether a CUDA driver with a device answers."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def features() -> set[str]:
    """Names of what this machine can do."""
    machine = {"x86_64": "x86", "AMD64": "x86", "aarch64": "aarch64", "arm64": "aarch64"}.get(platform.machine())
    found = {machine} if machine else set()
    if importlib.util.find_spec("onnxruntime"):
        found.add("onnxruntime")
    if find_ptxas() is not None:
        found.add("ptxas")
    if find_nvdisasm() is not None:
        found.add("nvdisasm")
    if has_cuda():
        found.add("cuda")
    return found


def start_fork_server(folder: Path) -> dict[str, str]:
    """Start the server that runs `dlc-opt`, `dlc` and `filecheck`, which lives as long as lit; the environment of those who ask it.

    Their places in `folder` are clients of the server. Without such a server, as with `--param fork-server=off`, tools are started.
    """
    sys.path.insert(0, str(ROOT))
    from fork_server import write_clients

    shutil.rmtree(folder, ignore_errors=True)
    address = Path(tempfile.mkdtemp()) / "socket"  # paths of sockets are short
    atexit.register(shutil.rmtree, address.parent, ignore_errors=True)
    reader, writer = os.pipe()
    os.set_inheritable(writer, False)
    subprocess.Popen([sys.executable, ROOT / "fork_server.py", address], stdin=reader, env={**os.environ, **SETTINGS})
    os.close(reader)
    clients = write_clients(folder, address, {**os.environ, **SETTINGS})
    return {"PATH": os.pathsep.join([str(folder), config.environment["PATH"]]), **clients}


SETTINGS = {"DLC_CACHE_DIR": "", "DLC_COMPILE_WORKERS": "1"}
"""What is tested is compiled."""

config.name = "dlc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "Output"]
config.test_source_root = str(ROOT)
config.test_exec_root = str(ROOT.parent / "build" / "lit")
config.available_features = features() | ({"slow"} if "slow" in lit_config.params else set())
config.environment["PATH"] = os.pathsep.join([str(TOOLS), config.environment.get("PATH", "")])
config.environment.update(SETTINGS)
config.substitutions += [("%python", sys.executable), ("%inputs", str(ROOT / "Inputs"))]
for name in ("DLC_RUNTIME_LIBRARY", "DLC_MLIR_PACKAGE", "DLC_DEBUG", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
Path(config.test_exec_root).mkdir(parents=True, exist_ok=True)
if lit_config.params.get("fork-server") != "off" and hasattr(os, "fork"):
    config.environment.update(start_fork_server(Path(config.test_exec_root) / ".bin"))
config.maxIndividualTestTime = 120

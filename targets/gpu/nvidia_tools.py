"""Programs of NVIDIA's that work on kernels without a GPU: where they are, and running them."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

from dlc.errors import TargetError

_FOLDERS = ("cuda_nvcc/bin", "cu13/bin")
"""Below the package `nvidia`, which several wheels fill: CUDA 12 and 13."""

_SECONDS = 600


def find_tool(name: str) -> Path | None:
    """The program `name` that is installed: that of a wheel, else one on the PATH."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    found = next((path for root in roots for folder in _FOLDERS if (path := Path(root, folder, name)).is_file()), None)
    on_path = shutil.which(name)
    return found or (Path(on_path) if on_path else None)


def run_tool(program: Path, arguments: list[str], fewer: str) -> subprocess.CompletedProcess[str]:
    """What the program says. `TargetError` where it does not start or end; `fewer` is the form to write without it."""
    name = program.name
    try:
        return subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise TargetError(f"{name} takes more than {_SECONDS} s; compile fewer kernels, or write {fewer}") from None
    except OSError as error:
        remedy = f"pip install --force-reinstall 'dlc[ptxas]', or write {fewer}"
        raise TargetError(f"{name} does not start: {error.strerror}; {remedy}") from None


def refusal_of(done: subprocess.CompletedProcess[str]) -> str:
    """The first lines of what a program says that failed, without the names of its files."""
    lines = [line.partition(".ptx, ")[2] or line for line in (done.stderr + done.stdout).splitlines()]
    return "; ".join(lines[:3])

"""The C compiler and the tools that come with it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dlc.errors import TargetError
from dlc.runtime.library import find_library

_VARIABLE, _RUNTIME_VARIABLE = "CC", "DLC_NATIVE_RUNTIME"
_DEFAULTS = {"x86_64": ("cc", "gcc", "clang"), "aarch64": ("aarch64-linux-gnu-gcc",)}
_ARCHIVE = "libdlc_native.a"
_SECONDS = 600


@dataclass(frozen=True)
class Toolchain:
    """`compiler` is its command; `include` the folder of the runtime's headers."""

    compiler: tuple[str, ...]
    include: Path

    @classmethod
    def find(cls, arch: str, host_arch: str) -> Toolchain:
        """The toolchain of `arch`. `TargetError` where there is none, which names the remedy."""
        return cls(_find_compiler(arch, host_arch), runtime_file("include/dlc/native_model.h").parents[1])

    def compile(self, folder: Path, arguments: Sequence[str]) -> None:
        """Run the compiler in `folder`; `TargetError` with what it says where it fails."""
        _run([*self.compiler, *arguments], folder)

    def run_tool(self, tool: str, folder: Path, arguments: Sequence[str]) -> None:
        """Run `objcopy` or `ar` of the compiler in `folder`."""
        shown = subprocess.run([*self.compiler, f"-print-prog-name={tool}"], capture_output=True, text=True, check=False)
        path = shutil.which(shown.stdout.strip() or tool)
        if path is None:
            raise TargetError(f"native code needs '{tool}', which is missing; install binutils")
        _run([path, *arguments], folder)


def _find_compiler(arch: str, host_arch: str) -> tuple[str, ...]:
    told = shlex.split(os.environ.get(_VARIABLE, ""))
    names = [told] if told else [[name] for name in (_DEFAULTS.get(arch, ()) if arch != host_arch else _DEFAULTS["x86_64"])]
    found = next((name for name in names if shutil.which(name[0])), None)
    if found is not None:
        return tuple(found)
    shown = " or ".join(name[0] for name in names) or "a compiler"
    remedy = (
        f"install gcc, or name a compiler for {arch} in {_VARIABLE}"
        if arch == host_arch
        else f"install gcc-{arch}-linux-gnu, or name one in {_VARIABLE}"
    )
    raise TargetError(f"native code for {arch} needs a C compiler, and there is no {shown}; {remedy}")


def find_runtime(arch: str, host_arch: str) -> Path:
    """The archive libdlc_native.a of `arch`. `TargetError` where there is none, which names the remedy."""
    told = os.environ.get(_RUNTIME_VARIABLE)
    path = Path(told) if told else find_library().with_name(_ARCHIVE)
    if not told and arch != host_arch:
        raise TargetError(
            f"dlc's runtime here is of {host_arch}; build {_ARCHIVE} for {arch} (docs/native-code.md) and name it in "
            f"{_RUNTIME_VARIABLE}"
        )
    if not path.is_file():
        raise TargetError(
            f"there is no '{path}'; install dlc where a C++ compiler with a static libstdc++ is, or name one in {_RUNTIME_VARIABLE}"
        )
    return path.resolve()


def runtime_file(name: str) -> Path:
    """A file of the runtime by its path below that folder: a header, or a source that programs compile."""
    import dlc.runtime

    return next(path for folder in dlc.runtime.__path__ if (path := Path(folder) / name).is_file())


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"'{command[0]}' failed: {error}") from None
    if done.returncode:
        raise TargetError(f"'{command[0]}' failed: {done.stderr.strip() or done.returncode}")

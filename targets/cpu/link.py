"""Objects to code in this process, by llvmlite's ORC JIT."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import llvmlite.binding as llvm

from dlc.errors import TargetError
from dlc.runtime.library import load_library


class LinkedCode:
    """Code that stays loaded as long as this object lives, and the addresses of the functions that were asked for.

    What the objects do not define themselves is looked up in the runtime library and in this process.
    """

    def __init__(self, objects: Iterable[bytes], functions: Sequence[str]) -> None:
        _initialize()
        builder = llvm.JITLibraryBuilder().add_current_process()
        for content in objects:
            builder.add_object_img(content)
        for name in functions:
            builder.export_symbol(name)
        # One JIT a model: libraries of a shared one keep 9 KB each after their end. Making one takes 1 ms.
        self._jit = llvm.create_lljit_compiler(use_jit_link=True, suppress_errors=True)
        try:
            self._tracker = builder.link(self._jit, "model")
        except RuntimeError as error:
            raise TargetError(f"the compiled code cannot be linked: {error}") from None

    def address(self, function: str) -> int:
        """Address of a function that was asked for."""
        return int(self._tracker[function])


@functools.lru_cache(maxsize=1)
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.load_library_permanently(str(load_library().path))


def host_processor() -> str:
    """Name and features of this processor as LLVM sees them."""
    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"

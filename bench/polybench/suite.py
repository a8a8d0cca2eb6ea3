"""The kernels of the suite: text of level affine for any size and type, initial arguments, meaning."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from types import SimpleNamespace

import numpy as np

from bench.polybench.meanings import blas, deep_learning, linear_algebra, stencils
from bench.polybench.meanings.meaning import Arguments, Meaning
from bench.polybench.sizes import SIZES

DTYPES: Mapping[str, np.dtype] = {"f64": np.dtype(np.float64), "f32": np.dtype(np.float32)}
"""What `$T` of the texts may be. Kernels on whole numbers have none."""

_PAGE = 4096
_FOLDER = Path(__file__).parent / "kernels"


@dataclass(frozen=True)
class Kernel:
    """A kernel by its name in PolyBench (`2mm`); nests of deep learning begin with `dl-`."""

    name: str
    meaning: Meaning

    @property
    def symbol(self) -> str:
        """The name of its function, in MLIR and in C: PolyBench's own."""
        return f"kernel_{self.name.replace('-', '_')}"

    def text(self, size: str, dtype: str) -> str:
        """A module with the function, for a class of sizes (`LARGE`) and an element type (`f64`)."""
        template = Template((_FOLDER / f"{self.name}.mlir").read_text(encoding="utf-8"))
        return template.substitute(SIZES[self.name][size], T=dtype)

    def argument_names(self) -> list[str]:
        """The names of the function's arguments in its text."""
        signature = re.search(r"func\.func @\w+\((.*?)\) \{", self.text("MINI", "f64"), re.DOTALL)
        return re.findall(r"%(\w+):", signature[1]) if signature else []

    def arguments(self, size: str, dtype: str) -> Arguments:
        """Fresh initial values of the function's arguments."""
        return self.meaning.data(SimpleNamespace(**SIZES[self.name][size]), DTYPES[dtype])

    def checked_arguments(self, size: str, dtype: str) -> Arguments:
        """The same for a check: most often the same values."""
        data = self.meaning.checked_data or self.meaning.data
        return data(SimpleNamespace(**SIZES[self.name][size]), DTYPES[dtype])

    def expect(self, arguments: Arguments, size: str) -> None:
        """Do to the arrays among `arguments` what the kernel does, by NumPy."""
        sizes = SIZES[self.name][size]
        self.meaning.run(*arguments, *(sizes[name] for name in self.meaning.sizes))

    def error(self, have: Arguments, want: Arguments) -> float:
        """The largest difference of an array after a run, relative to the largest magnitude in it."""
        from dlc.tools.commands.checks import difference

        pairs = zip(self._observed(have), self._observed(want), strict=True)
        return max(difference(*pair).relative for pair in pairs)

    def _observed(self, arguments: Arguments) -> Sequence[np.ndarray]:
        return self.meaning.observe([value for value in arguments if isinstance(value, np.ndarray)])


@functools.lru_cache(maxsize=1)
def suite() -> Mapping[str, Kernel]:
    """All kernels by name, in the order of the table of sizes."""
    meanings = blas.MEANINGS | linear_algebra.MEANINGS | stencils.MEANINGS | deep_learning.MEANINGS
    return {name: Kernel(name, meanings[name]) for name in SIZES}


def copied(arguments: Arguments) -> Arguments:
    """The same values in new arrays, each at the start of a page, as PolyBench allocates them."""
    return [_on_page(value) if isinstance(value, np.ndarray) else value for value in arguments]


def _on_page(values: np.ndarray) -> np.ndarray:
    memory = np.empty(values.nbytes + _PAGE, np.uint8)
    start = -memory.ctypes.data % _PAGE
    copy = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


def restore(arguments: Arguments, initial: Arguments) -> None:
    """Give the arrays of `arguments` their initial values."""
    for value, before in zip(arguments, initial, strict=True):
        if isinstance(value, np.ndarray):
            np.copyto(value, before)

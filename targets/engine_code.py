"""The machine code of an engine: an image that the runtime maps, and kernels that it gives to a GPU's driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class CodeImage:
    """Linked code, position-independent.

    `content` are the segments text, rodata, relro (written while loading only) and data, whose bytes `sizes` gives, each whole
    pages; `zero` more bytes follow in memory. `relative` are pairs (offset, value): the word there becomes the address of the
    image plus the value. `imports` names functions of the runtime, and the offsets of the words that take their addresses.
    `entries` are offsets of functions by name.
    """

    content: bytes
    sizes: Mapping[str, int]
    zero: int
    relative: tuple[tuple[int, int], ...]
    imports: Mapping[str, tuple[int, ...]]
    entries: Mapping[str, int]


@dataclass(frozen=True)
class KernelForm:
    """The kernels of a model in one form, `cubin` or `ptx`, for GPUs by the name `chip` (`sm_90`, `sm_90a`).

    `ptx` is ten times the version of PTX that they are written in. `cuda` is the version of CUDA that the driver must know, in the
    driver's own form (12040 is 12.4). `assembler` is what made a cubin, empty for PTX.
    """

    form: str
    chip: str
    ptx: int
    cuda: int
    assembler: str
    content: bytes


@dataclass(frozen=True)
class EngineCode:
    """The code of a model: the image, and for a GPU its kernels, the form to be preferred first, and the place in the image of the
    variable that takes the address of the model there."""

    image: CodeImage
    kernels: tuple[KernelForm, ...] = ()
    model_word: int = 0

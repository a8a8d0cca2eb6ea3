"""PTX of several modules as one text, which the driver and `ptxas` take."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dlc.errors import TargetError
from dlc.targets.machine import GpuMachine

_HEADER = re.compile(rb"\A.*?^\.version\s+(\S+)\s*^\.target\s+(\S+)\s*^\.address_size\s+64\s*$", re.DOTALL | re.MULTILINE)
"""Comments, and what a text of PTX begins with."""


def text_without_kernels(facts: GpuMachine) -> bytes:
    """The header of a text for a GPU, which its driver takes as a module of nothing."""
    return f".version {facts.ptx // 10}.{facts.ptx % 10}\n.target {facts.chip}\n.address_size 64\n".encode()


def one_text(texts: Sequence[bytes]) -> bytes:
    """The texts under one header. Their symbols have different names (`convert-kernels-to-nvvm`).

    `TargetError` where they are for different GPUs, or one is no PTX.
    """
    headers = [_HEADER.match(text) for text in texts]
    kinds = {header.groups() if header else None for header in headers}
    if len(kinds) != 1 or None in kinds:
        raise TargetError(
            "the kernels are not PTX for one GPU; lower them with convert-kernels-to-nvvm and gpu-module-to-ptx together"
        )
    bodies = [text[header.end() :] for text, header in zip(texts, headers, strict=True) if header]
    first = headers[0]
    assert first is not None
    return first.group() + b"".join(bodies)

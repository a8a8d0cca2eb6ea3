"""LLVM IR text of LLVM 24 in the words of LLVM 22, which llvmlite has.

Float constants differ: the newer text rounds decimals to the type and names infinities and NaNs; in the older one decimals
must be exact, so constants are given by their bits, and a float by those of the equal double.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import numpy.typing as npt

_NEWER_ATTRIBUTES = re.compile(r" ?\bnocreateundeforpoison\b")
"""Function attributes that the older LLVM does not know. They only allow more, so code without them is right."""

_TOKENS = re.compile(
    r"\b(?P<kind>half|bfloat|float|double)\b"
    r"|(?<![\w.%@$\"-])(?P<constant>-?\d+\.\d+e[+-]\d+|f0x[0-9A-F]+|[+-](?:inf|qnan|s?nan\(0x[0-9A-Fa-f]+\)))(?![\w.])"
)


@dataclass(frozen=True)
class _Format:
    """A float type: its NumPy type, the integers of its size, bits of the fraction, and what comes before its bits."""

    dtype: npt.DTypeLike
    integer: type[np.unsignedinteger]
    fraction: int
    prefix: str


_FORMATS = {
    "half": _Format(np.float16, np.uint16, 10, "0xH"),
    "bfloat": _Format(ml_dtypes.bfloat16, np.uint16, 7, "0xR"),
    "float": _Format(np.float32, np.uint32, 23, ""),
    "double": _Format(np.float64, np.uint64, 52, "0x"),
}


def older_text(text: str) -> str:
    """`text` as LLVM 22 reads it. A constant has the type that its line names last before it."""
    return "\n".join(_older_line(line) for line in _NEWER_ATTRIBUTES.sub("", text).split("\n"))


def _older_line(line: str) -> str:
    kind = "double"

    def replace(token: re.Match[str]) -> str:
        nonlocal kind
        if token["kind"]:
            kind = token["kind"]
            return kind
        return _older_constant(token["constant"], kind)

    return _TOKENS.sub(replace, line)


def _older_constant(text: str, kind: str) -> str:
    form = _FORMATS[kind]
    width = np.dtype(form.integer).itemsize
    bits = _bits(text, form)
    if kind != "float":
        return f"{form.prefix}{bits:0{2 * width}X}"
    if (bits >> form.fraction) & 0xFF == 0xFF:  # infinities, and NaNs with their payload
        return f"0x{(bits >> 31) << 63 | 0x7FF << 52 | (bits & (1 << 23) - 1) << 29:016X}"
    return f"0x{int(np.uint32(bits).view(np.float32).astype(np.float64).view(np.uint64)):016X}"


def _bits(text: str, form: _Format) -> int:
    """The bits of a constant in newer text."""
    if text.startswith("f0x"):
        return int(text[3:], 16)
    size = 8 * np.dtype(form.integer).itemsize
    if "n" not in text:
        return int(np.asarray(float(text)).astype(form.dtype).view(form.integer))
    sign = int(text[0] == "-") << (size - 1)
    infinity = ((1 << (size - 1 - form.fraction)) - 1) << form.fraction
    payload = int(text[text.index("(") + 1 : -1], 16) if "(" in text else 0
    quiet = 1 << (form.fraction - 1) if "nan" in text and "snan" not in text else 0
    return sign | infinity | quiet | payload

"""The features that a processor must have to run code for a machine: those that code generation asks for, and what comes with them.

LLVM knows processors by name and uses all that these have. The names are Linux's; `dlc_processor_has` finds each by CPUID, or as
Linux tells those of AArch64.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlc.errors import TargetError
from dlc.runtime.library import RuntimeLibrary
from dlc.targets.machine import Machine

_V2 = ("sse", "sse2", "sse3", "ssse3", "sse4_1", "sse4_2", "popcnt", "cx16", "lahf_lm")
_V3 = (*_V2, "avx", "avx2", "f16c", "fma", "bmi1", "bmi2", "abm", "movbe")
_ICELAKE = ("avx512_vbmi2", "avx512_bitalg", "avx512_vpopcntdq", "avx512ifma", "gfni", "vaes", "vpclmulqdq")
_IMPLIED = {
    "sse2": ("sse",),
    "sse4_2": _V2,
    "avx": (*_V2, "avx"),
    "avx2": _V3,
    "avx512f": _V3,
    "avx512vbmi": _ICELAKE,
    "avx_vnni": ("gfni", "vaes", "vpclmulqdq"),
}
"""What every processor with a feature has, too: the levels of the x86-64 psABI, and what Ice Lake and Zen 4 added to AVX-512."""

_ARMV82 = ("asimd", "asimdhp", "fphp", "asimddp", "atomics", "crc32", "asimdrdm", "lrcpc")
_ARMV84 = (*_ARMV82, "fcma", "jscvt", "asimdfhm", "uscat", "ilrcpc", "flagm", "i8mm", "bf16", "sve", "svei8mm", "svebf16")
_ARMV9 = (*_ARMV84, "sve2", "svebitperm", "flagm2", "frint")
_OF_AARCH64 = {
    "cortex-a72": ("asimd", "crc32"), "neoverse-n1": _ARMV82, "neoverse-v1": _ARMV84, "neoverse-v2": _ARMV9
}  # fmt: skip
"""What LLVM's processors of AArch64 have, but for what no code of models uses (cryptography). Arm, technical reference manuals."""

_UNUSED = frozenset({"amx_tile", "amx_int8", "amx_bf16"})
"""Features of rows that no code uses."""

_OF_HOSTS = (
    *_V3, *_ICELAKE, "sse4a", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512_vnni",
    "avx512_bf16", "avx512_fp16", "avx_vnni", "avx_ifma", "avx_vnni_int8", "avx_ne_convert", "avx_vnni_int16",
)  # fmt: skip
"""What code for this machine may use, as far as it has it."""

_AMD_ONLY = ("sse4a",)


def needed_features(facts: Machine, library: RuntimeLibrary) -> tuple[str, ...]:
    """Sorted; `TargetError` for a machine whose code engines do not hold."""
    if facts.arch == "aarch64":
        return _needed_of_aarch64(facts, library)
    if facts.arch != "x86_64":
        raise TargetError(f"engines hold code of x86-64 and AArch64, not of {facts.arch}; write an object file for it: --emit=obj")
    if not facts.processor:
        return _present(_OF_HOSTS, library)
    implied = {more for feature in facts.features for more in _IMPLIED.get(feature, ())}
    own = set(_AMD_ONLY) if facts.processor.startswith("znver") else set()
    return tuple(sorted((set(facts.features) | implied | own) - _UNUSED))


def _needed_of_aarch64(facts: Machine, library: RuntimeLibrary) -> tuple[str, ...]:
    if facts.processor.startswith("apple"):
        raise TargetError(
            f"code for {facts.processor} is for macOS, and engines hold code for Linux; write an object file for it: --emit=obj"
        )
    if not facts.processor:
        return _present(_ARMV9, library)
    return tuple(sorted({*facts.features, *_OF_AARCH64.get(facts.processor, ())}))


def _present(features: Sequence[str], library: RuntimeLibrary) -> tuple[str, ...]:
    """Those that this machine has."""
    return tuple(sorted(feature for feature in features if library.processor_has(feature)))

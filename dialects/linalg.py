"""The Python classes of linalg's ops for the bindings, which look for those of a dialect in this folder first.

Upstream's module of this name defines every named op a second time, in a language of its own, which takes 80 ms.
"""

from __future__ import annotations

from dlc._mlir import load

load("dialects._linalg_ops_gen")

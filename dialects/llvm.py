"""What the bindings find of llvm's Python classes, which they look for in this folder first: types and attributes, no ops.

Ops of this dialect are made by their names only. Upstream's module of this name has a class for each, which takes 70 ms.
"""

from __future__ import annotations

from dlc._mlir import load

load("_mlir_libs._mlirDialectsLLVM")

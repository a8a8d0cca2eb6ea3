"""Affine kernels and their entry as LLVM's dialect: memory, run-time errors, C interfaces; `math` and `parallel` have folders.

Imports `lowering/affine`.
"""

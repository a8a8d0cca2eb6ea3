"""Ops that are compiled together: products side by side as one, regions that become one kernel each, and kernels as functions.

Imports the files of `lowering/dl` itself, `weights` for `@precompute`, and `quantize` for which products are of bytes.
"""

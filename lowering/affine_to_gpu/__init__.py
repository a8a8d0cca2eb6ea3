"""Loops mapped to a grid of blocks and threads, and to `gpu.launch` ops; `tensor_cores/` makes kernels of contractions.

Imports `lowering/affine` for the schedule tree, its costs and its legality, and `dl/precision.py` for how far operands
may be rounded.
"""

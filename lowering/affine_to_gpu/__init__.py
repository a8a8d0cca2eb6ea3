"""Loops mapped to a grid of blocks and threads, and to `gpu.launch` ops.

Imports `lowering/affine` for the schedule tree, its costs and its legality.
"""

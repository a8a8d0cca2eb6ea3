"""Contractions without tensor cores (SIMT, as CUTLASS calls it): a thread has a tile of results in registers.

`simt_tiles.py` chooses the tiles, `simt_panels.py` brings operands to shared memory, `simt_kernels.py` writes the kernel. What is a
contraction, and what is done to its sums, are those of `tensor_cores/`.
"""

"""Contractions on tensor cores: what of a function's loops they can compute, in which tiles, and the kernels that do it.

`contractions.py` and `operands.py` find them, `affine_transpose_operands.py` and `affine_split_contractions.py` prepare them,
`mma_shapes.py` and `mma_tiles.py` choose the instruction and the tiles, the others write the kernel: `shared_copies.py` brings
operands to shared memory, `fragments.py` from there to the instructions, `epilogues.py` results to memory, `mma_kernels.py` puts
these together on what `contraction_kernels.py` has in common with `simt/`.
"""

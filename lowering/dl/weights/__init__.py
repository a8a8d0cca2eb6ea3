"""What is computed from weights once, before a model runs: scales and batch norms in them, other forms of convolutions, packing.

Here is also how weights leave a function, as arguments or by `@precompute`. Imports the files of `lowering/dl` itself, and from
`lowering/affine` and `lowering/dl_to_linalg` the figures of the code that packed weights and Winograd's tiles become.
"""

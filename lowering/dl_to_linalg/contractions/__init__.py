"""Lowerings of sums of products: matmul, convolution, their quantized and packed forms, Winograd's.

Imports `building`, and of `lowering/affine` what a byte from beyond L2 costs.
"""

"""Types narrower than a model's floats: quantised ops found in formulas, products of bytes, and weights and images in bf16.

Imports the files of `lowering/dl` itself, and `weights` for scales that are folded and for the choice of Winograd's tiles.
"""

"""Types narrower than a model's floats: quantised ops found in formulas, products of bytes, and weights and images in bf16.

Imports the files of `lowering/dl` itself, and `weights` for scales that are folded and for the choices of Winograd's
tiles and of weights that are widened.
"""

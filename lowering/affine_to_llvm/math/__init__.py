"""Functions of `math` and narrow types as arithmetic: polynomials, table lookups, bits of floats.

Imports no other folder of the level, and `lowering/affine` for constants.
"""

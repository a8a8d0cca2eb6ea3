"""`linalg` ops on memrefs as loop nests with their properties (`dlc.parallel`, `dlc.nest`).

Imports `affine` for the ops that it builds, and `linalg` for names of dims.
"""

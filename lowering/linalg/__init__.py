"""Passes on `linalg`: fusion, bufferization, kernels as functions, the memory plan.

Imports `linalg_to_affine` and `affine` for the loops that an op becomes.
"""

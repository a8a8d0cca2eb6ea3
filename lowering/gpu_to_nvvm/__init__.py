"""Kernels of a GPU as NVVM and as PTX.

Imports no other level.
"""

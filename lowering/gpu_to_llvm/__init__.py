"""The host's part of a model for a GPU: what stays there, where data is copied, and calls of the runtime in place of launches.

Imports `affine_to_gpu`, `affine_to_llvm` and no other level.
"""

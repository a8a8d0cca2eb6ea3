"""Ops of `dl` as `linalg` on tensors, a file a family of ops; sums of products lie in `contractions`.

Imports `building` and `contractions`; families do not import each other but for elementwise ones.
"""

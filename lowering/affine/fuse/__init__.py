"""Nests that are run together: which may be, which should, and how one is computed inside the other.

Imports `ir`, `dependences` and `cost`.
"""

"""Lowerings of ops whose data decide which elements a result has: nonzero, compress, unique, non_max_suppression;
and top_k.

Imports `building`.
"""

"""Rewrites of code that is vectors already: loads shared or transposed, dot products, narrow tails.

Imports `ir` and `codegen`.
"""

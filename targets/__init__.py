"""Machines, what code for them is, and how it is built, kept and loaded.

Imports `lowering`, `analysis`, `dialects` and `runtime`.
"""

"""What brings models in.

Imports `dialects`.
"""

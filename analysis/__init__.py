"""Questions about a whole graph or a plan of memory that passes ask; nothing here changes IR.

Imports `dialects`.
"""

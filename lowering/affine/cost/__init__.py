"""Cycles of a nest under a schedule: instructions, memory, sets of caches. Nothing here changes IR.

Imports `ir`, `polyhedral` and `dependences`.
"""

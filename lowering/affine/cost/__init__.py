"""Cycles of nests under schedules, and what a schedule must fit. Nothing here changes IR.

Whoever compares ways to compute something asks `cycles(nest, schedule, machine)` of `cycles.py`, whatever the nest is.

Imports `ir`, `polyhedral` and `dependences`.
"""

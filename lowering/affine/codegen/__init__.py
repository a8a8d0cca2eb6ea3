"""Code for a nest with a schedule: register tiles, reductions, transposes, windows, scans.

Imports `ir`, `cost`, `schedule` and `search`.
"""

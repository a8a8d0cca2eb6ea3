"""Which iterations must stay in order: dependences, distances, last writers, legality of a schedule, reductions.

Imports `ir` and `polyhedral`.
"""

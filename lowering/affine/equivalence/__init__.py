"""Whether two versions of a function compute the same, by their flow of values; `affine-check-legality` asks it.

Imports `ir`, `polyhedral` and `dependences`.
"""

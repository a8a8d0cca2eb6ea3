"""A schedule tree becomes loops: isl's AST, the ops built from it, and copies of statements as scalars or vectors.

Imports `ir` and `polyhedral`.
"""

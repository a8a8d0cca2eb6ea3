"""Buffers that get smaller, local or a value; padding that is written once.

Imports `ir`, `polyhedral`, `dependences`, `schedule` and `codegen`.
"""

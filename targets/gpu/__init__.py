"""NVIDIA GPUs: known ones, and code as far as PTX.

Imports `lowering` and `targets` itself; nothing outside names this folder.
"""

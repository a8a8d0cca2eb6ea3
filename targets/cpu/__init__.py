"""The CPU: the host, known CPUs, machine code, the JIT, workers that compile.

Imports `lowering`, `runtime` and `targets` itself; nothing outside names this folder.
"""

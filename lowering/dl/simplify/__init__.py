"""One form for what can be written in several ways: canonical forms by rules, constants and sizes computed when compiling.

Imports the files of `lowering/dl` itself and `control`.
"""

"""Branches and loops: those whose way is known go, and bodies become functions, which every graph pass sees as one of its own.

Imports the files of `lowering/dl` itself.
"""

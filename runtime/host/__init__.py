"""Host functions: ops on what has no reason to be compiled (strings, sequences, optionals, maps, encoded images), as Python.

A tensor of strings is a NumPy array of `str` with dtype object, a sequence a list, an optional its value or None, a map a dict.
One file a kind of values; `registry.py` finds a function by the op's name. They import NumPy, and libraries for formats.
"""

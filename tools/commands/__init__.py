"""`dlc`'s commands, a file each, found by listing the folder.

Imports `tools` and the public API.
"""

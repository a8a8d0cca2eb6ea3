"""The commands.

Imports the public API and any part.
"""

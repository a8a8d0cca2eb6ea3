"""Loops without order go to the thread pool, and stores past the caches: outlined bodies, chunks, waits.

Imports no other folder of the level, and `lowering/affine` for loops and their work.
"""

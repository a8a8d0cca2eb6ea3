"""Loops on memrefs: what they do, which order is legal, which is fast, and the code of a nest. Sorted by job.

`docs/design/0006-folders.md` says what each folder holds and may import.
"""

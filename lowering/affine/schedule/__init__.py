"""Schedules as records: the tree of a function's loops, the schedule of one nest, and their text forms.

Imports all of the above but `equivalence`.
"""

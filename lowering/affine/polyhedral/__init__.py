"""The polyhedral model of a function's loops: domains, access relations and the schedule as written, as isl's sets and maps.

Imports `ir`.
"""

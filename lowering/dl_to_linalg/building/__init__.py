"""What lowerings are written with: builder, scalars, sums over loops, broadcasting, indices, checks, table of lowerings.

Imports no other folder of the level.
"""

"""Affine IR as passes read and build it: loops, nests, bands, accesses, lanes, masks, index expressions.

Imports no other folder of `lowering/affine`.
"""

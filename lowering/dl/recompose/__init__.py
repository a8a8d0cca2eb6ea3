"""Composite ops found again in what exporters wrote: norms and softmax, activations, rotary embedding, attention.

Each pass looks for a root op and reads the formula around it; files without a pass hold the parts of a large formula.
Imports the files of `lowering/dl` itself, and `decompose` for the constants of formulas.
"""

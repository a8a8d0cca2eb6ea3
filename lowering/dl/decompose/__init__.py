"""Composite ops as simpler ones: a pass for each composite op, and large windows of poolings as one axis after the other.

`decomposing.py` has what the passes `dl-decompose-<op>` share. Imports the files of `lowering/dl` itself and no other folder of it.
"""

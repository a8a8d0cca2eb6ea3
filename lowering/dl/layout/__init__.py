"""In which order values store their axes: channels last where convolutions gain by it, and transposes moved until they cancel.

Imports the files of `lowering/dl` itself, and `weights` for whether a convolution will go by Winograd's tiles.
"""

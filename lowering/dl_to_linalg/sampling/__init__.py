"""Lowerings of ops that sample images between their elements: resize, grid_sample, regions of images.

Imports `building`.
"""

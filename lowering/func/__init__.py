"""Passes on functions and calls, at any level that has them."""

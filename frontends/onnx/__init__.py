"""ONNX models as `dl`: checks before the import (`validation`), then a file a family of ops.

Imports `dialects`.
"""

"""The rules of ONNX that a model has to keep before it is imported. This folder imports onnx and dlc.errors alone."""

"""Importers of ai.onnx.ml, the ops of models that are no networks: features, linear models, support vectors, trees.

May import what the importers of the folder above may. Texts and maps as inputs, outputs or labels are refused.
"""

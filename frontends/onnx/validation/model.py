"""All rules in their order: later ones count on those before."""

from __future__ import annotations

import onnx

from dlc.frontends.onnx.validation.bodies import check_bodies
from dlc.frontends.onnx.validation.functions import check_functions
from dlc.frontends.onnx.validation.names import check_inputs, check_names
from dlc.frontends.onnx.validation.nodes import check_nodes, check_versions
from dlc.frontends.onnx.validation.problems import Problems
from dlc.frontends.onnx.validation.tensors import check_tensors
from dlc.frontends.onnx.validation.texts import check_texts


def validate(model: onnx.ModelProto, name: str, lenient: bool = False) -> None:
    """Raise `ParseError` with every rule that the model breaks; with `lenient`, warn of those that may pass."""
    problems = Problems(name, lenient)
    check_texts(model, problems)
    problems.settle()
    check_versions(model, problems)
    check_inputs(model.graph, problems)
    check_tensors(model.graph, problems)
    check_names(model.graph, problems)
    check_nodes(model, problems)
    check_bodies(model.graph, problems)
    check_functions(model, problems)
    problems.settle()

"""Graphs of branches and loops: how many values they take and give."""

from __future__ import annotations

import onnx

from dlc.frontends.onnx.validation.problems import Problems, place_of


def check_bodies(graph: onnx.GraphProto, problems: Problems) -> None:
    """Branches take nothing and give what the node does; the body of a loop takes what the node hands on."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _check_body(node, attribute, problems)
                check_bodies(attribute.g, problems)


def _check_body(node: onnx.NodeProto, attribute: onnx.AttributeProto, problems: Problems) -> None:
    if node.domain not in ("", "ai.onnx"):
        return
    takes, gives = len(attribute.g.input), len(attribute.g.output)
    if node.op_type == "If" and takes:
        problems.add(place_of(node), f"its {attribute.name} takes {takes} values", "a branch takes none; use those around it")
    if node.op_type == "Loop":
        handed = max(len(node.input), 2)
        if takes != handed:
            problems.add(place_of(node), f"its body takes {takes} values but the node hands {handed} to it", "give it as many")
        if gives < handed - 1:
            problems.add(place_of(node), f"its body gives {gives} values but the node needs {handed - 1}", "give as many")
